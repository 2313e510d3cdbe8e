// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/search/search.h"

#include "core/planner/search/search_state_internal.h"
#include "core/planner/search/tell_result.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace trainyard {

namespace {

using Clock = std::chrono::steady_clock;

/// Without tables a score costs a placement.
constexpr std::uint64_t kMostWithoutTables = 10'000;
constexpr std::array kObjectives { "throughput", "cost", "energy", "time", "gpus" };

Errors contradictions(const Plan &plan, const SearchOptions &options)
{
    Errors errors;
    const auto bad = [&](const char *where, const char *what, const char *right) {
        errors.push_back({ ErrorCode::BadValue, where, what, right });
    };
    const Constraints &c = options.constraints;
    if (c.mostUsdPerHour && !(*c.mostUsdPerHour > 0))
        bad("max-usd-per-hour", "nothing can run for nothing", "a number above 0");
    if (c.mostUsdPerMillionTokens && !(*c.mostUsdPerMillionTokens > 0))
        bad("max-usd-per-million-tokens", "nothing can run for nothing", "a number above 0");
    if (c.mostGpus && *c.mostGpus < 1)
        bad("max-gpus", "nothing can run on no GPU", "1 or more");
    if (c.leastTokensPerSecond && !(*c.leastTokensPerSecond >= 0))
        bad("min-tokens-per-s", "a rate below zero", "0 or more");
    if (c.mostDays && !(*c.mostDays > 0))
        bad("max-days", "nothing is trained in no time", "a number above 0");
    if (c.memoryMargin && !(*c.memoryMargin >= 0 && *c.memoryMargin < 1))
        bad("memory-margin", "is no share of the memory that can stay free", "0 or more, below 1");
    if (options.seconds && !(*options.seconds > 0))
        bad("seconds", "a search takes some time", "a number above 0");
    if ((c.mostDays || options.objective == Objective::Time) && !hasJobs(plan) && !plan.workload.trainingTokens)
        bad("workload.training_tokens", "days of training are asked for, and the plan does not say how many tokens",
            "the tokens to train on");
    return errors;
}

/// Passes a stop on, and stops by itself after some seconds.
class Deadline {
public:
    Deadline(const std::stop_token &asked, const std::optional<double> &seconds)
        : m_passOn(asked, [this] { m_stop.request_stop(); })
    {
        if (seconds)
            m_timer = std::jthread([this, seconds = *seconds](const std::stop_token &over) {
                std::mutex mutex;
                std::unique_lock lock(mutex);
                std::condition_variable_any wake;
                wake.wait_for(lock, over, std::chrono::duration<double>(seconds), [] { return false; });
                if (!over.stop_requested())
                    m_stop.request_stop();
            });
    }
    [[nodiscard]] std::stop_token token() const { return m_stop.get_token(); }

private:
    std::stop_source m_stop;
    struct Request {
        std::function<void()> act;
        void operator()() const { act(); }
    };
    std::stop_callback<Request> m_passOn;
    std::jthread m_timer;
};

} // namespace

const char *toString(Objective objective)
{
    return kObjectives[std::size_t(objective)];
}

ExpectedAll<SearchResult> search(const PlanPtr &plan, const Catalogue &catalogue, const SearchOptions &options,
    std::stop_token stop, const std::function<void(const SearchProgress &)> &onProgress)
{
    const auto begun = Clock::now();
    if (Errors errors = contradictions(*plan, options); !errors.empty())
        return std::unexpected(std::move(errors));
    const Constraints &c = options.constraints;
    SpaceOptions around { .fixed = options.fixed, .datacenters = c.datacenters };
    around.mayTrainOtherwise = options.mayTrainOtherwise;
    if (options.keepsIdle) // the cluster as it is
        around.fixed.emplace_back("cluster.datacenters");
    const auto namesPools = [](const auto &setting) { return setting.first.find(".pools[") != std::string::npos; };
    if (std::ranges::any_of(
            options.scenarios, [&](const Scenario &one) { return std::ranges::any_of(one.settings, namesPools); }))
        around.fixed.emplace_back("cluster.datacenters"); // worlds name pools by where they stand
    if (std::ranges::all_of(plan->cluster.datacenters, [&](const Datacenter &one) {
            return std::ranges::find(around.datacenters, one.id) != around.datacenters.end();
        }))
        around.datacenters.clear(); // all are allowed
    const Deadline deadline(stop, options.seconds);
    EvaluationWorkspace workspace;
    const auto own = run(plan, Depth::Score, // also where it is stopped at once
        { .catalogue = catalogue, .workspace = workspace });
    if (own && !plan->parallelism.data && (*own)->layout.data > 0) {
        const auto most =
            run(plan, Depth::Score, { .catalogue = catalogue, .workspace = workspace, .replicas = OpenReplicas::Most });
        if (most && (*most)->layout.data != (*own)->layout.data)
            around.ownReplicas = (*own)->layout.data;
    }
    auto space = makeSpace(plan, catalogue, around);
    if (!space)
        return std::unexpected(std::move(space.error()));
    if (!own)
        return std::unexpected(own.error());
    detail::SearchState state(plan, catalogue, options, std::move(*space), *own, deadline.token(), onProgress);
    const std::uint64_t most =
        state.isTabled() ? options.mostEnumerated : std::min(options.mostEnumerated, kMostWithoutTables);
    std::vector<std::uint64_t> numbers;
    std::vector<SpaceRules::LeftOut> left;
    if (state.space().size() != SearchSpace::kTooMany) {
        left = state.rules().forEach(
            [&](std::uint64_t number, const Candidate &) {
                numbers.push_back(number);
                return numbers.size() <= most;
            },
            deadline.token());
        if (numbers.size() <= most)
            for (const SpaceRules::LeftOut &one : left)
                state.count(one.reason, one.count);
    }
    const bool isWhole = !numbers.empty() && numbers.size() <= most;
    const bool areAll = !deadline.token().stop_requested(); // else some may not have been reached
    SearchResult result = isWhole ? exhaustive(state, numbers, areAll) : localSearch(state);
    for (PruneCount &one : result.pruned)
        one.isRule = std::ranges::find(left, one.reason, &SpaceRules::LeftOut::reason) != left.end();
    result.asked = std::make_shared<const SearchOptions>(options);
    result.robustness = options.robustness;
    for (const Scenario &scenario : options.scenarios)
        result.scenarios.push_back(scenario.name);
    detail::tellAnswer(result);
    result.elapsed = std::chrono::duration<double>(Clock::now() - begun).count();
    return result;
}

PlanPtr withReplicas(const PlanPtr &plan, int data)
{
    if (plan->parallelism.data || data <= 0)
        return plan;
    Plan stated = *plan;
    stated.parallelism.data = data;
    return std::make_shared<const Plan>(std::move(stated));
}

PlanPtr SearchResult::plan(std::size_t row) const
{
    const SearchRow &of = rows[row];
    PlanPtr made = space->plan(space->candidate(of.number));
    return own && of.number == rows[*own].number ? made : withReplicas(made, of.data);
}

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A search for tests of the window, by running every plan of a space of four axes: slow, plain, and true. It tells each
// round as search() does, honours constraints and fixed keys, and may be held before a round, so that a test sees it
// under way.

#include "core/facts/plan/enum_names.h"
#include "core/planner/search/objective.h"
#include "models/planner_engine.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace trainyard::test {

/// Rounds that a search may run yet; set by the test.
class MayRun {
public:
    MayRun &operator=(int rounds)
    {
        {
            const std::lock_guard lock(m_mutex);
            m_rounds = rounds;
        }
        m_changed.notify_all();
        return *this;
    }
    /// Waits for one. False: it is stopped.
    bool takeOne(const std::stop_token &stop)
    {
        std::unique_lock lock(m_mutex);
        if (!m_changed.wait(lock, stop, [this] { return m_rounds > 0; }) || stop.stop_requested())
            return false;
        --m_rounds;
        return true;
    }

private:
    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    int m_rounds = 1 << 20;
};

struct SmallSearch {
    std::size_t round = 8;
    MayRun mayRun; // rounds that are not held
    std::atomic<int> asked = 0;
    SearchOptions last; // what was asked; read it when the search has ended

    [[nodiscard]] PlannerEngine engine()
    {
        PlannerEngine engine;
        engine.search = [this](const PlanPtr &plan, const Catalogue &catalogue, const SearchOptions &options,
                            std::stop_token stop,
                            const auto &tell) { return search(plan, catalogue, options, stop, tell); };
        engine.steps = &stepsBetween;
        engine.withoutIdle = &withoutIdleNodes;
        engine.scenarios = &namedScenarios;
        return engine;
    }

    static std::shared_ptr<const SearchSpace> space(const PlanPtr &plan, const std::vector<std::string> &fixed)
    {
        std::vector<Axis> axes;
        const auto add = [&](const char *id, const char *key, auto values, auto now, auto set, auto text) {
            if (std::ranges::find(fixed, key) != fixed.end())
                return;
            if (std::ranges::find(values, now) == values.end())
                values.push_back(now);
            Axis axis { id, { key }, id, {}, 0 };
            for (const auto &value : values) {
                if (value == now)
                    axis.base = std::uint16_t(axis.values.size());
                axis.values.push_back({ text(value), [value, set](Plan &p) { set(p, value); } });
            }
            axes.push_back(std::move(axis));
        };
        const auto number = [](int value) { return std::to_string(value); };
        add(
            "tensor", "parallelism.tensor", std::vector { 1, 2, 4, 8 }, plan->parallelism.tensor,
            [](Plan &p, int v) { p.parallelism.tensor = v; }, number);
        add(
            "pipeline", "parallelism.pipeline", std::vector { 1, 2, 4, 8 }, plan->parallelism.pipeline,
            [](Plan &p, int v) { p.parallelism.pipeline = v; }, number);
        add(
            "micro_batch", "workload.micro_batch", std::vector { 1, 2, 4 }, plan->workload.microBatch,
            [](Plan &p, int v) { p.workload.microBatch = v; }, number);
        add(
            "schedule", "schedule", std::vector { ScheduleKind::GPipe, ScheduleKind::OneFOneB }, plan->schedule,
            [](Plan &p, ScheduleKind v) { p.schedule = v; },
            [](ScheduleKind v) { return std::string(v == ScheduleKind::GPipe ? "gpipe" : "1f1b"); });
        return std::make_shared<const SearchSpace>(plan, std::move(axes));
    }

    ExpectedAll<SearchResult> search(const PlanPtr &plan, const Catalogue &catalogue, const SearchOptions &options,
        const std::stop_token &stop, const std::function<void(const SearchProgress &)> &tell)
    {
        ++asked;
        last = options;
        EvaluationWorkspace workspace;
        SearchResult result;
        result.space = space(plan, options.fixed);
        result.objective = options.objective;
        const SearchSpace &all = *result.space;
        if (const auto own = run(plan, Depth::Score, { catalogue, workspace }); !own)
            return std::unexpected(own.error());
        std::vector<std::uint64_t> numbers { all.number(all.baseCandidate()) };
        for (std::uint64_t i = 0; i < all.size(); ++i)
            if (i != numbers.front())
                numbers.push_back(i);
        for (std::size_t from = 0; from < numbers.size() && !stop.stop_requested(); from += round) {
            if (!mayRun.takeOne(stop))
                break;
            const std::size_t to = std::min(numbers.size(), from + round);
            for (std::size_t i = from; i < to; ++i)
                result.rows.push_back(look(all, numbers[i], catalogue, workspace, options, result));
            result.looked = to;
            if (tell)
                tell({ .looked = to,
                    .total = all.size(),
                    .simulated = result.simulated,
                    .rows = std::span(result.rows).subspan(from, to - from),
                    .space = result.space });
        }
        result.isStopped = result.looked < numbers.size();
        result.isComplete = !result.isStopped;
        result.own = 0;
        finish(result, options);
        return result;
    }

private:
    static void finish(SearchResult &result, const SearchOptions &options)
    {
        for (std::size_t i = 0; i < result.rows.size(); ++i) {
            const SearchRow &row = result.rows[i];
            if (row.state == RowState::Feasible)
                result.best.push_back(i);
            else if (const auto found = std::ranges::find(result.pruned, row.reason, &PruneCount::reason);
                     found != result.pruned.end())
                ++found->count;
            else
                result.pruned.push_back({ row.reason, 1 });
        }
        std::ranges::stable_sort(result.best, {}, [&](std::size_t i) { return result.rows[i].value; });
        if (result.best.size() > options.top)
            result.best.resize(options.top);
        std::ranges::stable_sort(result.pruned, std::greater {}, &PruneCount::count);
        result.summary = std::to_string(result.looked) + " candidates looked at";
    }

    static SearchRow look(const SearchSpace &all, std::uint64_t number, const Catalogue &catalogue,
        EvaluationWorkspace &workspace, const SearchOptions &options, SearchResult &result)
    {
        SearchRow row { .number = number, .state = RowState::Refused };
        const auto evaluated = trainyard::run(all.plan(all.candidate(number)), Depth::Score, { catalogue, workspace });
        if (!evaluated) {
            row.reason = evaluated.error().empty() ? "refused" : evaluated.error().front().what;
            return row;
        }
        const auto figures = figuresOf(**evaluated, catalogue);
        if (!figures) {
            row.state = RowState::Infeasible;
            row.reason = "it cannot be placed";
            return row;
        }
        ++result.simulated;
        row.seconds = figures->seconds;
        row.usdPerMillionTokens = figures->usdPerMillionTokens;
        row.usdPerHour = figures->usdPerHour;
        row.joulesPerToken = figures->joulesPerToken;
        row.tokensPerSecond = figures->tokensPerSecond;
        row.fill = figures->fill;
        row.gpus = figures->gpus;
        row.value = objectiveValue(options.objective, *figures);
        row.state = (*evaluated)->feasible() ? RowState::Feasible : RowState::Infeasible;
        if (row.state == RowState::Infeasible)
            row.reason = "it needs more memory than there is";
        else if (const auto most = options.constraints.mostUsdPerHour; most && row.usdPerHour > *most) {
            row.state = RowState::OutOfConstraint;
            row.reason = "it costs more than the budget";
        } else if (const auto gpus = options.constraints.mostGpus; gpus && row.gpus > *gpus) {
            row.state = RowState::OutOfConstraint;
            row.reason = "it uses more GPUs than it may";
        } else if (const auto least = options.constraints.leastTokensPerSecond; least && row.tokensPerSecond < *least) {
            row.state = RowState::OutOfConstraint;
            row.reason = "it is slower than it may be";
        }
        return row;
    }
};

} // namespace trainyard::test

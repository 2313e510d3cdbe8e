// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/jobs/solved_order.h"

#include "core/base/number_text.h"
#include "core/facts/plan/enum_names.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace trainyard {

namespace {

/// What the programme left out, as parts of a sentence.
std::vector<std::string> simplifications(const ShardMilpAnswer &answer)
{
    std::vector<std::string> parts;
    if (answer.grid <= 0)
        return parts; // there was no programme
    if (answer.unitsPerTask > 1)
        parts.push_back("up to " + std::to_string(answer.unitsPerTask) + " units of a job were taken as one");
    if (answer.isRounded)
        parts.push_back("times were rounded up to steps of " + secondsText(answer.grid));
    if (answer.hasTransfers)
        parts.emplace_back("transfers were reckoned into the times of units");
    return parts;
}

/// Jobs that stay where they have begun as one unit each: what is left to decide is where and in which order.
JobSet asOneUnitEach(JobSet set)
{
    for (JobSpec &job : set.jobs)
        if (job.units.size() == 1) {
            for (std::vector<double> &seconds : job.seconds)
                for (double &unit : seconds)
                    unit *= static_cast<double>(job.minibatches);
            job.minibatches = std::min<std::int64_t>(job.minibatches, 1);
        }
    return set;
}

/// And back: each in all its mini-batches, one after the other.
void unfold(JobRules &rules, const JobSet &set)
{
    UnitOrder order(rules.order.size());
    UnitNumbers numbers(rules.numbers.size());
    for (std::size_t gpu = 0; gpu < rules.order.size(); ++gpu)
        for (std::size_t i = 0; i < rules.order[gpu].size(); ++i) {
            const std::uint32_t job = rules.order[gpu][i];
            const std::int64_t all = set.jobs[job].units.size() == 1 ? set.jobs[job].minibatches : 1;
            for (std::int64_t unit = 0; unit < all; ++unit) {
                order[gpu].push_back(job);
                if (gpu < numbers.size())
                    numbers[gpu].push_back(rules.numbers[gpu][i] + unit);
            }
        }
    rules.order = std::move(order);
    rules.numbers = std::move(numbers);
}

} // namespace

std::string solverSentence(const ShardMilpAnswer &answer, double seconds)
{
    const std::string rule = labelOf(JobScheduler::ShardedLrtf);
    std::string text;
    if (answer.isProven)
        text = answer.isLrtf ? "No order of the units is shorter than that of \"" + rule + "\", which is run: proven"
                             : "The solver's order of the units is the shortest there is: proven";
    else
        text = (answer.isLrtf ? "No order was found that is shorter than that of \"" + rule + "\", which is run"
                              : "The solver's order is " + percentText(1 - answer.makespan / answer.lrtf)
                           + " shorter than that of \"" + rule + "\"")
            + (answer.isTooLarge ? "; there are too many units for the solver" : "")
            + (answer.isCutShort ? "; the solver was stopped after " + secondsText(seconds) : "")
            + "; none is more than " + percentText(1 - answer.bound / answer.makespan) + " shorter still";
    const std::vector<std::string> parts = simplifications(answer);
    for (std::size_t i = 0; i < parts.size(); ++i)
        text += (i == 0 ? " (" : ", ") + parts[i] + (i + 1 == parts.size() ? ")" : "");
    return text;
}

Expected<std::optional<JobRules>> rulesToRun(const Plan &plan, const JobSet &set, SimulationWorkspace &workspace,
    const std::stop_token &stop, std::vector<Problem> &problems)
{
    const JobRules rules = rulesOf(plan.jobScheduler, plan.jobOptions);
    if (rules.scheduler != JobScheduler::ShardMilp)
        return rules;
    auto answer = shardMilp(
        rules.spill ? set : asOneUnitEach(set), rules, { .seconds = plan.jobOptions.seconds }, workspace, stop);
    if (!answer && answer.error().code == ErrorCode::CannotRead) {
        Plan ruled = plan;
        ruled.jobScheduler = JobScheduler::ShardedLrtf;
        problems.push_back({ Severity::Blocking,
            "There is no order: " + answer.error().what + "; it takes " + answer.error().right, "job_scheduler",
            { { std::string("Schedule by \"") + labelOf(ruled.jobScheduler) + "\"",
                std::make_shared<const Plan>(std::move(ruled)) } } });
        return std::nullopt;
    }
    if (!answer)
        return std::unexpected(std::move(answer.error()));
    problems.push_back({ Severity::Note, solverSentence(*answer, plan.jobOptions.seconds), "job_options.seconds", {} });
    if (std::ranges::any_of(set.jobs, [](const JobSpec &job) { return job.priority != 0; }))
        problems.push_back({ Severity::Note, "The solver does not heed priorities of jobs", "job_scheduler", {} });
    if (!rules.spill)
        unfold(answer->rules, set);
    return std::move(answer->rules);
}

} // namespace trainyard

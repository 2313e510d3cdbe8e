// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/run_steps.h"

#include "core/base/median.h"
#include "core/runs/overlay/job_stages.h"
#include "core/runs/overlay/log_steps.h"
#include "core/runs/overlay/span_index.h"
#include "core/runs/overlay/step_windows.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace trainyard {

namespace {

constexpr double kLongStep = 1.5; // of the median
constexpr std::size_t kMostWarmUp = 10; // steps from a start on

void alignRanks(Recording &recording, Run &run, const std::stop_token &stop)
{
    if (recording.ranks.size() < 2) {
        run.alignment.islands = static_cast<int>(recording.ranks.size());
        if (!recording.ranks.empty())
            run.alignment.ranks.push_back({ .island = 0 });
        return;
    }
    run.collectives = matchCollectives(recording, stop);
    run.alignment = alignClocks(recording, run.collectives, { .stop = stop });
    if (stop.stop_requested())
        return;
    applyAlignment(recording, run.alignment);
    std::vector<std::string> refused;
    for (const ClockFit &fit : run.alignment.ranks)
        if (!fit.refused.empty())
            refused.push_back(fit.refused);
    constexpr std::size_t kMostTold = 3;
    for (std::size_t i = 0; i < std::min(refused.size(), kMostTold); ++i)
        run.notes.push_back(refused[i]);
    if (refused.size() > kMostTold)
        run.notes.push_back(
            "So it is with the clocks of " + std::to_string(refused.size() - kMostTold) + " further ranks");
}

/// The log's figures for the profiler's steps, and the steps that only the log tells.
std::vector<RunStep> joined(StepWindows windows, const LogSteps &log, Run &run)
{
    if (windows.steps.empty() || log.seconds.empty()) {
        for (const auto &[number, seconds] : log.seconds)
            windows.steps.push_back({ .number = number, .seconds = seconds, .isOfLog = true });
        return std::move(windows.steps);
    }
    const StepJoin join = joinSteps(windows.steps, windows.isAnnotated, log);
    run.logOffset = join.clockOffset;
    if (!join.note.empty())
        run.notes.push_back(join.note);
    if (!join.isJoined && windows.isAnnotated)
        return std::move(windows.steps);
    if (!join.isJoined && log.seconds.contains(0)) // all that was recorded, beside the log's steps
        windows.steps.front().number = log.seconds.begin()->first - 1;
    for (RunStep &step : windows.steps) {
        step.number += join.added;
        if (const auto told = log.seconds.find(step.number); windows.isAnnotated && told != log.seconds.end()) {
            step.seconds = told->second;
            step.isOfLog = true;
        }
    }
    const std::size_t shown = windows.steps.size();
    for (const auto &[number, seconds] : log.seconds)
        if (!std::ranges::binary_search(windows.steps.begin(),
                windows.steps.begin() + static_cast<std::ptrdiff_t>(shown), number, {}, &RunStep::number))
            windows.steps.push_back({ .number = number, .seconds = seconds, .isOfLog = true });
    std::ranges::sort(windows.steps, {}, &RunStep::number);
    return std::move(windows.steps);
}

/// A log that begins with another step than the first has its start, and its warm-up, behind it. Logs that tell one
/// line of several steps begin with the last of them. A profiler's first step is one that it disturbs.
bool beginsTheJob(const Run &run)
{
    const RunStep &first = run.steps.front();
    if (first.hasSpans())
        return true;
    return first.number <= (run.steps.size() > 1 ? run.steps[1].number - first.number : 1);
}

void mark(Run &run, const LogSteps &log)
{
    std::vector<double> all;
    for (const RunStep &step : run.steps)
        all.push_back(step.seconds);
    const double usual = medianOf(all);
    std::size_t sinceStart = 0;
    bool isWarm = false; // steps have come down to what they usually take
    for (std::size_t i = 0; i < run.steps.size(); ++i) {
        RunStep &step = run.steps[i];
        const bool isLong = step.seconds > kLongStep * usual;
        if (i == 0 || log.firsts.contains(step.number)) {
            sinceStart = i > 0 || beginsTheJob(run) || isLong ? 0 : kMostWarmUp;
            isWarm = sinceStart > 0;
        }
        isWarm |= sinceStart > 0 && !isLong;
        step.isWarmUp = run.steps.size() > 1 && (sinceStart == 0 || (!isWarm && sinceStart < kMostWarmUp));
        ++sinceStart;
    }
    std::vector<double> warm;
    for (const RunStep &step : run.steps)
        if (!step.isWarmUp)
            warm.push_back(step.seconds);
    const double warmMedian = warm.empty() ? usual : medianOf(warm);
    std::vector<double> counted;
    for (RunStep &step : run.steps) {
        step.isOutlier = !step.isWarmUp && step.seconds > kLongStep * warmMedian;
        if (!step.isWarmUp && !step.isOutlier)
            counted.push_back(step.seconds);
    }
    if (run.steps.size() == 1 && !run.steps[0].hasSpans() && beginsTheJob(run))
        run.notes.push_back("The only time of a step is that of the first ones of the job: warm-up is in it");
    run.medianSeconds = counted.empty() ? usual : medianOf(counted);
    const auto key = [&](const RunStep &step) {
        return std::tuple(
            !step.hasSpans(), step.isWarmUp || step.isOutlier, std::abs(step.seconds - run.medianSeconds));
    };
    const auto typical = std::ranges::min_element(run.steps, {}, key);
    run.typicalStep = typical == run.steps.end() ? -1 : static_cast<int>(typical - run.steps.begin());
}

} // namespace

RunPtr makeRun(Recording recording, std::stop_token stop)
{
    auto run = std::make_shared<Run>();
    alignRanks(recording, *run, stop);
    if (stop.stop_requested()) { // nobody waits for its steps any more
        run->spans = std::make_shared<const SpanIndex>(Recording(), run->collectives);
        run->recording = std::make_shared<const Recording>(std::move(recording));
        return run;
    }
    run->spans = std::make_shared<const SpanIndex>(recording, run->collectives);
    const StagesOfJob stages = stagesOf(recording, *run->spans);
    run->stages = stages.stages;
    run->areStagesTold = stages.isTold;
    StepWindows windows = findWindows(recording, run->alignment, stop);
    run->clockShift = std::move(windows.clockShift);
    run->notes.insert(run->notes.end(), windows.notes.begin(), windows.notes.end());
    LogSteps log = logSteps(recording);
    run->notes.insert(run->notes.end(), log.notes.begin(), log.notes.end());
    run->steps = joined(std::move(windows), log, *run);
    mark(*run, log);
    run->recording = std::make_shared<const Recording>(std::move(recording));
    return run;
}

int stepIndex(const Run &run, std::int64_t number)
{
    const auto at = std::ranges::lower_bound(run.steps, number, {}, &RunStep::number);
    return at != run.steps.end() && at->number == number ? static_cast<int>(at - run.steps.begin()) : -1;
}

} // namespace trainyard

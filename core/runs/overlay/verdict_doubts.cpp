// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/verdict_causes.h"

#include "core/base/number_text.h"
#include "core/facts/plan/enum_names.h"
#include "core/runs/overlay/job_stages.h"
#include "core/runs/overlay/plan_notes.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr std::size_t kFewSteps = 5;
constexpr double kSpread = 0.05; // of the median: half the steps lie further apart
constexpr double kOtherBatch = 0.01;
constexpr double kHardlyIts = 4; // times longer or shorter: no inefficiency, but another job

double quantile(const std::vector<double> &sorted, double share)
{
    const double at = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

void addSteps(const Run &run, std::vector<std::string> &doubts)
{
    std::size_t warmUp = 0, outliers = 0;
    std::vector<double> seconds;
    for (const RunStep &step : run.steps) {
        warmUp += step.isWarmUp ? 1 : 0;
        outliers += step.isOutlier ? 1 : 0;
        if (!step.isWarmUp && !step.isOutlier)
            seconds.push_back(step.seconds);
    }
    const auto stepsOf = [](std::size_t count) { return count == 1 ? "one step" : std::to_string(count) + " steps"; };
    const bool isFirstAlone = run.steps.size() == 1 && run.steps[0].number <= 1 && !run.steps[0].hasSpans();
    if (isFirstAlone)
        doubts.emplace_back(
            "The run's only step is its first iteration: warm-up, compilation and first allocations are "
            "in it, and later ones take less as a rule. The log of a few more tells how much");
    else if (seconds.empty())
        doubts.push_back("All the run shows is its beginning, " + stepsOf(run.steps.size())
            + ": warm-up, compilation and first allocations are in it");
    else if (seconds.size() < kFewSteps)
        doubts.push_back("Only " + stepsOf(seconds.size()) + (seconds.size() == 1 ? " counts" : " count")
            + (warmUp > 0 ? ", after " + stepsOf(warmUp) + " of warm-up" : ""));
    std::ranges::sort(seconds);
    if (seconds.size() >= kFewSteps) {
        const double apart = quantile(seconds, 0.75) - quantile(seconds, 0.25);
        if (apart > kSpread * run.medianSeconds)
            doubts.push_back("Steps vary: half of them lie between " + secondsText(quantile(seconds, 0.25)) + " and "
                + secondsText(quantile(seconds, 0.75)));
    }
    if (outliers > 0 && 20 * outliers >= run.steps.size())
        doubts.push_back(wholeText(double(outliers)) + " of " + stepsOf(run.steps.size())
            + " took over 1.5 times the median and are left out: checkpoints, evaluation, restarts");
}

void addBatch(const RunOverlay &overlay, std::vector<std::string> &doubts)
{
    const double plan = overlay.evaluation->plan->workload.globalBatch;
    for (const SampleSeries &series : overlay.run->recording->series) {
        if (series.name != samples::kGlobalBatch || series.value.empty() || !(series.value.back() > 0) || !(plan > 0))
            continue;
        if (std::abs(series.value.back() / plan - 1) > kOtherBatch)
            doubts.push_back(
                "The run's steps have " + wholeText(series.value.back()) + " sequences, the plan's " + wholeText(plan));
        return;
    }
}

void addSources(const RunOverlay &overlay, const TakenApart &taken, std::vector<std::string> &doubts)
{
    const Run &run = *overlay.run;
    const int world = worldSizeOf(*run.recording);
    if (taken.ranks == 0 && !taken.hasTimers)
        doubts.push_back(
            "Neither spans nor timers take the step apart: --timing-log-level 1 of Megatron-LM, or better a trace of "
            "one step, would");
    else if (taken.ranks == 0)
        doubts.push_back(
            "The log's timers tell the parts, with collectives and waiting inside some of them: a trace of "
            "one step tells more");
    if (taken.ranks == 1)
        doubts.push_back(
            "One rank alone does not tell waiting from moving data: its collectives count as exposed, whole");
    else if (taken.ranks > 0 && world > taken.ranks)
        doubts.push_back("The parts are those of " + wholeText(taken.ranks) + " of " + wholeText(world) + " ranks");
    if (taken.ranks > 0 && std::ranges::any_of(run.steps, &RunStep::isOfLog)
        && std::abs(run.medianSeconds / taken.measured - 1) > 0.02)
        doubts.push_back("The log's steps take " + secondsText(run.medianSeconds) + ", those with spans "
            + secondsText(taken.measured) + ": profiling slows a run down");
}

/// Rates that no GPU of the plan reaches: units, another GPU or another model are behind them.
void addRates(const RunOverlay &overlay, std::vector<std::string> &doubts)
{
    const Metrics &metrics = overlay.evaluation->metrics;
    if (!metrics.modelTflopsPerGpu || !metrics.mfu || !(*metrics.mfu > 0) || !metrics.iterationTime)
        return;
    const double peak = *metrics.modelTflopsPerGpu / *metrics.mfu; // TFLOP/s of the plan's precision
    const std::string beyond = " TFLOP/s per GPU, more than the peak of the plan's, " + plainText(peak) + " at "
        + toString(overlay.evaluation->plan->workload.precision);
    for (const SampleSeries &series : overlay.run->recording->series) {
        if (series.value.empty() || (series.name != samples::kTflopsPerGpu && series.name != samples::kMfu))
            continue;
        std::vector<double> values = series.value;
        std::ranges::sort(values);
        const double middle = quantile(values, 0.5);
        if (series.name == samples::kTflopsPerGpu && middle > peak) {
            doubts.push_back("The run prints " + plainText(middle) + beyond);
            return;
        }
        if (series.name == samples::kMfu && middle > 1) {
            doubts.push_back("The run prints an MFU of " + percentText(middle) + ", which no GPU reaches");
            return;
        }
    }
    const double seconds = overlay.run->medianSeconds;
    const double made = seconds > 0 ? *metrics.modelTflopsPerGpu * *metrics.iterationTime / seconds : 0;
    if (made > peak)
        doubts.push_back("Steps of " + secondsText(seconds) + " would be " + plainText(made) + beyond
            + ": its times or the plan's model are not the run's");
}

/// Before all else: such a plan cannot be the run's.
void addInfeasible(const RunOverlay &overlay, std::vector<std::string> &doubts)
{
    const Evaluation &plan = *overlay.evaluation;
    if (plan.feasible())
        return;
    const auto why = std::ranges::find(plan.problems, Severity::Blocking, &Problem::severity);
    doubts.push_back("The plan cannot run, so that it is not the run's: "
        + (why != plan.problems.end() ? why->text : std::string("it is infeasible")));
}

/// The headline says so, and nothing is compared.
bool isOtherJob(const RunOverlay &overlay)
{
    return !workDifferences(*overlay.evaluation, *overlay.run->recording).empty();
}

} // namespace

std::vector<std::string> doubtsOf(const RunOverlay &overlay, const TakenApart &taken)
{
    std::vector<std::string> doubts;
    addInfeasible(overlay, doubts);
    const bool isOther = isOtherJob(overlay);
    if (const double ratio = taken.measured / taken.predicted;
        !isOther && (ratio >= kHardlyIts || ratio * kHardlyIts <= 1))
        doubts.push_back("A step that takes " + plainText(ratio)
            + " times as long as predicted is hardly of this plan: another model, batch or machine is behind it");
    if (!isOther) {
        addBatch(overlay, doubts);
        addRates(overlay, doubts);
    }
    addSteps(*overlay.run, doubts);
    addSources(overlay, taken, doubts);
    doubts.insert(doubts.end(), taken.notes.begin(), taken.notes.end());
    for (const std::string &note : overlay.run->notes)
        if (!note.starts_with("The only time of a step")) // which is said above
            doubts.push_back(note);
    const Confidence &confidence = overlay.evaluation->metrics.confidence;
    if (!isOther && confidence.iterationLow && confidence.iterationHigh && !confidence.label.empty())
        doubts.push_back("The plan's own range is " + secondsText(*confidence.iterationLow) + " to "
            + secondsText(*confidence.iterationHigh) + " (" + confidence.label + ")");
    return doubts;
}

std::vector<std::string> doubtsOfUntimed(const RunOverlay &overlay)
{
    std::vector<std::string> doubts;
    addInfeasible(overlay, doubts);
    doubts.emplace_back(
        "No step was timed: a log with a few iterations (elapsed time per iteration), or a trace of one "
        "step, tells how long they take");
    return doubts;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/plan_notes.h"

#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/facts/plan/plan.h"
#include "core/runs/overlay/job_stages.h"
#include "core/runs/overlay/reported_job.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>

namespace trainyard {

namespace {

std::string countOf(int ranks)
{
    return wholeText(ranks) + (ranks == 1 ? " rank" : " ranks");
}

ReportedJob jobOf(const Plan &plan)
{
    ReportedJob job;
    job.tensor = plan.parallelism.tensor;
    job.pipeline = plan.parallelism.pipeline;
    job.context = plan.parallelism.context;
    job.globalBatch = plan.workload.globalBatch;
    job.microBatch = plan.workload.microBatch;
    job.sequenceLength = plan.workload.sequenceLength;
    if (plan.workload.inlineModel) {
        job.layers = plan.workload.inlineModel->layers;
        job.hidden = plan.workload.inlineModel->hidden;
    }
    return job;
}

constexpr double kImpossible = 3; // of the peak of the plan's GPU: no precision and no way of counting explains it

void addText(std::string &all, const std::string &more)
{
    if (!more.empty())
        all += (all.empty() ? "" : "; ") + more;
}

/// A batch that a log prints with every step and that never changes; one that grows may reach the plan's.
std::string batchDifference(const Plan &plan, const Recording &recording)
{
    const int planned = plan.workload.globalBatch;
    if (planned < 1 || reportedJob(recording).globalBatch)
        return {};
    for (const SampleSeries &series : recording.series) {
        if (series.name != samples::kGlobalBatch || !series.isByStep || series.value.empty())
            continue;
        const double batch = series.value.front();
        const bool isOne = std::ranges::all_of(series.value, [&](double value) { return value == batch; });
        return isOne && batch >= 1 && batch != planned
            ? "sequences per step " + wholeText(batch) + ", plan " + wholeText(planned)
            : std::string();
    }
    return {};
}

/// A rate that no GPU of the plan reaches.
std::string rateDifference(const Evaluation &plan, const Recording &recording)
{
    const Metrics &metrics = plan.metrics;
    if (!metrics.modelTflopsPerGpu || !metrics.mfu || !(*metrics.mfu > 0))
        return {};
    const double peak = *metrics.modelTflopsPerGpu / *metrics.mfu; // TFLOP/s
    for (const SampleSeries &series : recording.series)
        if (series.name == samples::kTflopsPerGpu && !series.value.empty())
            if (const double rate = medianOf(series.value); rate > kImpossible * peak)
                return plainText(rate) + " TFLOP/s per GPU, of which the plan's makes " + plainText(peak) + " at most";
    return {};
}

/// Worlds whose sizes are told; ranks that tell none may be a part of the plan's.
std::string worldDifference(const Evaluation &plan, const Recording &recording)
{
    const int run = worldSizeOf(recording), planned = RankMap(*plan.plan, plan.layout).worldSize();
    if (planned > 0 && (run > planned || (reportedJob(recording).ranks > 0 && run != planned)))
        return countOf(run) + ", plan " + wholeText(planned);
    return {};
}

/// All but the sizes of the worlds.
std::string settingDifferences(const Evaluation &plan, const Recording &recording)
{
    std::string all = jobDifferences(reportedJob(recording), jobOf(*plan.plan), "plan");
    addText(all, batchDifference(*plan.plan, recording));
    addText(all, rateDifference(plan, recording));
    return all;
}

} // namespace

std::string worldNote(const Recording &recording, const RankMap &map, int missing)
{
    const int run = worldSizeOf(recording), plan = map.worldSize();
    if (run > plan)
        return "The run has " + countOf(run) + ", the plan " + wholeText(plan) + ": ranks from " + std::to_string(plan)
            + " on are on no row";
    if (run > 0 && run < plan)
        return "The run has " + countOf(run) + ", the plan " + wholeText(plan) + ": rows of ranks "
            + std::to_string(run) + " to " + std::to_string(plan - 1) + " stay empty";
    if (missing > 0)
        return countOf(missing) + " of the plan's " + wholeText(plan) + (missing == 1 ? " was" : " were")
            + " not recorded";
    return {};
}

std::string workDifferences(const Evaluation &plan, const Recording &recording)
{
    std::string all = worldDifference(plan, recording);
    addText(all, settingDifferences(plan, recording));
    return all;
}

std::string workNote(const Evaluation &plan, const Recording &recording)
{
    const std::string differing = settingDifferences(plan, recording);
    return differing.empty() ? std::string() : "The run is another job than the plan: " + differing;
}

std::string otherJobNote(const Evaluation &plan, const Recording &recording)
{
    const int run = worldSizeOf(recording), planned = RankMap(*plan.plan, plan.layout).worldSize();
    if (!worldDifference(plan, recording).empty())
        return "The run has " + countOf(run) + ", the plan " + wholeText(planned);
    return workNote(plan, recording);
}

std::vector<std::string> jobNotes(const Evaluation &plan, const Recording &recording)
{
    std::vector<std::string> notes;
    const int run = worldSizeOf(recording), planned = RankMap(*plan.plan, plan.layout).worldSize();
    if (run > 0 && planned > 0 && run != planned)
        notes.push_back("The run has " + countOf(run) + ", the plan " + wholeText(planned)
            + ": what differs is what the two jobs differ in, too");
    if (std::string work = workNote(plan, recording); !work.empty())
        notes.push_back(std::move(work));
    return notes;
}

std::vector<std::string> jobNotes(const Recording &reference, const Recording &recording)
{
    std::vector<std::string> notes;
    const int run = worldSizeOf(recording), other = worldSizeOf(reference);
    if (run > 0 && other > 0 && run != other)
        notes.push_back("The run has " + countOf(run) + ", the one that it is compared with " + wholeText(other)
            + ": what differs is what the two jobs differ in, too");
    const std::string differing = jobDifferences(reportedJob(recording), reportedJob(reference), "the other");
    if (!differing.empty())
        notes.push_back("The runs are of two jobs: " + differing);
    return notes;
}

} // namespace trainyard

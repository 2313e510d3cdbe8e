// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/plan_notes.h"

#include "core/base/number_text.h"
#include "core/facts/plan/plan.h"
#include "core/runs/overlay/job_stages.h"
#include "core/runs/overlay/reported_job.h"

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
    return jobDifferences(reportedJob(recording), jobOf(*plan.plan), "plan");
}

std::string workNote(const Evaluation &plan, const Recording &recording)
{
    const std::string differing = workDifferences(plan, recording);
    return differing.empty() ? std::string() : "The run is another job than the plan: " + differing;
}

std::string otherJobNote(const Evaluation &plan, const Recording &recording)
{
    const int run = worldSizeOf(recording), planned = RankMap(*plan.plan, plan.layout).worldSize();
    if (planned > 0 && (run > planned || (reportedJob(recording).ranks > 0 && run != planned)))
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

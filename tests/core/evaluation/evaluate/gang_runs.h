#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plans of whole jobs on whole GPUs, run as the product does, with all that came of it.

#include "core/evaluation/evaluate/jobs/gang_run.h"

#include <QtTest>

#include "tests/support/plans.h"

#include <cmath>

namespace trainyard::test {

/// What the gangs read of a plan's jobs and GPUs.
inline JobWorkloads workloadsOf(Plan whole)
{
    JobWorkloads jobs;
    jobs.plan = std::make_shared<const Plan>(std::move(whole));
    const Cluster &cluster = jobs.plan->cluster;
    for (int d = 0; d < int(cluster.datacenters.size()); ++d)
        for (int p = 0; p < int(cluster.datacenters[std::size_t(d)].pools.size()); ++p) {
            const Pool &pool = cluster.datacenters[std::size_t(d)].pools[std::size_t(p)];
            for (int n = 0; n < pool.nodes; ++n) {
                jobs.nodes.push_back({ d, p, n, pool.host ? pool.host->memoryGib * 0x1p30 : 0 });
                jobs.set.nodes.push_back({ d });
                for (int g = 0; g < pool.gpusPerNode; ++g) {
                    jobs.gpus.push_back({ d, p, 0 });
                    jobs.set.gpus.push_back({ 0, int(jobs.nodes.size()) - 1 });
                }
            }
        }
    for (Job &job : allJobs(*jobs.plan)) {
        JobWorkload of;
        of.model = *builtinCatalogue().model(job.model);
        of.job = std::move(job);
        jobs.jobs.push_back(std::move(of));
    }
    return jobs;
}

inline Job job(const std::string &model, int batch, int minibatches)
{
    Job made;
    made.model = model;
    made.batch = batch;
    made.minibatches = minibatches;
    made.sequenceLength = 1024;
    return made;
}

inline Plan planOf(
    JobScheduler scheduler, int gpus, int count, const Job &like, const std::string &gpu = "a100-sxm-80gb")
{
    Plan plan;
    plan.cluster.datacenters = { site("a", 1, gpu, gpus) };
    plan.cluster.datacenters[0].pools[0].host = Host { 1024, 25, {} };
    plan.stack.name = "ideal";
    plan.jobScheduler = scheduler;
    for (int i = 0; i < count; ++i) {
        plan.jobs.push_back(like);
        plan.jobs.back().name = "job " + std::to_string(i);
    }
    return plan;
}

struct Result {
    JobWorkloads jobs;
    std::vector<GangJob> gangs;
    GangRun run;
};

class Gangs {
public:
    Result operator()(const Plan &plan, bool showsAll = true)
    {
        Result result { workloadsOf(plan), {}, {} };
        const RunContext context { builtinCatalogue(), m_workspace };
        auto gangs = gangJobs(result.jobs, context);
        if (!gangs)
            qFatal("%s", toString(gangs.error().front()).c_str());
        result.gangs = std::move(*gangs);
        auto ran = runGangs(result.jobs, result.gangs, showsAll, context, m_simulation);
        if (!ran)
            qFatal("%s", toString(ran.error().front()).c_str());
        result.run = std::move(*ran);
        return result;
    }
    /// Of one mini-batch, as a plan of its own.
    EvaluationPtr evaluated(const GangForm &form)
    {
        return *trainyard::run(form.plan, Depth::Spans, { builtinCatalogue(), m_workspace });
    }

private:
    EvaluationWorkspace m_workspace;
    SimulationWorkspace m_simulation;
};

inline double seconds(Nanoseconds time)
{
    return toSeconds(time).value;
}

inline bool isClose(double a, double b, double share)
{
    return std::abs(a - b) <= share * std::max(std::abs(a), std::abs(b));
}

/// Forward, backward and recomputation of all GPUs, GPU seconds.
inline double computing(const Evaluation &evaluation)
{
    return *evaluation.metrics.gpuUtilization * evaluation.metrics.gpusUsed * *evaluation.metrics.iterationTime;
}

/// No two spans of a GPU at once, and all jobs between their start and end on the GPUs that they hold.
inline void checkSpans(const Result &result)
{
    const Timeline &t = result.run.run.timeline;
    QCOMPARE(t.tracks.size(), result.jobs.gpus.size());
    for (const Track &track : t.tracks)
        for (std::uint32_t span = track.first; span < track.last; ++span) {
            QVERIFY(t.end[span] > t.start[span]);
            QVERIFY(span == track.first || t.start[span] >= t.end[span - 1]);
            const JobTimes &of = result.run.run.jobs.at(t.classOf(span).job);
            QVERIFY(t.start[span] >= of.start && t.end[span] <= of.end);
            QVERIFY(std::ranges::binary_search(of.gpus, track.stage));
        }
}

} // namespace trainyard::test

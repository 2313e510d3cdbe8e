// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/memory_walk.h"
#include "core/evaluation/evaluate/jobs/job_outcome.h"
#include "core/evaluation/evaluate/jobs/solved_order.h"
#include "core/evaluation/evaluate/jobs/unit_memory.h"
#include "core/systems/jobs/served.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainyard {

namespace {

class Shared {
public:
    Shared(JobWorkloads &jobs, Depth depth, const RunContext &context, SimulationWorkspace &workspace)
        : m_jobs(jobs)
        , m_set(jobs.set)
        , m_plan(*jobs.plan)
        , m_depth(depth)
        , m_context(context)
        , m_workspace(workspace)
    {
    }

    ExpectedAll<JobOutcome> outcome()
    {
        m_outcome.bounds = jobBounds(m_set);
        m_outcome.minibatchesPerSpan = m_jobs.minibatchesPerSpan;
        m_outcome.shares.resize(m_jobs.jobs.size());
        m_outcome.run.jobs.resize(m_jobs.jobs.size());
        Served served(m_set);
        for (JobWorkload &job : m_jobs.jobs)
            if (job.specIndex >= 0 && job.why.empty())
                if (const JobSpec &spec = m_set.jobs[std::size_t(job.specIndex)];
                    !served.runs(spec, served.likeOf(spec)))
                    job.why = neverRuns(m_set, spec);
        const bool runs = std::ranges::any_of(
            m_jobs.jobs, [](const JobWorkload &job) { return job.specIndex >= 0 && job.why.empty(); });
        if (m_depth >= Depth::Score && runs) {
            const auto rules = rulesToRun(m_plan, m_set, m_workspace, m_context.stop, m_outcome.problems);
            if (!rules)
                return std::unexpected(Errors { rules.error() });
            if (*rules) {
                auto run = runJobs(m_set, **rules, m_workspace, m_context.stop);
                if (!run)
                    return std::unexpected(Errors { run.error() });
                take(std::move(*run));
            }
        }
        m_jobsOn.assign(m_set.gpus.size(), 0);
        for (const JobTimes &times : m_outcome.run.jobs)
            for (const int gpu : times.gpus)
                ++m_jobsOn[std::size_t(gpu)];
        for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i)
            share(i);
        addMemory();
        return std::move(m_outcome);
    }

private:
    /// The jobs of the set by their numbers in the plan.
    void take(JobRun run)
    {
        std::vector<std::uint32_t> jobOf(m_set.jobs.size());
        m_outcome.isTimed = true;
        std::vector<JobTimes> times(m_jobs.jobs.size());
        for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i) {
            const int spec = m_jobs.jobs[i].specIndex;
            if (spec < 0)
                continue;
            jobOf[std::size_t(spec)] = std::uint32_t(i);
            times[i] = std::move(run.jobs[std::size_t(spec)]);
            m_outcome.computing += toSeconds(times[i].computing).value;
        }
        for (TaskClass &taskClass : run.timeline.classes)
            if (taskClass.job < jobOf.size())
                taskClass.job = jobOf[taskClass.job];
        run.jobs = std::move(times);
        m_outcome.run = std::move(run);
    }

    void share(std::size_t index)
    {
        const JobWorkload &job = m_jobs.jobs[index];
        JobShare &share = m_outcome.shares[index];
        share.shards = std::max(1, int(job.shards.size()));
        share.gpuSeconds = toSeconds(m_outcome.run.jobs[index].computing).value;
        if (job.specIndex < 0)
            return;
        const JobSpec &spec = m_set.jobs[std::size_t(job.specIndex)];
        share.hostBytes = spec.hostPeak();
        const JobTimes &times = m_outcome.run.jobs[index];
        share.alone = alone(spec, times.gpus);
        // The closed form hides what a job alone cannot: where nobody else had its GPUs and ways, the run itself tells.
        const bool hadThemAlone = !times.gpus.empty() && m_set.links.empty()
            && std::ranges::all_of(times.gpus, [&](int gpu) { return m_jobsOn[std::size_t(gpu)] == 1; });
        if (hadThemAlone && times.end != JobTimes::kNever && times.start != JobTimes::kNever)
            share.alone = std::max(share.alone, toSeconds(times.end - times.start).value);
    }

    /// On the fastest of those GPUs. What it leaves there for itself does not travel: the weights of a model that is
    /// not cut, and tensors between units.
    [[nodiscard]] double alone(const JobSpec &spec, const std::vector<int> &gpus) const
    {
        double least = 0;
        std::vector<char> isKnown;
        for (const int gpu : gpus) {
            const auto kind = std::size_t(m_set.gpus[std::size_t(gpu)].kind);
            isKnown.resize(std::max(isKnown.size(), kind + 1));
            if (std::exchange(isKnown[kind], 1) || spec.seconds[kind].empty())
                continue;
            const int way = spec.node < 0 ? -1 : m_set.routeOf[std::size_t(spec.node)][std::size_t(gpu)];
            const JobRoute route = way < 0 ? JobRoute {} : m_set.routes[std::size_t(way)];
            const double times = spec.minibatchesPerUnit;
            double seconds = 0;
            for (std::size_t u = 0; u < spec.units.size(); ++u) {
                const JobUnit &unit = spec.units[u];
                const bool travels = spec.units.size() > 1 && route.toGpu > 0 && route.toHost > 0;
                seconds += !travels ? spec.seconds[kind][u]
                                    : unitSeconds(spec.seconds[kind][u], times * unit.weights / route.toGpu,
                                        times * (unit.writeBack + unit.output) / route.toHost,
                                        m_plan.jobOptions.doubleBuffer, m_set.isFullDuplex);
            }
            seconds *= double(spec.minibatches);
            least = least > 0 ? std::min(least, seconds) : seconds;
        }
        return least;
    }

    void addMemory()
    {
        const bool keepsCurves = m_depth >= Depth::Spans;
        const Timeline &timeline = m_outcome.run.timeline;
        const std::vector<UnitOfJob> largest = largestUnits(m_jobs, timeline);
        for (std::size_t gpu = 0; gpu < m_set.gpus.size(); ++gpu) {
            if (!m_outcome.isTimed) {
                const MostUnits most = mostUnitsOn(m_jobs, gpu);
                m_outcome.memory.push_back(memoryOfUnits(m_jobs, int(gpu), most.bytes, most.largest));
                continue;
            }
            LiveOverTime live = liveOverTime(timeline, 0, int(gpu), false, keepsCurves);
            StageMemory memory = memoryOfUnits(m_jobs, int(gpu), live.peak, largest[gpu]);
            if (keepsCurves) {
                const std::int64_t base = memory.device - wholeBytes(live.peak);
                if (live.gpu.empty())
                    live.gpu.push_back({ 0, 0 });
                live.gpu.push_back({ timeline.duration, live.gpu.back().bytes });
                for (MemoryStep &step : live.gpu)
                    step.bytes += base;
                m_outcome.memoryCurves.push_back(std::move(live.gpu));
            }
            m_outcome.memory.push_back(std::move(memory));
        }
    }

    JobWorkloads &m_jobs;
    JobSet &m_set;
    const Plan &m_plan;
    Depth m_depth;
    const RunContext &m_context;
    SimulationWorkspace &m_workspace;
    JobOutcome m_outcome;
    std::vector<int> m_jobsOn; // [GPU]: how many jobs ran there
};

} // namespace

ExpectedAll<JobOutcome> sharedOutcome(
    JobWorkloads &jobs, Depth depth, const RunContext &context, SimulationWorkspace &workspace)
{
    return Shared(jobs, depth, context, workspace).outcome();
}

} // namespace trainyard

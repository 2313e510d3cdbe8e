// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/job_comparison.h"

#include "core/base/words.h"
#include "core/evaluation/evaluate/comparable.h"
#include "core/evaluation/evaluate/problems/job_problems.h"
#include "core/facts/cluster/edits.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/facts/plan/enum_names.h"
#include "core/facts/plan/job_schedulers.h"

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

constexpr std::int64_t kMostSpans = 200000; // of a schedule that is kept to be drawn

/// The plan itself where nothing was changed, so that its evaluation is found again.
PlanPtr sameOr(const PlanPtr &plan, Plan changed)
{
    return changed == *plan ? plan : std::make_shared<const Plan>(std::move(changed));
}

class JobComparer {
public:
    JobComparer(PlanPtr plan, const RunContext &context)
        : m_plan(std::move(plan))
        , m_context(context)
    {
        m_context.fixes = nullptr;
    }

    /// Nothing where it was stopped.
    void add(std::string name, PlanPtr plan, Depth depth = Depth::Score, std::string note = {})
    {
        if (isStopped())
            return;
        JobVariant variant { std::move(name), std::move(note), std::move(plan), nullptr };
        const auto say = [&](const std::string &text) { variant.note += variant.note.empty() ? text : "; " + text; };
        auto answer = run(variant.plan, depth, m_context);
        if (isStopped())
            return;
        if (answer) {
            variant.evaluation = std::move(*answer);
            const auto &problems = variant.evaluation->problems;
            const auto blocking = std::ranges::find(problems, Severity::Blocking, &Problem::severity);
            if (const std::string why = whyNotCompared(*variant.evaluation); !why.empty())
                say(why);
            if (!variant.evaluation->feasible() && blocking != problems.end())
                say(blocking->text);
        } else {
            say(answer.error().empty() ? "it cannot be evaluated" : answer.error().front().what);
        }
        m_variants.push_back(std::move(variant));
    }

    [[nodiscard]] bool isStopped() const { return m_context.stop.stop_requested(); }
    [[nodiscard]] const RunContext &context() const { return m_context; }
    /// The plan with its first GPUs alone, pins to others dropped.
    [[nodiscard]] Plan onFirst(int gpus) const
    {
        Plan next = *m_plan;
        next.cluster = withFirstGpus(m_plan->cluster, gpus);
        for (Job &job : next.jobs)
            std::erase_if(job.pinnedGpus, [&](int gpu) { return gpu >= gpus; });
        return next;
    }
    std::vector<JobVariant> take()
    {
        int most = 0;
        for (const JobVariant &variant : m_variants)
            most = std::max(most, variant.jobsRun());
        for (JobVariant &variant : m_variants)
            if (const int runs = variant.jobsRun(); variant.makespan() && runs < most)
                variant.note += (variant.note.empty() ? "" : "; ") + std::to_string(most - runs)
                    + " of the jobs cannot run, so its time is no match for the others'";
        return std::move(m_variants);
    }

private:
    PlanPtr m_plan;
    RunContext m_context;
    std::vector<JobVariant> m_variants;
};

/// Sharded-LRTF where the plan has a solver: nobody waits for that many times. And why.
std::pair<Plan, std::string> byRule(Plan plan)
{
    std::string note;
    if (isSolver(plan.jobScheduler))
        note = std::string("by \"") + labelOf(JobScheduler::ShardedLrtf) + "\" instead of the solver";
    if (isSolver(plan.jobScheduler))
        plan.jobScheduler = JobScheduler::ShardedLrtf;
    return { std::move(plan), std::move(note) };
}

std::string nameOf(const Pool &pool, const Datacenter &datacenter, const Catalogue &catalogue)
{
    const GpuSpec *gpu = gpuOf(pool, catalogue);
    const std::string kind = gpu && !gpu->name.empty() ? gpu->name : pool.gpu;
    return "One " + (kind.empty() ? std::string("GPU") : kind) + " more in " + datacenter.label() + ", pool " + pool.id;
}

} // namespace

Metric JobVariant::makespan() const
{
    if (!evaluation || !evaluation->feasible() || !evaluation->metrics.jobs || !whyNotCompared(*evaluation).empty())
        return std::nullopt;
    return evaluation->metrics.jobs->makespan;
}

int JobVariant::jobsRun() const
{
    if (!makespan())
        return 0;
    return int(std::ranges::count(evaluation->metrics.jobs->perJob, JobState::Runs, &JobResult::state));
}

Metric speedUp(const JobVariant &over, const JobVariant &of)
{
    const Metric before = over.makespan(), now = of.makespan();
    if (!before || !now || *before <= 0 || *now <= 0 || over.jobsRun() != of.jobsRun())
        return std::nullopt;
    return *before / *now;
}

std::vector<JobVariant> jobSchedulers(const PlanPtr &plan, const RunContext &context, bool solvers)
{
    JobComparer comparer(plan, context);
    if (!hasJobs(*plan))
        return {};
    const auto own = run(plan, Depth::Score, comparer.context());
    const Depth depth = own && (*own)->metrics.spans <= kMostSpans ? Depth::Spans : Depth::Score;
    comparer.add(labelOf(plan->jobScheduler), plan, depth);
    for (std::size_t i = 0; i < kNamesOf<JobScheduler>.size(); ++i) {
        Plan next = *plan;
        next.jobScheduler = JobScheduler(i);
        if (next.jobScheduler == plan->jobScheduler || (isSolver(next.jobScheduler) && !solvers)
            || schedulerProblem(next))
            continue;
        comparer.add(labelOf(next.jobScheduler), std::make_shared<const Plan>(std::move(next)), depth);
    }
    return comparer.take();
}

std::vector<JobVariant> jobAblation(const PlanPtr &plan, const RunContext &context)
{
    JobComparer comparer(plan, context);
    if (!hasJobs(*plan))
        return {};
    Plan alone = comparer.onFirst(1);
    alone.jobScheduler = JobScheduler::Fifo;
    alone.jobOptions.spill = true;
    alone.jobOptions.doubleBuffer = alone.jobOptions.lookAhead = false;
    comparer.add("Spilling alone", sameOr(plan, std::move(alone)), Depth::Score,
        plan->cluster.gpus() > 1 ? "a job at a time on the first GPU" : "");
    Plan sharp = *plan;
    sharp.jobScheduler = JobScheduler::ShardedLrtf;
    sharp.jobOptions.spill = true;
    sharp.jobOptions.doubleBuffer = false;
    comparer.add("with SHARP", sameOr(plan, sharp));
    sharp.jobOptions.doubleBuffer = true;
    comparer.add("with double buffers", sameOr(plan, std::move(sharp)));
    return comparer.take();
}

std::vector<JobVariant> jobScaling(const PlanPtr &plan, const RunContext &context)
{
    JobComparer comparer(plan, context);
    const int all = plan->cluster.gpus();
    if (!hasJobs(*plan) || all < 1)
        return {};
    for (int gpus = 1;; gpus = gpus > all / 2 ? all : 2 * gpus) {
        auto [next, note] = byRule(comparer.onFirst(gpus));
        comparer.add(counted(gpus, "GPU"), sameOr(plan, std::move(next)), Depth::Score, std::move(note));
        if (gpus == all)
            return comparer.take();
    }
}

std::vector<JobVariant> jobsWithOneMoreGpu(const PlanPtr &plan, const RunContext &context)
{
    JobComparer comparer(plan, context);
    if (!hasJobs(*plan))
        return {};
    auto [base, note] = byRule(*plan);
    const auto own = run(sameOr(plan, base), Depth::Score, comparer.context());
    if (!own || !(*own)->metrics.jobs)
        return {};
    std::vector<bool> serves(std::size_t(plan->cluster.gpus()), false);
    for (const JobResult &job : (*own)->metrics.jobs->perJob)
        for (const int gpu : job.ranOn)
            serves[std::size_t(gpu)] = true;
    int first = 0; // GPU of the pool
    for (std::size_t d = 0; d < plan->cluster.datacenters.size(); ++d) {
        const Datacenter &datacenter = plan->cluster.datacenters[d];
        for (std::size_t p = 0; p < datacenter.pools.size(); ++p) {
            const int end = first + datacenter.pools[p].gpus();
            const auto begin = serves.begin() + first;
            first = end;
            if (std::find(begin, serves.begin() + end, true) == serves.begin() + end)
                continue;
            auto cluster = withOneGpuMore(plan->cluster, int(d), int(p));
            if (!cluster)
                continue;
            Plan next = base;
            next.cluster = std::move(*cluster);
            for (Job &job : next.jobs)
                for (int &gpu : job.pinnedGpus)
                    gpu += gpu >= end; // those behind the new one
            comparer.add(nameOf(datacenter.pools[p], datacenter, context.catalogue),
                std::make_shared<const Plan>(std::move(next)), Depth::Score, note);
        }
    }
    return comparer.take();
}

} // namespace trainyard

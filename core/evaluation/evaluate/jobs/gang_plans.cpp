// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/jobs/gang_plans.h"

#include "core/base/words.h"
#include "core/engine/schedule/traits.h"
#include "core/facts/plan/job_plan.h"

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

constexpr std::size_t kMostMicroBatchCounts = 12;

/// All forwards of a device, then all backwards, of whole stages in a row: GPipe's order.
ScheduleKind forwardsFirst()
{
    for (const ScheduleTraits *schedule : allSchedules())
        if (schedule->forwardsFirst && schedule->chunks.most == 1 && schedule->isLoop()
            && schedule->rule == OrderRule::Strict)
            return schedule->kind;
    return kPlainSchedule;
}

class Maker {
public:
    Maker(const JobWorkloads &jobs, const Job &job)
        : m_jobs(jobs)
        , m_job(job)
        , m_plan(planOfJob(*jobs.plan, job))
    {
        m_plan.cluster = {}; // each has a part of it
    }

    /// The first GPUs of a list take what `set` makes of the plan.
    template <class Set> void add(const GpuList &list, int gpus, std::string name, Set set)
    {
        Plan plan = m_plan;
        set(plan);
        GangPlan made { { list.begin(), list.begin() + gpus }, 0, nullptr, std::move(name) };
        made.part = partOf(made.gpus);
        if (!m_known.emplace(made.part, made.name).second)
            return;
        plan.cluster = m_plans.parts[std::size_t(made.part)].cluster;
        GangPlan again = made;
        Plan recomputed = plan;
        recomputed.memory.recompute = Recompute::Full;
        again.plan = std::make_shared<const Plan>(std::move(recomputed));
        again.name += ", full recomputation";
        m_plans.ifNoneFits.push_back(std::move(again));
        made.plan = std::make_shared<const Plan>(std::move(plan));
        m_plans.plans.push_back(std::move(made));
    }

    [[nodiscard]] const Job &job() const { return m_job; }
    [[nodiscard]] GangPlans finish() { return std::move(m_plans); }

    /// Numbers of GPUs of a list worth a try, ascending: as the job says, or powers of two, all and `more`.
    [[nodiscard]] std::vector<int> counts(const GpuList &list, int most, std::initializer_list<int> more = {}) const
    {
        const int all = std::min(int(list.size()), most);
        std::set<int> counts { all };
        for (int n = 1; n < all; n *= 2)
            counts.insert(n);
        for (const int n : more)
            if (n >= 1 && n <= all)
                counts.insert(n);
        if (m_job.gpus)
            return *m_job.gpus <= all ? std::vector { *m_job.gpus } : std::vector<int> {};
        return { counts.begin(), counts.end() };
    }

private:
    int partOf(const GpuList &gpus)
    {
        const auto known = std::ranges::find(m_taken, gpus);
        if (known == m_taken.end()) {
            m_taken.push_back(gpus);
            m_plans.parts.push_back(clusterPart(m_jobs, gpus));
            return int(m_taken.size()) - 1;
        }
        return int(known - m_taken.begin());
    }

    const JobWorkloads &m_jobs;
    const Job &m_job;
    Plan m_plan;
    GangPlans m_plans;
    std::vector<GpuList> m_taken; // [part]
    std::set<std::pair<int, std::string>> m_known; // lists overlap
};

bool isOneNode(const JobWorkloads &jobs, const GpuList &list)
{
    const auto node = [&](int gpu) { return jobs.set.gpus[std::size_t(gpu)].node; };
    return node(list.front()) == node(list.back());
}

/// Every number of a node's GPUs, and all of a larger list.
void addModelParallel(Maker &maker, const JobWorkloads &jobs, const GpuList &list, int layers)
{
    const int all = std::min(int(list.size()), layers);
    for (int stages : isOneNode(jobs, list) ? maker.counts(list, layers, { 3, 5, 6, 7 }) : maker.counts(list, layers)) {
        if (!isOneNode(jobs, list) && !maker.job().gpus && stages != all)
            continue;
        maker.add(list, stages, "layers over " + counted(stages, "GPU"), [&](Plan &plan) {
            plan.parallelism.pipeline = stages;
            plan.schedule = forwardsFirst();
        });
    }
}

void addPipelines(Maker &maker, const GpuList &list, int layers)
{
    const int batch = maker.job().batch;
    for (const int stages : maker.counts(list, layers)) {
        if (stages == 1 && list.size() > 1 && layers > 1 && !maker.job().gpus)
            continue; // no pipeline
        for (const int microBatches : divisors(batch, kMostMicroBatchCounts))
            for (const ScheduleKind schedule : { forwardsFirst(), kPlainSchedule })
                maker.add(list, stages,
                    std::string(traitsOf(schedule).label) + ", " + counted(stages, "stage") + ", "
                        + (microBatches == 1 ? "1 micro-batch" : std::to_string(microBatches) + " micro-batches"),
                    [&](Plan &plan) {
                        plan.parallelism.pipeline = stages;
                        plan.schedule = schedule;
                        plan.workload.microBatch = batch / microBatches;
                    });
    }
}

/// All GPUs, or as many as divide the batch: the largest such number.
void addOffloaded(Maker &maker, const GpuList &list)
{
    const int batch = maker.job().batch;
    const int all = std::min(int(list.size()), batch);
    int even = all;
    while (batch % even != 0)
        --even;
    for (const int copies : std::set { maker.job().gpus.value_or(all), maker.job().gpus.value_or(even) }) {
        if (copies > all)
            continue;
        for (const int microBatch : std::set { 1, (batch + copies - 1) / copies })
            maker.add(list, copies,
                "ZeRO-3 over " + counted(copies, "GPU") + ", states in host memory, micro-batches of "
                    + std::to_string(microBatch),
                [&](Plan &plan) {
                    plan.parallelism.data = copies;
                    plan.parallelism.zeroStage = 3;
                    plan.memory.parameterOffload = ParameterOffload::Host;
                    plan.memory.optimizerOffload = OptimizerOffload::Host;
                    plan.workload.microBatch = microBatch;
                });
    }
}

} // namespace

std::vector<int> divisors(int number, std::size_t most)
{
    std::set<int> found;
    for (int d = 1; std::int64_t { d } * d <= number; ++d)
        if (number % d == 0)
            found.insert({ d, number / d });
    std::vector<int> all(found.begin(), found.end());
    if (all.size() <= most)
        return all;
    std::vector<int> some;
    for (std::size_t i = 0; i < most; ++i)
        some.push_back(all[i * (all.size() - 1) / (most - 1)]);
    return some;
}

JobTechnique techniqueOf(const Job &job, JobScheduler scheduler)
{
    if (job.technique != JobTechnique::Auto && job.technique != JobTechnique::ShardParallel)
        return job.technique;
    switch (scheduler) {
    case JobScheduler::ModelParallel:
        return JobTechnique::ModelParallel;
    case JobScheduler::TaskParallel:
        return JobTechnique::DataParallel;
    case JobScheduler::ZeroOffload:
        return JobTechnique::ZeroOffload;
    default:
        return JobTechnique::Pipeline;
    }
}

GangPlans gangPlans(const JobWorkloads &jobs, const Job &job, const ModelSpec &model, JobTechnique technique)
{
    Maker maker(jobs, job);
    for (const GpuList &list : gpuLists(jobs, job)) {
        if (technique == JobTechnique::ModelParallel)
            addModelParallel(maker, jobs, list, model.layers);
        else if (technique == JobTechnique::ZeroOffload)
            addOffloaded(maker, list);
        else
            addPipelines(maker, list, model.layers);
    }
    return maker.finish();
}

GangPlans copyPlans(const JobWorkloads &jobs, const Job &job, int most)
{
    Maker maker(jobs, job);
    for (const GpuList &list : gpuLists(jobs, job)) {
        const StageLocation first = jobs.gpus[std::size_t(list.front())], last = jobs.gpus[std::size_t(list.back())];
        if (!(first == last))
            continue; // copies are alike
        for (const int copies : divisors(job.batch, kMostMicroBatchCounts)) {
            if (copies > int(list.size()) || (job.gpus ? copies != *job.gpus : copies > std::max(1, most)))
                continue;
            maker.add(list, copies, copies == 1 ? "whole on one GPU" : std::to_string(copies) + " data-parallel copies",
                [&](Plan &plan) {
                    plan.parallelism.data = copies;
                    plan.workload.microBatch = job.batch / copies;
                });
        }
    }
    GangPlans plans = maker.finish();
    plans.ifNoneFits.clear(); // whole: with all activations
    return plans;
}

} // namespace trainyard

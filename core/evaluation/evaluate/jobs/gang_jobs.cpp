// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/jobs/gang_jobs.h"

#include "core/base/words.h"
#include "core/evaluation/evaluate/jobs/gang_choice.h"
#include "core/evaluation/evaluate/jobs/gang_plans.h"
#include "core/iteration/memory/off_gpu.h"
#include "core/iteration/placement/degrees.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

/// Iterations simulated for all jobs together, and for each that is unlike the others.
constexpr int kMostScoresInAll = 1200, kMostScores = 12, kLeastScores = 3;

struct Found { // how jobs run that are alike
    std::vector<GangFormPtr> forms;
    std::string why;
    std::shared_ptr<const GpuList> reserved;
};

/// What the way to run a job depends on: grids have many that are alike.
auto likeness(const JobWorkload &of)
{
    const Job &job = of.job;
    return std::tuple(job.model, job.batch, job.sequenceLength, job.precision, job.optimizer, job.technique,
        job.gpus.value_or(0), job.pinnedGpus, job.unitMs);
}
using Likeness = decltype(likeness(std::declval<const JobWorkload &>()));

class Finder {
public:
    Finder(JobWorkloads &jobs, const RunContext &context)
        : m_jobs(jobs)
        , m_context(context)
        , m_scheduler(jobs.plan->jobScheduler)
    {
        std::map<Likeness, int> kinds;
        for (const JobWorkload &job : jobs.jobs)
            if (!job.job.paused) {
                ++m_runnable;
                ++kinds[likeness(job)];
            }
        m_scores = std::clamp(kMostScoresInAll / std::max(1, int(kinds.size())), kLeastScores, kMostScores);
    }

    ExpectedAll<std::vector<GangJob>> find()
    {
        std::vector<GangJob> gangs;
        for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i) {
            JobWorkload &job = m_jobs.jobs[i];
            if (job.job.paused)
                continue;
            auto found = m_found.find(likeness(job));
            if (found == m_found.end()) {
                auto made = formsOf(job);
                if (!made)
                    return std::unexpected(std::move(made.error()));
                found = m_found.emplace(likeness(job), std::move(*made)).first;
            }
            job.why = found->second.why;
            if (job.why.empty())
                gangs.push_back({ int(i), found->second.forms, found->second.reserved });
        }
        std::ranges::stable_sort(
            gangs, std::greater {}, [&](const GangJob &g) { return m_jobs.jobs[std::size_t(g.job)].job.priority; });
        return gangs;
    }

private:
    /// GPUs that a job leaves are there for the others.
    [[nodiscard]] bool isShared() const { return m_scheduler == JobScheduler::TaskParallel; }

    ExpectedAll<Found> formsOf(const JobWorkload &of)
    {
        const Job &job = of.job;
        Found found;
        const GpuList allowed = allowedGpus(m_jobs, job);
        if (allowed.empty()) {
            found.why = "it is pinned to GPUs that the cluster does not have";
            return found;
        }
        const JobTechnique technique = techniqueOf(job, m_scheduler);
        if (technique == JobTechnique::DataParallel && isShared())
            return copies(of, allowed);
        const GangPlans plans = technique == JobTechnique::DataParallel ? copyPlans(m_jobs, job, int(allowed.size()))
                                                                        : gangPlans(m_jobs, job, of.model, technique);
        if (plans.plans.empty()) {
            found.why = noWay(job);
            return found;
        }
        auto choice = fastestThatFits(plans.plans, job.unitMs, m_scores, m_context);
        if (choice && !choice->plan && !plans.ifNoneFits.empty()) {
            auto again = fastestThatFits(plans.ifNoneFits, job.unitMs, m_scores, m_context);
            choice = std::move(again);
        }
        if (!choice)
            return std::unexpected(std::move(choice.error()));
        found.why = choice->why;
        if (!choice->plan)
            return found;
        const auto form = std::make_shared<const GangForm>(formOf(*choice, plans, technique));
        found.forms.push_back(form);
        GpuList reserved = isShared() ? GpuList {} : allowed;
        if (form->hostBytes > 0) // nor do others fill the hosts that its states lie in, which it was judged alone on
            reserved = with(std::move(reserved), allOfItsNodes(form->gpus));
        if (!reserved.empty())
            found.reserved = std::make_shared<const GpuList>(std::move(reserved));
        return found;
    }

    [[nodiscard]] static std::string noWay(const Job &job)
    {
        return job.gpus ? "it cannot be shared out over " + counted(*job.gpus, "GPU") + " as asked"
                        : "no number of GPUs that it may use is right for it";
    }

    /// Both ascending.
    [[nodiscard]] static GpuList with(const GpuList &some, const GpuList &others)
    {
        GpuList all;
        std::ranges::set_union(some, others, std::back_inserter(all));
        return all;
    }

    [[nodiscard]] GpuList allOfItsNodes(const GpuList &gpus) const
    {
        std::set<int> nodes;
        for (const int gpu : gpus)
            nodes.insert(nodeOf(gpu));
        GpuList all;
        for (int gpu = 0; gpu < int(m_jobs.gpus.size()); ++gpu)
            if (nodes.contains(nodeOf(gpu)))
                all.push_back(gpu);
        return all;
    }

    /// On each kind of GPU the fastest, and whole on one of them where that takes several.
    ExpectedAll<Found> copies(const JobWorkload &of, const GpuList &allowed)
    {
        Found found;
        const int most = of.job.unitMs.empty() ? int(allowed.size()) / std::max(1, m_runnable) : 1;
        const GangPlans plans = copyPlans(m_jobs, of.job, most);
        const auto kindOf = [&](const GangPlan &plan) { return m_jobs.gpus[std::size_t(plan.gpus.front())]; };
        std::vector<StageLocation> kinds;
        for (const GangPlan &plan : plans.plans)
            if (std::ranges::find(kinds, kindOf(plan)) == kinds.end())
                kinds.push_back(kindOf(plan));
        for (const bool single : { false, true })
            for (const StageLocation &kind : kinds) {
                std::vector<GangPlan> here;
                for (const GangPlan &plan : plans.plans)
                    if (kindOf(plan) == kind && (plan.gpus.size() == 1) == single)
                        here.push_back(plan);
                if (here.empty())
                    continue;
                auto choice = fastestThatFits(here, of.job.unitMs, m_scores, m_context);
                if (!choice)
                    return std::unexpected(std::move(choice.error()));
                if (!choice->plan) {
                    found.why = choice->why;
                    continue;
                }
                GangForm form = formOf(*choice, plans, JobTechnique::DataParallel);
                form.gpus.clear();
                for (const int gpu : allowed)
                    if (m_jobs.gpus[std::size_t(gpu)] == kind)
                        form.gpus.push_back(gpu);
                const GpuList &took = choice->plan->gpus;
                form.isInNode = nodeOf(took.front()) == nodeOf(took.back());
                found.forms.push_back(std::make_shared<const GangForm>(std::move(form)));
            }
        // The fastest of which GPUs are free is taken; of equally fast ones the first.
        std::ranges::stable_sort(found.forms, {}, &GangForm::minibatch);
        if (!found.forms.empty())
            found.why.clear();
        else if (found.why.empty())
            found.why = noWay(of.job);
        return found;
    }

    [[nodiscard]] int nodeOf(int gpu) const { return m_jobs.set.gpus[std::size_t(gpu)].node; }

    /// On whichever node it is most: counted where none says what it has, too.
    [[nodiscard]] std::int64_t hostBytesOf(const Evaluation &judged) const
    {
        auto asked = resolve(judged.plan, m_context.catalogue);
        if (!asked || !judged.metrics.memory)
            return 0;
        const Workload workload(*std::move(asked), judged.layout);
        double most = 0;
        for (const HostMemory &node : hostMemory(workload, judged.metrics.memory->perStage))
            most = std::max(most, node.total());
        return wholeBytes(most);
    }

    [[nodiscard]] GangForm formOf(const GangChoice &choice, const GangPlans &plans, JobTechnique technique) const
    {
        GangForm form;
        form.technique = technique;
        form.name = choice.plan->name;
        form.gpus = choice.plan->gpus;
        form.width = int(form.gpus.size());
        form.plan = choice.evaluation->plan;
        form.isMeasured = choice.evaluation != choice.judged;
        const Metrics &metrics = choice.evaluation->metrics;
        form.minibatch = std::max<Nanoseconds>(1, toNanoseconds(Seconds { *metrics.iterationTime }));
        form.busyShare = metrics.gpuUtilization.value_or(1);
        form.places = placesOn(choice.evaluation->layout, plans.parts[std::size_t(choice.plan->part)], form.gpus,
            degreesOf(*form.plan).context);
        if (const auto &memory = choice.judged->metrics.memory)
            form.memory = memory->perStage;
        form.hostBytes = hostBytesOf(*choice.judged);
        return form;
    }

    JobWorkloads &m_jobs;
    const RunContext &m_context;
    const JobScheduler m_scheduler;
    int m_runnable = 0, m_scores = kMostScores;
    std::map<Likeness, Found> m_found;
};

} // namespace

ExpectedAll<std::vector<GangJob>> gangJobs(JobWorkloads &jobs, const RunContext &context)
{
    return Finder(jobs, context).find();
}

} // namespace trainyard

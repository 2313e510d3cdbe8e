// SPDX-License-Identifier: GPL-3.0-or-later
// How the models of jobs are cut, for whom and by which GPUs, and where the only job that can run lies.
#include "core/facts/plan/job_schedulers.h"
#include "core/iteration/job_shards/job_places.h"
#include "core/iteration/job_shards/join_nodes.h"
#include "core/iteration/job_shards/resolve_jobs_internal.h"
#include "core/systems/jobs/served.h"

#include <algorithm>

namespace trainyard {

void JobResolver::makeSpecs(bool isDealt)
{
    group();
    cut(isDealt);
    if (m_errors.empty() && !isDealt && isByShards(m_plan.jobScheduler)) {
        if (leaveOutNeverHeld()) {
            forgetCuts();
            group();
            cut(isDealt);
        }
        joinNodesWorthIt(m_jobs, m_groups, m_cuts, m_kinds, rulesOfCut(isDealt));
    }
    if (m_errors.empty())
        addSpecs();
}

void JobResolver::forgetCuts()
{
    m_groups.clear();
    m_groupOf.clear();
    m_specs.clear();
}

bool JobResolver::leaveOutNeverHeld()
{
    double most = 0;
    for (const JobNode &node : m_jobs.set.nodes)
        most = std::max(most, node.memory);
    m_isNeverHeld.assign(m_jobs.jobs.size(), 0);
    for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i)
        m_isNeverHeld[i] = !m_jobs.jobs[i].shards.empty() && modelledSpec(m_groupOf[i]).hostPeak() > most;
    return std::ranges::find(m_isNeverHeld, 1) != m_isNeverHeld.end();
}

void JobResolver::placeLone()
{
    Served served(m_jobs.set);
    std::vector<std::size_t> running;
    for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i)
        if (m_jobs.jobs[i].specIndex >= 0) {
            const JobSpec &spec = m_jobs.set.jobs[std::size_t(m_jobs.jobs[i].specIndex)];
            JobSpec anywhere = spec;
            anywhere.node = -1;
            if (served.runs(spec, served.likeOf(spec)) || served.runs(anywhere, served.likeOf(anywhere)))
                running.push_back(i);
        }
    if (running.size() != 1 || m_jobs.minibatchesPerSpan == 0)
        return;
    const std::size_t lone = running.front(), group = m_groupOf[lone];
    const auto with = [&](const ModelCut &cut) {
        m_cuts[group] = cut;
        m_specs.clear();
        return specOf(lone);
    };
    const ModelCut before = m_cuts[group];
    const CutRules rules = rulesOfCut(false);
    const JobRules run = trainyard::rulesOf(m_plan.jobScheduler, m_plan.jobOptions);
    const auto choice =
        chooseLone({ m_groups[group], with, lonePlaces(m_jobs, pinsOf(m_jobs.jobs[lone].job), m_kinds) }, m_kinds,
            rules, m_jobs.set, run);
    JobSpec now = with(before);
    now.arrival = 0;
    now.node = m_jobs.set.jobs[std::size_t(m_jobs.jobs[lone].specIndex)].node;
    std::vector<JobSpec> all { std::move(now) };
    std::swap(all, m_jobs.set.jobs);
    SimulationWorkspace workspace;
    JobRules ruled = run;
    ruled.scheduler = run.scheduler == JobScheduler::ShardMilp ? JobScheduler::ShardedLrtf : run.scheduler;
    const double seconds = loneSeconds(m_jobs.set, ruled, workspace);
    std::swap(all, m_jobs.set.jobs);
    if (choice && choice->seconds <= seconds)
        take(*choice, lone);
}

void JobResolver::take(const LoneChoice &choice, std::size_t lone)
{
    JobSet &set = m_jobs.set;
    const auto siteOf = [&](int node) { return set.nodes[std::size_t(node)].site; };
    const JobGpu &gpu = set.gpus[std::size_t(choice.place.gpu)];
    if (siteOf(choice.place.node) != siteOf(gpu.node))
        joinNodes(m_jobs, *m_jobs.cluster, m_jobs.gpus[std::size_t(choice.place.gpu)].datacenter);
    m_nodeOf.assign(m_jobs.jobs.size(), -1);
    for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i)
        if (m_jobs.jobs[i].specIndex >= 0)
            m_nodeOf[i] = set.jobs[std::size_t(m_jobs.jobs[i].specIndex)].node;
    m_nodeOf[lone] = choice.place.node;
    m_loneGpu = { lone, choice.place.gpu };
    m_cuts[m_groupOf[lone]] = choice.cut;
    m_jobs.leftOut.assign(m_kinds.size(), 0);
    m_specs.clear();
    set.jobs.clear();
    takeShards(lone);
    addSpecs();
}

void JobResolver::cutForSites()
{
    std::vector<std::vector<int>> gpus(m_jobs.set.nodes.size(), std::vector<int>(m_kinds.size())); // [site][kind]
    const auto siteOf = [&](int node) { return std::size_t(m_jobs.set.nodes[std::size_t(node)].site); };
    for (const JobGpu &gpu : m_jobs.set.gpus)
        ++gpus[siteOf(gpu.node)][std::size_t(gpu.kind)];
    m_nodeOf.assign(m_jobs.jobs.size(), -1);
    Served served(m_jobs.set);
    for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i) {
        if (m_jobs.jobs[i].specIndex < 0)
            continue;
        const JobSpec &spec = m_jobs.set.jobs[std::size_t(m_jobs.jobs[i].specIndex)];
        m_nodeOf[i] = spec.node;
        if (!served.runs(spec, served.likeOf(spec)))
            continue;
        const std::size_t site = siteOf(spec.node);
        if (spec.gpus.empty()) {
            m_mayRun[i] = gpus[site];
            continue;
        }
        m_mayRun[i].assign(m_kinds.size(), 0);
        for (const int gpu : spec.gpus)
            if (const JobGpu &of = m_jobs.set.gpus[std::size_t(gpu)]; siteOf(of.node) == site)
                ++m_mayRun[i][std::size_t(of.kind)];
    }
    forgetCuts();
    m_jobs.set.jobs.clear();
    makeSpecs(true);
}

void JobResolver::group()
{
    std::map<std::tuple<ShardModel *, std::vector<int>, std::size_t, bool>, std::size_t> known;
    for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i) {
        const Job &job = m_jobs.jobs[i].job;
        const auto [at, isNew] =
            known.try_emplace({ m_shapeOf[i], m_mayRun[i], job.unitMs.size(), isNeverHeld(i) }, m_groups.size());
        if (isNew)
            m_groups.push_back({ m_shapeOf[i], m_mayRun[i], job.unitMs.size(), 0, 0 });
        CutGroup &group = m_groups[at->second];
        group.minibatches += counts(i) ? minibatchesOf(job) : 0;
        group.longest = std::max(group.longest, counts(i) ? minibatchesOf(job) : 0);
        m_groupOf.push_back(at->second);
    }
}

CutRules JobResolver::rulesOfCut(bool isDealt) const
{
    const JobOptions &options = m_plan.jobOptions;
    std::size_t running = 0;
    for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i)
        running += counts(i);
    return { options.doubleBuffer, options.spill, !options.spill || running <= m_jobs.set.gpus.size(),
        m_jobs.set.isFullDuplex, isDealt };
}

void JobResolver::cut(bool isDealt)
{
    const JobOptions &options = m_plan.jobOptions;
    Cuts cuts = chooseCuts(m_groups, m_kinds, rulesOfCut(isDealt));
    m_cuts = std::move(cuts.groups);
    m_jobs.leftOut.assign(m_kinds.size(), 0);
    for (const ModelCut &of : m_cuts)
        for (std::size_t kind = 0; kind < of.leftOut.size(); ++kind)
            m_jobs.leftOut[kind] |= of.leftOut[kind];
    for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i) {
        JobWorkload &of = m_jobs.jobs[i];
        const ModelCut &cut = m_cuts[m_groupOf[i]];
        of.isMeasured = !of.job.unitMs.empty();
        of.why = cut.why;
        if (!of.job.pinnedGpus.empty() && pinsOf(of.job).empty())
            of.why = "it is pinned to GPUs that the cluster does not have";
        else if (of.isMeasured && options.spill && cut.shards.empty())
            fail({ ErrorCode::BadValue, keyOf(i, "unit_ms"), cut.why,
                "the times of 2K - 1 units for K shards that fit a GPU" });
        takeShards(i);
    }
}

void JobResolver::takeShards(std::size_t job)
{
    JobWorkload &of = m_jobs.jobs[job];
    of.shards.clear();
    if (of.why.empty())
        for (const Pieces shard : m_cuts[m_groupOf[job]].shards)
            of.shards.push_back(m_shapeOf[job]->cut(shard));
}

const JobSpec &JobResolver::modelledSpec(std::size_t group)
{
    m_specs.resize(m_groups.size());
    JobSpec &spec = m_specs[group];
    if (!spec.units.empty())
        return spec;
    const ModelCut &cut = m_cuts[group];
    ShardModel &model = *m_groups[group].model;
    spec.units = unitsOf(model, cut.shards);
    spec.seconds.resize(m_kinds.size());
    for (std::size_t kind = 0; kind < m_kinds.size(); ++kind)
        if (cut.kinds[kind])
            spec.seconds[kind] = unitSecondsOf(model, cut.shards, kind);
    for (const Pieces shard : cut.shards)
        spec.hostBytes += model.bytes(shard).states;
    spec.hostBoundaries = mostBoundaries(spec.units);
    return spec;
}

} // namespace trainyard

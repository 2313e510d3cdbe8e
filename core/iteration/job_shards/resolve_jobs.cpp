// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/job_shards/job_workloads.h"

#include "core/base/words.h"
#include "core/facts/plan/job_plan.h"
#include "core/facts/plan/job_schedulers.h"
#include "core/facts/plan/validate.h"
#include "core/iteration/job_shards/coarse_units.h"
#include "core/iteration/job_shards/job_places.h"
#include "core/iteration/job_shards/join_nodes.h"
#include "core/iteration/placement/resolve_model.h"
#include "core/systems/jobs/run_jobs.h"
#include "core/systems/jobs/served.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace trainyard {

namespace {

PlanPtr planOf(const Plan &plan, const Job &job, const ModelSpec &model)
{
    Plan own = planOfJob(plan, job);
    own.workload.inlineModel = model;
    own.parallelism.zeroStage = 0;
    return std::make_shared<const Plan>(std::move(own));
}

class Resolver {
public:
    Resolver(const PlanPtr &plan, const Catalogue &catalogue)
        : m_plan(*plan)
        , m_catalogue(catalogue)
    {
        m_jobs.plan = plan;
    }

    ExpectedAll<JobWorkloads> resolve()
    {
        for (Error &error : validatePlan(m_plan))
            if (error.where.starts_with("job"))
                m_errors.push_back(std::move(error));
        if (!m_errors.empty())
            return std::unexpected(std::move(m_errors));
        for (Job &job : allJobs(m_plan))
            m_jobs.jobs.push_back({ std::move(job), {}, {}, {}, -1, false });
        resolveModels();
        if (m_errors.empty())
            addCluster();
        if (m_errors.empty())
            addShapes();
        if (m_errors.empty())
            addGpus();
        if (m_errors.empty())
            makeSpecs(false);
        if (m_errors.empty() && isByShards(m_plan.jobScheduler)) {
            dealJobs(m_jobs.set);
            if (m_kinds.size() > 1)
                cutForSites();
        }
        if (!m_errors.empty())
            return std::unexpected(std::move(m_errors));
        return std::move(m_jobs);
    }

private:
    using ShapeKey = std::tuple<std::string, int, int, Precision, Optimizer>;

    [[nodiscard]] std::string keyOf(std::size_t job, const std::string &key) const
    {
        return job < m_plan.jobs.size() ? "jobs[" + std::to_string(job) + "]." + key : "job_grid." + key;
    }

    void fail(Error error)
    {
        if (std::ranges::find(m_errors, error) == m_errors.end())
            m_errors.push_back(std::move(error));
    }

    void resolveModels()
    {
        std::map<std::string, Expected<ModelSpec>> known;
        for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i) {
            JobWorkload &workload = m_jobs.jobs[i];
            auto found = known.find(workload.job.model);
            if (found == known.end())
                found = known.emplace(workload.job.model, resolveModel(workload.job.model, m_plan.baseDir, m_catalogue))
                            .first;
            if (found->second) {
                workload.model = *found->second;
                continue;
            }
            Error error = found->second.error();
            if (error.code == ErrorCode::UnknownName || error.where.empty() || error.where.starts_with("workload"))
                error.where = keyOf(i, "model");
            fail(std::move(error));
        }
    }

    ExpectedAll<Workload> workloadOf(const JobWorkload &of) const
    {
        return trainyard::resolve(planOf(m_plan, of.job, of.model), m_catalogue);
    }

    void addErrors(std::size_t job, Errors errors)
    {
        for (Error &error : errors) {
            if (error.where.starts_with("workload."))
                error.where = keyOf(job, error.where.substr(std::string_view("workload.").size()));
            fail(std::move(error));
        }
    }

    void addCluster()
    {
        auto workload = workloadOf(m_jobs.jobs.front());
        if (!workload)
            return addErrors(0, std::move(workload.error()));
        auto cluster = std::make_shared<const Workload>(std::move(*workload));
        m_jobs.cluster = cluster;
        auto kinds = addPlaces(m_jobs, *cluster);
        if (!kinds)
            return fail(std::move(kinds.error()));
        m_kindPlaces = std::move(*kinds);
        m_kinds.resize(m_kindPlaces.size());
        std::vector<char> isKnown(m_kinds.size());
        for (std::size_t gpu = 0; gpu < m_jobs.set.gpus.size(); ++gpu) {
            const JobGpu &of = m_jobs.set.gpus[gpu];
            const auto kind = std::size_t(of.kind);
            if (std::exchange(isKnown[kind], 1))
                continue;
            m_kinds[kind].memory = of.memory;
            m_kinds[kind].toGpu = m_kinds[kind].toHost = hostRates(*cluster, m_jobs.gpus[gpu]).own;
        }
    }

    void addShapes()
    {
        for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i) {
            const JobWorkload &of = m_jobs.jobs[i];
            const Job &job = of.job;
            const ShapeKey key { job.model, job.batch, job.sequenceLength, job.precision, job.optimizer };
            const auto [shape, isNew] = m_shapes.try_emplace(key);
            if (isNew && !m_kindPlaces.empty()) {
                auto workload = workloadOf(of);
                if (!workload) {
                    addErrors(i, std::move(workload.error()));
                    continue;
                }
                shape->second = std::make_unique<ShardModel>(std::move(*workload), m_kindPlaces);
            }
            m_shapeOf.push_back(shape->second.get());
        }
    }

    /// Those that exist, ascending.
    [[nodiscard]] std::vector<int> pinsOf(const Job &job) const
    {
        std::vector<int> pins;
        for (const int gpu : job.pinnedGpus)
            if (gpu >= 0 && std::size_t(gpu) < m_jobs.set.gpus.size())
                pins.push_back(gpu);
        std::ranges::sort(pins);
        return pins;
    }

    /// `isDealt`: each job is cut for GPUs that reach its host.
    void makeSpecs(bool isDealt)
    {
        group();
        cut(isDealt);
        if (m_errors.empty())
            addSpecs();
    }

    /// Where GPUs differ: jobs are dealt to hosts by what the smallest GPU of all makes of them, and then cut anew for
    /// the GPUs there.
    void cutForSites()
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
        m_groups.clear();
        m_groupOf.clear();
        m_specs.clear();
        m_jobs.set.jobs.clear();
        makeSpecs(true);
    }

    /// Before a job has a host it may run anywhere.
    void addGpus()
    {
        std::vector<int> all(m_kinds.size());
        for (const JobGpu &gpu : m_jobs.set.gpus)
            ++all[std::size_t(gpu.kind)];
        for (const JobWorkload &of : m_jobs.jobs) {
            std::vector<int> &gpus =
                m_mayRun.emplace_back(of.job.pinnedGpus.empty() ? all : std::vector<int>(m_kinds.size()));
            for (const int gpu : pinsOf(of.job))
                ++gpus[std::size_t(m_jobs.set.gpus[std::size_t(gpu)].kind)];
        }
    }

    void group()
    {
        std::map<std::tuple<ShardModel *, std::vector<int>, std::size_t>, std::size_t> known;
        for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i) {
            const Job &job = m_jobs.jobs[i].job;
            const auto [at, isNew] =
                known.try_emplace({ m_shapeOf[i], m_mayRun[i], job.unitMs.size() }, m_groups.size());
            if (isNew)
                m_groups.push_back({ m_shapeOf[i], m_mayRun[i], job.unitMs.size(), 0, 0 });
            CutGroup &group = m_groups[at->second];
            group.minibatches += job.paused ? 0 : minibatchesOf(job);
            group.longest = std::max(group.longest, job.paused ? 0 : minibatchesOf(job));
            m_groupOf.push_back(at->second);
        }
    }

    static double minibatchesOf(const Job &job) { return double(job.minibatches) * job.epochs; }

    void cut(bool isDealt)
    {
        const JobOptions &options = m_plan.jobOptions;
        const auto running = std::ranges::count_if(m_jobs.jobs, [](const JobWorkload &of) { return !of.job.paused; });
        const CutRules rules { options.doubleBuffer, options.spill,
            !options.spill || std::size_t(running) <= m_jobs.set.gpus.size(), m_jobs.set.isFullDuplex, isDealt };
        Cuts cuts = chooseCuts(m_groups, m_kinds, rules);
        m_jobs.leftOut.assign(m_kinds.size(), 0);
        for (const ModelCut &of : cuts.groups)
            for (std::size_t kind = 0; kind < of.leftOut.size(); ++kind)
                m_jobs.leftOut[kind] |= of.leftOut[kind];
        for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i) {
            JobWorkload &of = m_jobs.jobs[i];
            const ModelCut &cut = cuts.groups[m_groupOf[i]];
            of.isMeasured = !of.job.unitMs.empty();
            of.why = cut.why;
            of.shards.clear();
            if (!of.job.pinnedGpus.empty() && pinsOf(of.job).empty())
                of.why = "it is pinned to GPUs that the cluster does not have";
            else if (of.isMeasured && options.spill && cut.shards.empty())
                fail({ ErrorCode::BadValue, keyOf(i, "unit_ms"), cut.why,
                    "the times of 2K - 1 units for K shards that fit a GPU" });
            if (of.why.empty())
                for (const Pieces shard : cut.shards)
                    of.shards.push_back(m_shapeOf[i]->cut(shard));
        }
        m_cuts = std::move(cuts.groups);
        if (!isDealt && isByShards(m_plan.jobScheduler))
            joinNodesWorthIt(m_jobs, m_groups, m_cuts, m_kinds, rules);
    }

    void addSpecs()
    {
        m_jobs.set.jobs.reserve(m_jobs.jobs.size());
        for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i) {
            JobWorkload &of = m_jobs.jobs[i];
            if (of.job.paused || of.shards.empty())
                continue;
            of.specIndex = int(m_jobs.set.jobs.size());
            m_jobs.set.jobs.push_back(specOf(i));
        }
        if (!(longestRun(m_jobs.set) < toSeconds(kLongestTime).value))
            return failTooLong();
        m_jobs.minibatchesPerSpan = takeTogether(m_jobs.set, kMostUnits);
        if (!m_plan.jobOptions.spill)
            for (JobSpec &job : m_jobs.set.jobs)
                job.minibatchesPerUnit = 1; // its states come once and go once, however many it has
        if (m_jobs.minibatchesPerSpan == 0)
            fail({ ErrorCode::OutOfRange, m_plan.jobs.empty() ? "job_grid" : "jobs",
                "one mini-batch of every job makes more units of work than can be planned",
                "at most " + plainNumber(kMostUnits) });
    }

    JobSpec specOf(std::size_t index)
    {
        const JobWorkload &of = m_jobs.jobs[index];
        JobSpec spec = modelledSpec(m_groupOf[index]);
        spec.name = of.job.name;
        const bool isOne = !m_plan.jobOptions.spill; // unit of all that was measured
        for (std::vector<double> &seconds : spec.seconds)
            for (std::size_t unit = 0; unit < seconds.size() && of.isMeasured; ++unit)
                seconds[unit] =
                    (isOne ? std::accumulate(of.job.unitMs.begin(), of.job.unitMs.end(), 0.0) : of.job.unitMs[unit])
                    / 1e3;
        spec.minibatches = std::int64_t(of.job.minibatches) * of.job.epochs;
        spec.arrival = of.job.arrivalS;
        spec.priority = of.job.priority;
        spec.gpus = pinsOf(of.job);
        spec.node = m_nodeOf.empty() ? -1 : m_nodeOf[index];
        return spec;
    }

    /// What jobs that are cut alike share.
    const JobSpec &modelledSpec(std::size_t group)
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

    /// Names what is most of it: one job's mini-batches, or its arrival.
    void failTooLong()
    {
        const char *key = "minibatches";
        std::size_t longest = 0;
        double most = 0;
        for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i) {
            if (m_jobs.jobs[i].specIndex < 0)
                continue;
            JobSet alone;
            alone.routes = m_jobs.set.routes;
            alone.jobs = { m_jobs.set.jobs[std::size_t(m_jobs.jobs[i].specIndex)] };
            const double arrival = std::exchange(alone.jobs.front().arrival, 0), work = longestRun(alone);
            if (std::max(arrival, work) <= most)
                continue;
            most = std::max(arrival, work);
            longest = i;
            key = arrival > work ? "arrival_s" : "minibatches";
        }
        fail({ ErrorCode::OutOfRange, keyOf(longest, key),
            "all jobs one after the other, from the last arrival on, may take longer than a plan can",
            "less than 31 years in all" });
    }

    const Plan &m_plan;
    const Catalogue &m_catalogue;
    JobWorkloads m_jobs;
    Errors m_errors;
    std::vector<StageLocation> m_kindPlaces;
    std::vector<CutKind> m_kinds;
    std::map<ShapeKey, std::unique_ptr<ShardModel>> m_shapes;
    std::vector<ShardModel *> m_shapeOf; // [job]
    std::vector<std::vector<int>> m_mayRun; // [job][kind]: GPUs
    std::vector<int> m_nodeOf; // [job]: whose host holds it; empty: nobody has said yet
    std::vector<CutGroup> m_groups;
    std::vector<std::size_t> m_groupOf; // [job]
    std::vector<ModelCut> m_cuts; // [group]
    std::vector<JobSpec> m_specs; // [group]
};

} // namespace

ExpectedAll<JobWorkloads> resolveJobs(const PlanPtr &plan, const Catalogue &catalogue)
{
    return Resolver(plan, catalogue).resolve();
}

} // namespace trainyard

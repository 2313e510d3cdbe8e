// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/job_shards/resolve_jobs_internal.h"

#include "core/base/words.h"
#include "core/facts/plan/job_plan.h"
#include "core/facts/plan/job_schedulers.h"
#include "core/facts/plan/validate.h"
#include "core/iteration/job_shards/coarse_units.h"
#include "core/iteration/job_shards/job_places.h"
#include "core/iteration/placement/resolve_model.h"
#include "core/systems/jobs/run_jobs.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

namespace {

PlanPtr planOf(const Plan &plan, const Job &job, const ModelSpec &model)
{
    Plan own = planOfJob(plan, job);
    own.workload.inlineModel = model;
    own.parallelism.zeroStage = 0;
    return std::make_shared<const Plan>(std::move(own));
}

} // namespace

JobResolver::JobResolver(const PlanPtr &plan, const Catalogue &catalogue)
    : m_plan(*plan)
    , m_catalogue(catalogue)
{
    m_jobs.plan = plan;
}

ExpectedAll<JobWorkloads> JobResolver::resolve()
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
        if (m_errors.empty())
            placeLone();
    }
    if (m_errors.empty() && !(longestRun(m_jobs.set) < toSeconds(kLongestTime).value)) // of the cut that is run
        failTooLong();
    if (!m_errors.empty())
        return std::unexpected(std::move(m_errors));
    return std::move(m_jobs);
}

std::string JobResolver::keyOf(std::size_t job, const std::string &key) const
{
    return job < m_plan.jobs.size() ? "jobs[" + std::to_string(job) + "]." + key : "job_grid." + key;
}

void JobResolver::fail(Error error)
{
    if (std::ranges::find(m_errors, error) == m_errors.end())
        m_errors.push_back(std::move(error));
}

void JobResolver::resolveModels()
{
    std::map<std::string, Expected<ModelSpec>> known;
    for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i) {
        JobWorkload &workload = m_jobs.jobs[i];
        auto found = known.find(workload.job.model);
        if (found == known.end())
            found =
                known.emplace(workload.job.model, resolveModel(workload.job.model, m_plan.baseDir, m_catalogue)).first;
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

ExpectedAll<Requested> JobResolver::workloadOf(const JobWorkload &of) const
{
    return trainyard::resolve(planOf(m_plan, of.job, of.model), m_catalogue);
}

void JobResolver::addErrors(std::size_t job, Errors errors)
{
    for (Error &error : errors) {
        if (error.where.starts_with("workload."))
            error.where = keyOf(job, error.where.substr(std::string_view("workload.").size()));
        fail(std::move(error));
    }
}

void JobResolver::addCluster()
{
    auto workload = workloadOf(m_jobs.jobs.front());
    if (!workload)
        return addErrors(0, std::move(workload.error()));
    auto cluster = std::make_shared<const Requested>(std::move(*workload));
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

void JobResolver::addShapes()
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
            shape->second = std::make_unique<ShardModel>(*workload, m_kindPlaces);
        }
        m_shapeOf.push_back(shape->second.get());
    }
}

std::vector<int> JobResolver::pinsOf(const Job &job) const
{
    std::vector<int> pins;
    for (const int gpu : job.pinnedGpus)
        if (gpu >= 0 && std::size_t(gpu) < m_jobs.set.gpus.size())
            pins.push_back(gpu);
    std::ranges::sort(pins);
    return pins;
}

void JobResolver::addGpus()
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

void JobResolver::addSpecs()
{
    m_jobs.set.jobs.reserve(m_jobs.jobs.size());
    for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i) {
        JobWorkload &of = m_jobs.jobs[i];
        if (of.job.paused || of.shards.empty())
            continue;
        of.specIndex = int(m_jobs.set.jobs.size());
        m_jobs.set.jobs.push_back(specOf(i));
    }
    m_jobs.minibatchesPerSpan = takeTogether(m_jobs.set, kMostUnits);
    if (!m_plan.jobOptions.spill)
        for (JobSpec &job : m_jobs.set.jobs)
            job.minibatchesPerUnit = 1; // its states come once and go once, however many it has
    if (m_jobs.minibatchesPerSpan == 0)
        fail({ ErrorCode::OutOfRange, m_plan.jobs.empty() ? "job_grid" : "jobs",
            "one mini-batch of every job makes more units of work than can be planned",
            "at most " + plainNumber(kMostUnits) });
}

JobSpec JobResolver::specOf(std::size_t index)
{
    const JobWorkload &of = m_jobs.jobs[index];
    JobSpec spec = modelledSpec(m_groupOf[index]);
    spec.name = of.job.name;
    const bool isOne = !m_plan.jobOptions.spill; // unit of all that was measured
    for (std::vector<double> &seconds : spec.seconds)
        for (std::size_t unit = 0; unit < seconds.size() && of.isMeasured; ++unit)
            seconds[unit] =
                (isOne ? std::accumulate(of.job.unitMs.begin(), of.job.unitMs.end(), 0.0) : of.job.unitMs[unit]) / 1e3;
    spec.minibatches = std::int64_t(of.job.minibatches) * of.job.epochs;
    spec.arrival = of.job.arrivalS;
    spec.priority = of.job.priority;
    spec.gpus = m_loneGpu && m_loneGpu->first == index ? std::vector { m_loneGpu->second } : pinsOf(of.job);
    spec.node = m_nodeOf.empty() ? -1 : m_nodeOf[index];
    return spec;
}

void JobResolver::failTooLong()
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

ExpectedAll<JobWorkloads> resolveJobs(const PlanPtr &plan, const Catalogue &catalogue)
{
    return JobResolver(plan, catalogue).resolve();
}

} // namespace trainyard

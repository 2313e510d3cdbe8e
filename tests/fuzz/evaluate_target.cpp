// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/evaluate_target.h"

#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/report/metrics_json.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan_io.h"

#include <cmath>

namespace trainyard::fuzz {

namespace {

bool isFile(const std::string &model)
{
    return model.find_first_of("/\\.") != std::string::npos && model.ends_with(".json");
}

/// Few jobs of a few mini-batches, and no solver, which would take its time.
bool hasFewJobs(const Plan &plan)
{
    if (plan.jobScheduler == JobScheduler::ShardMilp || jobCount(plan) > 16)
        return !hasJobs(plan);
    double minibatches = 0;
    for (const Job &job : allJobs(plan)) {
        if (isFile(job.model) || job.sequenceLength > 1 << 20)
            return false;
        minibatches += double(job.minibatches) * job.epochs;
    }
    return minibatches <= 64;
}

/// What a simulation of a millisecond or two can be asked for.
bool isSmall(const Plan &plan)
{
    std::int64_t gpus = 0;
    for (const Datacenter &datacenter : plan.cluster.datacenters)
        for (const Pool &pool : datacenter.pools)
            gpus += std::int64_t { pool.nodes } * pool.gpusPerNode;
    const Parallelism &p = plan.parallelism;
    const std::int64_t ranks =
        std::int64_t { p.pipeline } * p.tensor * p.context * p.virtualPipeline * p.data.value_or(1);
    return plan.cluster.datacenters.size() <= 4 && gpus <= 256 && ranks <= 256
        && plan.workload.globalBatch / std::max(plan.workload.microBatch, 1) <= 64
        && plan.workload.sequenceLength <= 1 << 20 && hasFewJobs(plan) && !plan.bubbleFill.enabled
        && !isFile(plan.workload.model)
        && (!plan.workload.inlineModel
            || (plan.workload.inlineModel->layers <= 128 && plan.workload.inlineModel->experts <= 64));
}

bool isTime(double seconds)
{
    return std::isfinite(seconds) && seconds >= 0 && seconds < 9.3e9;
}

} // namespace

Outcome evaluated(const std::string &input)
{
    const auto plan = parsePlan(input, "p.json");
    if (!plan || !isSmall(*plan))
        return {};
    static EvaluationWorkspace workspace;
    const auto result = evaluate(std::make_shared<const Plan>(*plan), builtinCatalogue(), workspace, {}, Depth::Score);
    if (!result) {
        for (const Error &error : result.error())
            if (error.code == ErrorCode::Internal || error.what.empty())
                return { false, "an error is no help: " + toString(error) };
        return { false, result.error().empty() ? "refused without an error" : "" };
    }
    const auto &time = (*result)->metrics.iterationTime;
    if (time && !(isTime(*time) && *time > 0))
        return { true, "the iteration takes " + std::to_string(*time) + " s" };
    const auto &jobs = (*result)->metrics.jobs;
    if (jobs && jobs->makespan && !isTime(*jobs->makespan))
        return { true, "the jobs take " + std::to_string(*jobs->makespan) + " s" };
    return { true, metricsJson(**result).empty() ? "no metrics" : "" };
}

} // namespace trainyard::fuzz

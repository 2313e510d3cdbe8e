// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/validate.h"

#include "core/base/number_text.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace trainyard {

namespace {

constexpr std::int64_t kMostGpus = 10'000'000;
constexpr std::size_t kMostErrors = 100; // more help nobody
constexpr std::size_t kMostListed = 20;
constexpr std::size_t kMostJobs = 100'000;

class Checker {
public:
    void fail(ErrorCode code, std::string where, std::string what, std::string right)
    {
        if (errors.size() < kMostErrors)
            errors.push_back({ code, std::move(where), std::move(what), std::move(right) });
    }
    void bad(std::string where, std::string what, std::string right)
    {
        fail(ErrorCode::BadValue, std::move(where), std::move(what), std::move(right));
    }
    Errors errors;
};

std::string at(const std::string &list, std::size_t index)
{
    return list + "[" + std::to_string(index) + "]";
}

std::string datacenterIds(const Cluster &cluster)
{
    std::string text;
    for (std::size_t i = 0; i < std::min(cluster.datacenters.size(), kMostListed); ++i)
        text += (text.empty() ? "" : ", ") + cluster.datacenters[i].id;
    if (cluster.datacenters.size() > kMostListed)
        text += ", …";
    return text.empty() ? "a datacenter; there is none" : "one of " + text;
}

void checkIds(const Cluster &cluster, Checker &check)
{
    std::set<std::string_view> datacenters, pools;
    for (std::size_t i = 0; i < cluster.datacenters.size(); ++i) {
        const Datacenter &datacenter = cluster.datacenters[i];
        const std::string where = at("cluster.datacenters", i);
        if (datacenter.id.empty())
            check.bad(where + ".id", "the id is empty", "a name that no other datacenter has");
        else if (!datacenters.insert(datacenter.id).second)
            check.bad(
                where + ".id", "two datacenters have the id " + datacenter.id, "a name that no other datacenter has");
        for (std::size_t p = 0; p < datacenter.pools.size(); ++p) {
            const Pool &pool = datacenter.pools[p];
            if (!pool.id.empty() && !pools.insert(pool.id).second)
                check.bad(at(where + ".pools", p) + ".id", "two pools have the id " + pool.id,
                    "a name that no other pool has");
        }
    }
}

void checkSize(const Cluster &cluster, Checker &check)
{
    std::int64_t gpus = 0;
    for (const Datacenter &datacenter : cluster.datacenters)
        for (const Pool &pool : datacenter.pools)
            gpus += std::int64_t { pool.nodes } * pool.gpusPerNode;
    if (const std::size_t pools = poolCount(cluster); pools > kMostPools)
        check.bad("cluster.datacenters", "the cluster has " + std::to_string(pools) + " pools",
            "at most " + std::to_string(kMostPools) + ": nodes that are alike are one pool");
    if (gpus == 0)
        check.bad("cluster.datacenters", "the cluster has no GPUs", "at least one pool with a node");
    else if (gpus > kMostGpus)
        check.bad("cluster.datacenters", "the cluster has " + std::to_string(gpus) + " GPUs",
            "at most " + std::to_string(kMostGpus));
}

void checkLinks(const Cluster &cluster, Checker &check)
{
    std::set<std::array<std::string_view, 2>> seen;
    std::set<std::string_view> known;
    for (const Datacenter &datacenter : cluster.datacenters)
        known.insert(datacenter.id);
    for (std::size_t i = 0; i < cluster.wanLinks.size(); ++i) {
        std::array<std::string_view, 2> pair { cluster.wanLinks[i].between[0], cluster.wanLinks[i].between[1] };
        const std::string where = at("cluster.wan_links", i) + ".between";
        for (std::size_t end = 0; end < 2; ++end) {
            if (!known.contains(pair[end]))
                check.fail(ErrorCode::UnknownName, at(where, end), "there is no datacenter " + std::string(pair[end]),
                    datacenterIds(cluster));
        }
        std::ranges::sort(pair);
        if (pair[0] == pair[1])
            check.bad(where, "a link from " + std::string(pair[0]) + " to itself", "two datacenters");
        else if (!seen.insert(pair).second)
            check.bad(where, "a second link between " + std::string(pair[0]) + " and " + std::string(pair[1]),
                "one link for a pair, with the sum of their capacity");
    }
}

void checkPins(const Plan &plan, Checker &check)
{
    if (plan.placement.stages.empty())
        return;
    std::int64_t sum = 0;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < plan.placement.stages.size(); ++i) {
        const StagePin &pin = plan.placement.stages[i];
        const std::string where = at("placement.stages", i) + ".datacenter";
        sum += pin.stages;
        if (plan.cluster.indexOf(pin.datacenter) < 0)
            check.fail(
                ErrorCode::UnknownName, where, "there is no datacenter " + pin.datacenter, datacenterIds(plan.cluster));
        else if (!seen.insert(pin.datacenter).second)
            check.bad(where, pin.datacenter + " is pinned twice", "each datacenter once: its stages are contiguous");
    }
    if (sum != plan.parallelism.pipeline)
        check.bad("placement.stages", "the pinned stages add up to " + std::to_string(sum),
            std::to_string(plan.parallelism.pipeline) + ", the value of parallelism.pipeline");
}

void checkDegrees(const Plan &plan, Checker &check)
{
    const Parallelism &p = plan.parallelism;
    std::int64_t ranks = std::int64_t { p.tensor } * p.context * p.pipeline;
    if (p.data && ranks <= kMostGpus)
        ranks *= *p.data;
    if (ranks > kMostGpus)
        check.bad("parallelism", "the degrees multiply to " + std::to_string(ranks) + " GPUs or more",
            "at most " + std::to_string(kMostGpus));
    if (p.context > 1 && plan.workload.sequenceLength % p.context != 0)
        check.bad("parallelism.context",
            "context " + std::to_string(p.context) + " does not divide the sequence of "
                + std::to_string(plan.workload.sequenceLength) + " tokens",
            "a divisor of workload.sequence_length");
}

void checkBatch(const Plan &plan, Checker &check)
{
    if (hasJobs(plan) || plan.jobGrid) // a grid of none is a fault of its own
        return;
    const WorkloadSpec &w = plan.workload;
    if (w.globalBatch < 1) {
        check.bad(
            "workload.global_batch", "global_batch is " + std::to_string(w.globalBatch), "a whole number above 0");
        return;
    }
    if (w.globalBatch % std::max(w.microBatch, 1) != 0)
        check.bad("workload.micro_batch",
            "micro-batches of " + std::to_string(w.microBatch) + " do not divide the global batch of "
                + std::to_string(w.globalBatch),
            "a divisor of workload.global_batch");
    else if (plan.parallelism.data && *plan.parallelism.data > w.globalBatch / w.microBatch)
        check.bad("parallelism.data",
            std::to_string(*plan.parallelism.data) + " pipelines share " + std::to_string(w.globalBatch / w.microBatch)
                + " micro-batches",
            "at most one pipeline for each micro-batch");
}

void checkProfile(const Plan &plan, Checker &check)
{
    if (!plan.profile)
        return;
    const auto stages = static_cast<std::size_t>(plan.parallelism.pipeline);
    const auto count = [&](const char *key, std::size_t size, bool required) {
        if (size != 1 && size != stages && (required || size != 0))
            check.bad(std::string("profile.") + key, "a list of " + std::to_string(size),
                "a number, or a list of " + std::to_string(stages) + ": one for each stage");
    };
    count("forward_ms", plan.profile->forwardMs.size(), true);
    count("backward_ms", plan.profile->backwardMs.size(), true);
    count("recompute_ms", plan.profile->recomputeMs.size(), false);
    count("weight_grad_ms", plan.profile->weightGradMs.size(), false);
    count("paired_ms", plan.profile->pairedMs.size(), false);
    count("in_flight", plan.profile->inFlight.size(), false);
}

void checkHeterogeneity(const Plan &plan, Checker &check)
{
    const Heterogeneity &h = plan.heterogeneity;
    if (h.isLayered() && plan.parallelism.pipeline != 1)
        check.bad("heterogeneity.accumulation",
            "layered takes every micro-batch through a layer of the whole model, and the pipeline has "
                + std::to_string(plan.parallelism.pipeline) + " stages",
            "standard, or parallelism.pipeline 1");
    double shares = 0;
    for (std::size_t i = 0; i < h.assign.size(); ++i) {
        const RankPin &pin = h.assign[i];
        const std::string where = at("heterogeneity.assign", i);
        // Tensor ranks hold parts of their own, and so do stages.
        const double holders = pin.gpus.value_or(1)
            / double(std::max(1, pin.tensor.value_or(plan.parallelism.tensor) * plan.parallelism.pipeline));
        shares += pin.stateShare.value_or(0) * std::max(1.0, holders);
        const int datacenter = plan.cluster.indexOf(pin.datacenter);
        if (datacenter < 0) {
            check.fail(ErrorCode::UnknownName, where + ".datacenter", "there is no datacenter " + pin.datacenter,
                datacenterIds(plan.cluster));
            continue;
        }
        const auto &pools = plan.cluster.datacenters[std::size_t(datacenter)].pools;
        if (std::ranges::none_of(pools, [&](const Pool &pool) { return pin.isAbout(pool); }))
            check.fail(ErrorCode::UnknownName, where + ".pool", pin.datacenter + " has no pool " + pin.pool,
                "the id of one of its pools, or its GPU");
    }
    if (shares > 1 + 1e-6)
        check.bad("heterogeneity.assign", "the pinned shares of states add up to more than the whole",
            "at most 1, each share times its GPUs");
    if (plan.layerProfiles && plan.layerProfiles->gpus.empty())
        check.bad("layer_profiles", "no GPU has measured times", "an object for each GPU, by its catalogue id");
}

void checkJob(const Job &job, const std::string &where, Checker &check)
{
    if (job.unitMs.size() % 2 == 0 && !job.unitMs.empty())
        check.bad(where + ".unit_ms", "a list of " + std::to_string(job.unitMs.size()),
            "an odd number of times: 2K - 1 for K shards");
    if (job.deadlineS && *job.deadlineS <= job.arrivalS)
        check.bad(where + ".deadline_s", "the job is to end before it is there", "more than arrival_s");
    if (std::set(job.pinnedGpus.begin(), job.pinnedGpus.end()).size() < job.pinnedGpus.size())
        check.bad(where + ".pinned_gpus", "a GPU is named twice", "each GPU once");
}

void checkJobs(const Plan &plan, Checker &check)
{
    if (plan.jobGrid && plan.jobGrid->model.empty())
        check.bad("job_grid.model", "the grid has no model", "a list of catalogue names or paths of a config.json");
    if (jobCount(plan) > double(kMostJobs))
        check.bad(plan.jobGrid ? "job_grid" : "jobs",
            "the plan makes " + wholeText(jobCount(plan)) + " jobs, more than can be planned",
            "at most " + std::to_string(kMostJobs));
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
        const Job &job = plan.jobs[i];
        const std::string where = at("jobs", i);
        if (job.name.empty())
            check.bad(where + ".name", "the name is empty", "a name that no other job has");
        else if (!names.insert(job.name).second)
            check.bad(where + ".name", "two jobs have the name " + job.name, "a name that no other job has");
        checkJob(job, where, check);
    }
}

void checkBesideCluster(const Plan &plan, Checker &check)
{
    checkPins(plan, check);
    checkDegrees(plan, check);
    checkBatch(plan, check);
    checkProfile(plan, check);
    checkHeterogeneity(plan, check);
    checkJobs(plan, check);
}

} // namespace

std::size_t poolCount(const Cluster &cluster)
{
    std::size_t pools = 0;
    for (const Datacenter &datacenter : cluster.datacenters)
        pools += std::max(datacenter.pools.size(), std::size_t(1));
    return pools;
}

Errors validatePlan(const Plan &plan)
{
    Checker check;
    checkIds(plan.cluster, check);
    checkSize(plan.cluster, check);
    checkLinks(plan.cluster, check);
    checkBesideCluster(plan, check);
    return std::move(check.errors);
}

Errors validateBesideCluster(const Plan &plan)
{
    Checker check;
    checkBesideCluster(plan, check);
    return std::move(check.errors);
}

} // namespace trainyard

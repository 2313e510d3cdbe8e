// SPDX-License-Identifier: GPL-3.0-or-later
// Which GPUs to send back: those that idle, and of unequal ones each type in a datacenter, whole and by halves. The
// plan without them keeps all else but what names them; replicas are as many as fit where as many as the plan says do
// not.
#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/facts/hardware/gpu_name.h"
#include "core/planner/search/idle_nodes.h"
#include "core/planner/sensitivity/plan_runs_internal.h"
#include "core/planner/sensitivity/shadow_prices.h"

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

using detail::PlanRun, detail::PlanRuns;

struct Retired : PoolNodes {
    bool isIdle = false;
};

std::vector<Retired> candidatesFor(const Plan &plan, const Layout &layout)
{
    const std::set<std::string> types = gpuIdsOf(plan.cluster);
    std::vector<Retired> list;
    const auto add = [&](Retired what) {
        const bool isNew = std::ranges::none_of(list, [&](const Retired &other) {
            return other.datacenter == what.datacenter && other.pool == what.pool && other.nodes == what.nodes;
        });
        if (what.nodes > 0 && isNew)
            list.push_back(what);
    };
    const std::vector<PoolNodes> idleNow = idleNodes(plan, layout);
    for (std::size_t d = 0; d < plan.cluster.datacenters.size(); ++d) {
        const std::vector<Pool> &pools = plan.cluster.datacenters[d].pools;
        for (std::size_t p = 0; p < pools.size(); ++p) {
            const auto idle = std::ranges::find_if(
                idleNow, [&](const PoolNodes &one) { return one.datacenter == int(d) && one.pool == int(p); });
            if (idle != idleNow.end())
                add({ *idle, true });
            if (types.size() < 2) // fewer of equal GPUs are a smaller cluster
                continue;
            add({ { int(d), int(p), pools[p].nodes }, false });
            add({ { int(d), int(p), pools[p].nodes / 2 }, false });
        }
    }
    return list;
}

std::string percent(double share, const char *more, const char *less)
{
    return std::abs(share) < 5e-4 ? std::string() : percentText(std::abs(share)) + " " + (share > 0 ? more : less);
}

std::string sentenceOf(
    const Plan &plan, const Retired &what, const Catalogue &catalogue, const Retirement &result, bool ranBefore)
{
    const Datacenter &home = plan.cluster.datacenters[std::size_t(what.datacenter)];
    const Pool &pool = home.pools[std::size_t(what.pool)];
    const GpuSpec *gpu = gpuOf(pool, catalogue);
    std::string text = "Retire " + std::string(what.isIdle ? "the " : "") + std::to_string(result.gpus)
        + (what.isIdle ? " idle " : " ") + (gpu && !gpu->name.empty() ? shortName(*gpu) : gpuIdOf(pool)) + " in "
        + home.label();
    if (!result.isFeasible)
        return text + (ranBefore ? ": the plan cannot run without them" : ": the plan cannot run without them either");
    if (!ranBefore)
        return text + ": the plan runs without them";
    const std::string time = percent(result.slowdown, "slower", "faster"),
                      price = percent(result.saving, "cheaper per token", "dearer per token");
    return text + ": " + (time.empty() ? "as fast" : time) + ", " + (price.empty() ? "as cheap per token" : price);
}

/// USD per million tokens with every GPU of the cluster paid for: who is retired may be idle.
double usdOfAll(const PlanRun &run)
{
    return run.evaluation->metrics.cost.usdPerMillionTokens.value_or(run.figures->usdPerMillionTokens);
}

} // namespace

ExpectedAll<std::vector<Retirement>> retirements(
    const PlanPtr &plan, const Catalogue &catalogue, EvaluationWorkspace &workspace, std::stop_token stop)
{
    PlanRuns runs(catalogue, workspace, Objective::Throughput, std::move(stop));
    auto now = runs.run(plan);
    if (!now)
        return std::unexpected(std::move(now.error()));
    std::vector<Retirement> list;
    if (hasJobs(*plan) || whyUnranked(now->evaluation->model.doubts)) // nothing is compared by what is not understood
        return list;
    for (const Retired &what : candidatesFor(*plan, now->evaluation->layout)) {
        std::optional<Plan> next = withoutNodes(*plan, what);
        if (!next)
            continue;
        PlanRun run = runs.tried(*next);
        if (!run.isFeasible() && next->parallelism.data) {
            next->parallelism.data.reset();
            if (PlanRun again = runs.tried(*std::move(next)); again.isFeasible())
                run = std::move(again);
        }
        if (runs.isStopped())
            return std::unexpected(Errors { { ErrorCode::Cancelled, {}, "the search was stopped", {} } });
        Retirement result;
        result.gpus = what.nodes
            * plan->cluster.datacenters[std::size_t(what.datacenter)].pools[std::size_t(what.pool)].gpusPerNode;
        result.plan = run.plan;
        result.isFeasible = run.isFeasible();
        if (result.isFeasible) {
            result.seconds = run.figures->seconds;
            result.usdPerMillionTokens = usdOfAll(run);
        }
        if (result.isFeasible && now->figures) {
            result.slowdown = run.figures->seconds / now->figures->seconds - 1;
            if (usdOfAll(*now) > 0)
                result.saving = 1 - usdOfAll(run) / usdOfAll(*now);
        }
        result.sentence = sentenceOf(*plan, what, catalogue, result, now->isFeasible());
        list.push_back(std::move(result));
    }
    std::ranges::stable_sort(
        list, std::greater {}, [](const Retirement &r) { return std::pair(r.isFeasible, r.saving); });
    return list;
}

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Small plans for tests, each a few lines away from what a test is about.

#include "core/evaluation/advice/evaluate.h"

#include <QtGlobal>

#include <memory>
#include <string>

namespace trainyard::test {

inline Datacenter site(const std::string &id, int nodes, const std::string &gpu = "h100-sxm-80gb", int gpusPerNode = 8)
{
    Datacenter datacenter;
    datacenter.id = id;
    Pool pool;
    pool.id = id + "-pool";
    pool.gpu = gpu;
    pool.nodes = nodes;
    pool.gpusPerNode = gpusPerNode;
    datacenter.pools = { pool };
    return datacenter;
}

inline WanLink wanLink(
    const std::string &a, const std::string &b, double rttMs = 40, double nodePairGbps = 50, double capacityGbps = 400)
{
    WanLink wan;
    wan.between = { a, b };
    wan.rttMs = rttMs;
    wan.nodePairGbps = nodePairGbps;
    wan.capacityGbps = capacityGbps;
    return wan;
}

/// Llama 3 8B on nodes of 8 H100, tensor 8, in one datacenter.
inline Plan oneSite(int nodes, int pipeline = 4)
{
    Plan plan;
    plan.cluster.datacenters = { site("a", nodes) };
    plan.workload.model = "llama-3-8b";
    plan.workload.sequenceLength = 8192;
    plan.workload.globalBatch = 64;
    plan.parallelism.tensor = 8;
    plan.parallelism.pipeline = pipeline;
    return plan;
}

/// The same over three datacenters, every pair of them linked.
inline Plan threeSites(int nodesEach, int pipeline = 6)
{
    Plan plan = oneSite(1, pipeline);
    plan.cluster.datacenters = { site("a", nodesEach), site("b", nodesEach), site("c", nodesEach) };
    plan.cluster.wanLinks = { wanLink("a", "b"), wanLink("b", "c"), wanLink("a", "c") };
    plan.placement.mode = PlacementMode::PipelineAcross;
    return plan;
}

/// The regression family of the Atlas specification: measured stage times, WAN cuts between equal blocks of stages.
inline Plan atlasRow(int pipeline, int microBatches, int c, int datacenters, ScheduleKind schedule)
{
    Plan plan;
    for (int d = 0; d < datacenters; ++d) {
        const std::string id(1, char('a' + d));
        plan.cluster.datacenters.push_back(site(id, pipeline / datacenters * c, "a100-sxm-80gb", 1));
        plan.placement.stages.push_back({ id, pipeline / datacenters, {} });
        if (d > 0) {
            WanLink wan = wanLink(std::string(1, char('a' + d - 1)), id, 406.92, 5, 1e6);
            wan.tcpWindowMb = 1e4;
            plan.cluster.wanLinks.push_back(wan);
        }
    }
    plan.workload.model = "gpt-3-1.3b";
    plan.workload.globalBatch = microBatches * c;
    plan.parallelism.pipeline = pipeline;
    plan.parallelism.data = c;
    plan.schedule = schedule;
    plan.stack.name = "ideal";
    plan.memory.recompute = Recompute::Full;
    MeasuredStageTimes profile;
    profile.forwardMs = { 1000 };
    profile.backwardMs = { 2037.1 };
    profile.recomputeMs = { 1019.3 };
    profile.activationMb = 1.0117 * c * 5e9 / 8 / 1e6; // s = 1.0117 C seconds on a node pair of 5 Gbps
    plan.profile = profile;
    return plan;
}

inline EvaluationPtr evaluated(Plan plan)
{
    EvaluationWorkspace workspace;
    auto result = evaluate(std::make_shared<const Plan>(std::move(plan)), builtinCatalogue(), workspace);
    if (!result)
        qFatal("%s", toString(result.error().front()).c_str());
    return *result;
}

} // namespace trainyard::test

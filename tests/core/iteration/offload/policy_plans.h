#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plans for policies that swap or compute again: equal layers on H100 with memory of a given size and a link of a given
// rate to host memory, one replica, states whole.

#include "tests/support/plans.h"

namespace offload {

using namespace trainyard;

struct PolicyCase {
    OffloadPolicy policy = OffloadPolicy::Karma;
    double rate = 50; // GB/s of a GPU, each way
    double memoryGb = 86; // of a GPU
    int layers = 16, stages = 1, microBatches = 1;
    ScheduleKind schedule = ScheduleKind::OneFOneB;
};

inline Plan policyPlan(const PolicyCase &c)
{
    Plan plan;
    plan.cluster.datacenters = { test::site("a", 1) };
    Pool &pool = plan.cluster.datacenters.front().pools.front();
    GpuSpec gpu = *builtinCatalogue().gpu("h100-sxm-80gb");
    gpu.id = gpu.name = "H100 with memory to measure";
    gpu.memoryBytes = static_cast<decltype(gpu.memoryBytes)>(c.memoryGb * 1e9);
    pool.inlineGpu = gpu;
    pool.host = Host {};
    pool.host->memoryGib = 1e6;
    pool.host->gbytesPerSecondPerGpu = c.rate;
    ModelSpec model;
    model.layers = c.layers;
    model.hidden = 4096;
    model.heads = 32;
    model.kvHeads = 8;
    model.headDim = 128;
    model.ffn = 14336;
    model.vocab = 32000;
    model.gatedFfn = true;
    plan.workload.inlineModel = model;
    plan.workload.sequenceLength = 8192;
    plan.workload.globalBatch = c.microBatches;
    plan.parallelism.pipeline = c.stages;
    plan.parallelism.data = 1;
    plan.parallelism.zeroStage = 0;
    plan.schedule = c.schedule;
    if (c.schedule == ScheduleKind::Interleaved)
        plan.parallelism.virtualPipeline = 2;
    plan.memory.activationOffload = ActivationOffload::Host;
    plan.memory.offloadPolicy = c.policy;
    return plan;
}

/// The same plan with every activation on the GPU.
inline Plan kept(Plan plan)
{
    plan.memory.activationOffload = ActivationOffload::None;
    return plan;
}

} // namespace offload

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A plan for the memory ladder: one node, no pipeline, everything on the GPU, so that each step shows alone.

#include "tests/support/plans.h"

#include <functional>

namespace trainyard::test {

inline Plan oneNode(const std::string &model = "llama-3-8b", const std::string &gpu = "h100-sxm-80gb")
{
    Plan plan;
    plan.cluster.datacenters = { site("a", 1, gpu) };
    Pool &pool = plan.cluster.datacenters[0].pools[0];
    pool.ssd = Ssd {};
    pool.ssd->writeGBps = 12;
    pool.ssd->readGBps = 14;
    pool.ssd->endurancePb = 7;
    pool.host = Host {};
    pool.host->memoryGib = 2048;
    pool.host->gbytesPerSecondPerGpu = 50;
    plan.workload.model = model;
    plan.workload.sequenceLength = 4096;
    plan.workload.globalBatch = 16;
    plan.parallelism.zeroStage = 1;
    return plan;
}

inline Plan with(Plan plan, const std::function<void(Plan &)> &change)
{
    change(plan);
    return plan;
}

inline const StageMemory &fullest(const EvaluationPtr &evaluation)
{
    const MemoryMetrics &memory = *evaluation->metrics.memory;
    return memory.perStage[std::size_t(memory.fullestStage)];
}

} // namespace trainyard::test

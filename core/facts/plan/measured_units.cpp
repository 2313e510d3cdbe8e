// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/measured_units.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

PlanPtr withMeasuredUnits(const Plan &plan, const std::vector<double> &unitMs)
{
    const std::size_t shards = (unitMs.size() + 1) / 2, stages = std::size_t(plan.parallelism.pipeline);
    if (stages > shards || plan.memory.parameterOffload != ParameterOffload::None)
        return nullptr;
    const auto part = unitMs.begin() + std::ptrdiff_t(shards) - 1; // the fused unit
    const double forwards = std::accumulate(unitMs.begin(), part, 0.0),
                 backwards = std::accumulate(part + 1, unitMs.end(), 0.0);
    const double share = forwards + backwards > 0 ? forwards / (forwards + backwards) : 1.0 / 3;
    const double microBatches = double(plan.workload.globalBatch)
        / double(plan.workload.microBatch * std::max(1, plan.parallelism.data.value_or(1)));
    MeasuredStageTimes times;
    times.forwardMs.assign(stages, 0);
    times.backwardMs.assign(stages, 0);
    for (std::size_t i = 0; i < shards; ++i) {
        const std::size_t stage = i * stages / shards;
        const double forward = i + 1 < shards ? unitMs[i] : *part * share;
        const double backward = i + 1 < shards ? unitMs[unitMs.size() - 1 - i] : *part * (1 - share);
        times.forwardMs[stage] += forward / microBatches;
        times.backwardMs[stage] += backward / microBatches;
    }
    auto timed = std::make_shared<Plan>(plan);
    timed->memory.recompute = Recompute::None; // the measured times have it
    timed->profile = std::move(times);
    return timed;
}

} // namespace trainyard

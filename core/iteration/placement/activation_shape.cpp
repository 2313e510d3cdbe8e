// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/activation_shape.h"

#include "core/systems/experts/loads.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Rows that a rank's experts get over the mean, of the fullest rank. Experts of limited room are padded to it.
double fullestRank(const Requested &asked)
{
    if (!asked.model.isMoe())
        return 1;
    const MoeStrategy &moe = asked.plan->moe;
    return moe.capacity().value_or(
        rankLoads(moe.expertLoads, asked.model.experts, asked.degrees.expert, moe.imbalance, {}).skew);
}

} // namespace

ActivationShape activationShape(const Requested &asked)
{
    const Plan &plan = *asked.plan;
    const Degrees &p = asked.degrees;
    const MemoryStrategy &memory = plan.memory;
    ActivationShape shape { double(plan.workload.sequenceLength), double(plan.workload.microBatch), p.tensor, p.context,
        p.expert, p.expertTensor, p.isSequenceParallel, memory.recompute, fullestRank(asked),
        weightBytes(plan.workload.precision), keptInputBytes(plan.workload.precision, asked.stack),
        memory.recomputeNorms, memory.recomputeActivationFunction, 1, memory.recomputeUpProjection,
        memory.recomputeSharedExperts, plan.moe.permute == MoePermute::MemoryEfficient,
        plan.moe.dispatch == MoeDispatch::TensorSliced }; // traffic-aware may take either: there is room for both
    if (memory.fp8Activations)
        shape.inputBytes = std::min(shape.inputBytes, 1.0);
    if (memory.savedActivationBits)
        shape.keptShare = compressedShare(*memory.savedActivationBits, shape.elementBytes);
    return shape;
}

double compressedShare(double bits, double elementBytes)
{
    constexpr double kGroup = 256, kGroupBytes = 8;
    return std::min(1.0, bits / (8 * elementBytes) + kGroupBytes / (kGroup * elementBytes));
}

} // namespace trainyard

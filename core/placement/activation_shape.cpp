// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/placement/activation_shape.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

namespace {

/// Rows that a rank's experts get over the mean, of the fullest rank. Experts of limited room are padded to it.
double fullestRank(const Workload &workload)
{
    const MoeStrategy &moe = workload.plan->moe;
    const auto experts = std::size_t(std::max(0, workload.model.experts)),
               ranks = std::size_t(std::max(1, workload.degrees.expert));
    if (moe.capacity() || moe.expertLoads.size() != experts || experts == 0 || experts % ranks != 0)
        return moe.load();
    const auto at = [&](std::size_t expert) { return moe.expertLoads.begin() + std::ptrdiff_t(expert); };
    double all = 0, most = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const double here = std::accumulate(at(rank * (experts / ranks)), at((rank + 1) * (experts / ranks)), 0.0);
        most = std::max(most, here);
        all += here;
    }
    return all > 0 ? most * double(ranks) / all : 1;
}

} // namespace

ActivationShape activationShape(const Workload &workload)
{
    const Plan &plan = *workload.plan;
    const Degrees &p = workload.degrees;
    const MemoryStrategy &memory = plan.memory;
    ActivationShape shape { double(plan.workload.sequenceLength), double(plan.workload.microBatch), p.tensor, p.context,
        p.expert, p.expertTensor, p.isSequenceParallel, memory.recompute, fullestRank(workload),
        weightBytes(plan.workload.precision), keptInputBytes(plan.workload.precision, workload.stack),
        memory.recomputeNorms, memory.recomputeActivationFunction, 1, memory.recomputeUpProjection,
        memory.recomputeSharedExperts, plan.moe.permute == MoePermute::MemoryEfficient };
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

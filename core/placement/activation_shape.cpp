// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/placement/activation_shape.h"

#include <algorithm>

namespace trainyard {

ActivationShape activationShape(const Workload &workload)
{
    const Plan &plan = *workload.plan;
    const Degrees &p = workload.degrees;
    const MemoryStrategy &memory = plan.memory;
    ActivationShape shape { double(plan.workload.sequenceLength), double(plan.workload.microBatch), p.tensor, p.context,
        p.expert, p.expertTensor, p.isSequenceParallel, memory.recompute, plan.moe.load(),
        weightBytes(plan.workload.precision), keptInputBytes(plan.workload.precision, workload.stack),
        memory.recomputeNorms, memory.recomputeActivationFunction, 1 };
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

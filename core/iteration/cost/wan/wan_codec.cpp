// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/wan/wan_codec.h"

#include "core/facts/workload/model_math.h"
#include "core/iteration/cost/kernels/gemm.h"

#include <algorithm>

namespace trainyard {

Seconds recodeTime(const GpuSpec &gpu, double elements, double own, double wire)
{
    return memoryTime(gpu, Bytes { elements * (own + wire) / 8 });
}

WireBits activationBits(const Plan &plan)
{
    const double own = 8 * weightBytes(plan.workload.precision);
    return { own, std::min<double>(own, plan.wan.activationBits.value_or(64)) };
}

Seconds boundaryRecodeTime(const Workload &workload, StageLocation location, bool backward, double tokens)
{
    const WireBits bits = activationBits(*workload.plan);
    if (bits.wire >= bits.own)
        return {};
    const double elements = 8 * workload.boundaryBytes(backward) / bits.own / workload.tensorAt(location);
    return recodeTime(workload.gpu(location), elements * tokens, bits.own, bits.wire);
}

} // namespace trainyard

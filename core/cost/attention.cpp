// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/attention.h"

#include <algorithm>

namespace trainyard {

namespace {

/// The gradient kernels run in 16 bits also where the products run in 8 or 4.
Precision kernelPrecision(Precision precision)
{
    return precision >= Precision::Fp8 ? Precision::Bf16 : precision;
}

} // namespace

double attentionFlops(const AttentionShape &shape)
{
    // Causal: of q queries at the end of k keys the mask leaves q(k - q/2) scores, half of them where q = k.
    const double seen = shape.causal ? std::max(shape.keys - shape.queries / 2, shape.keys / 2) : shape.keys;
    return 2 * shape.batch * shape.heads * shape.queries * seen * (shape.queryDim + shape.valueDim);
}

Seconds attentionForward(const GpuSpec &gpu, Precision precision, const AttentionShape &shape)
{
    return Flops{attentionFlops(shape)} / FlopsPerSecond{gpu.peakFlops(kernelPrecision(precision)) * gpu.attentionFraction};
}

Seconds attentionBackward(const GpuSpec &gpu, Precision precision, const AttentionShape &shape)
{
    return attentionForward(gpu, precision, shape) * 2.5;
}

} // namespace trainyard

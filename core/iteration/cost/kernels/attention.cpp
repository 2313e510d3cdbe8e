// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/kernels/attention.h"

#include "core/iteration/cost/kernels/tile_waves_internal.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr double kQueryTile = 128; // queries that one multiprocessor works on at a time

/// Rate of heads of d elements against heads of 128; narrower than 64: what 64 takes.
double headRate(const AttentionCurve &curve, double d)
{
    if (d <= 64)
        return curve.rate64 * d / 64;
    if (d <= 128)
        return curve.rate64 + (1 - curve.rate64) * (d - 64) / 64;
    if (d <= 192)
        return 1 + (curve.rate192 - 1) * (d - 128) / 64;
    return curve.rate192 + (curve.rate256 - curve.rate192) * std::min(1.0, (d - 192) / 64);
}

/// Keys that a query sees, on average.
double meanKeys(const AttentionShape &shape)
{
    // Causal: of q queries at the end of k keys the mask leaves q(k - q/2) scores, half of them where q = k.
    return shape.causal ? std::max(shape.keys - shape.queries / 2, shape.keys / 2) : shape.keys;
}

struct Parts {
    double compute = 0, memory = 0;
};

Parts forwardParts(const GpuSpec &gpu, Precision precision, const AttentionShape &shape)
{
    const AttentionCurve &curve = gpu.attention;
    // Fused attention runs in 16 bits also where the products run in 8 or 4.
    const Precision format = gpu.computePrecision(precision >= Precision::Fp8 ? Precision::Bf16 : precision);
    const double width = shape.queryDim + shape.valueDim;
    const double rate = gpu.peakFlops(format) * curve.peakFraction * headRate(curve, width / 2);
    const double perPair = 2 * width / rate; // seconds of the whole GPU for one query and one key
    const double all = shape.batch * shape.heads * shape.queries * (meanKeys(shape) + curve.marginKeys) * perPair;
    // The tile with most keys bounds the kernel from below, and the end of a long kernel waits for a part of one.
    const double longest = std::min(kQueryTile, shape.queries) * shape.keys * perPair * gpu.multiprocessors;
    const double compute = std::max(all, longest) + curve.tailShare * std::min(all, longest);
    const double elements = shape.batch * width * (shape.heads * shape.queries + shape.kvHeads * shape.keys);
    return { compute + curve.slowdown * compute * compute / (compute + curve.slowdownMs * 1e-3),
        elementBytes(format) * elements / (gpu.memoryGBps * 1e9 * curve.memoryFraction) };
}

} // namespace

Seconds attentionForward(const GpuSpec &gpu, Precision precision, const AttentionShape &shape)
{
    const Parts parts = forwardParts(gpu, precision, shape);
    return Seconds { gpu.attention.launchUs * 1e-6 + parts.compute + parts.memory };
}

Seconds attentionBackward(const GpuSpec &gpu, Precision precision, const AttentionShape &shape)
{
    // Five products for two. Gradients of queries, keys, values and result are read or written beside them: twice the
    // traffic.
    const Parts parts = forwardParts(gpu, precision, shape);
    return Seconds { gpu.attention.launchUs * 1e-6 + parts.compute * (2.5 / gpu.attention.backwardRate)
        + parts.memory * 2 };
}

} // namespace trainyard

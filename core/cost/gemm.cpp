// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/gemm.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

double elementBytes(Precision precision)
{
    switch (precision) {
    case Precision::Fp32:
    case Precision::Tf32: return 4;
    case Precision::Fp16:
    case Precision::Bf16: return 2;
    case Precision::Fp8:
    case Precision::Mxfp8: return 1;
    case Precision::Nvfp4: return 0.5;
    }
    return 2;
}

} // namespace

Seconds gemmTime(const GpuSpec &gpu, Precision precision, GemmShape shape)
{
    const GemmCurve &curve = gpu.gemm;
    const double bytes = elementBytes(precision);
    const double area = (shape.m + curve.marginM) * (shape.n + curve.marginN);
    const double waves = std::sqrt(area * area + curve.waveArea * curve.waveArea);
    const double cool = 2 * waves * (shape.k + curve.marginK) / (gpu.peakFlops(precision) * curve.peakFraction);
    const double compute = cool + curve.slowdown * cool * cool / (cool + curve.slowdownMs * 1e-3);
    // Operands in the format of the units; the result is never narrower than 16 bits.
    const double operands = bytes * shape.k * (shape.m + shape.n) + std::max(bytes, 2.0) * shape.m * shape.n;
    const double memory = operands / (gpu.memoryGBps * 1e9 * curve.memoryFraction);
    // The smooth maximum of both: the fourth root of the sum of fourth powers.
    const double compute2 = compute * compute, memory2 = memory * memory;
    return Seconds{curve.launchUs * 1e-6 + std::sqrt(std::sqrt(compute2 * compute2 + memory2 * memory2))};
}

double gemmEfficiency(const GpuSpec &gpu, Precision precision, GemmShape shape)
{
    return 2 * shape.m * shape.n * shape.k / (gpu.peakFlops(precision) * gemmTime(gpu, precision, shape).value);
}

} // namespace trainyard

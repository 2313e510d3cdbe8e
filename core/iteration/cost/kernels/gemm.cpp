// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/kernels/gemm.h"

#include "core/iteration/cost/kernels/tile_waves_internal.h"

#include <algorithm>

namespace trainyard {

Seconds gemmTime(const GpuSpec &gpu, Precision precision, GemmShape shape)
{
    const GemmCurve &curve = gpu.gemmCurve(precision);
    const Precision format = gpu.computePrecision(precision);
    const double bytes = elementBytes(format);
    const TileWork work { shape, 1, gpu.peakFlops(format) * curve.peakFraction, gpu.memoryGBps * 1e9 };
    // The result is never narrower than 16 bits.
    const double traffic = bytes * shape.k * (shape.m + shape.n) + std::max(bytes, 2.0) * shape.m * shape.n;
    return kernelSeconds(gpu, curve, tileSeconds(gpu, curve, work), traffic);
}

Seconds castTime(const GpuSpec &gpu, Precision precision, double elements)
{
    const Precision format = gpu.computePrecision(precision);
    if (format < Precision::Fp8)
        return {};
    const GemmCurve &curve = gpu.gemmCurve(precision);
    const double traffic = (2 + elementBytes(format)) * elements; // read 16 bits, write the format
    const double filled = traffic / (curve.cacheMbytes * 1e6 + 1), missed = filled * filled / (1 + filled * filled);
    return Seconds { curve.castUs * 1e-6 + traffic * missed / (gpu.memoryGBps * 1e9 * curve.castFraction) };
}

Seconds memoryTime(const GpuSpec &gpu, Bytes moved)
{
    return moved / BytesPerSecond { gpu.memoryGBps * 1e9 * gpu.gemm.memoryFraction };
}

} // namespace trainyard

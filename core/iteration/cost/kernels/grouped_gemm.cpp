// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/kernels/grouped_gemm.h"

#include "core/iteration/cost/kernels/tile_waves_internal.h"

#include <algorithm>

namespace trainyard {

Seconds groupedGemmTime(const GpuSpec &gpu, Precision precision, double groups, GemmShape perGroup)
{
    const GemmCurve &curve = gpu.groupedCurve(precision);
    const Precision format = gpu.computePrecision(precision);
    const double bytes = elementBytes(format);
    const TileWork work { perGroup, groups, gpu.peakFlops(format) * curve.peakFraction, gpu.memoryGBps * 1e9 };
    const double traffic =
        bytes * perGroup.k * (perGroup.m + perGroup.n) + std::max(bytes, 2.0) * perGroup.m * perGroup.n;
    return kernelSeconds(gpu, curve, tileSeconds(gpu, curve, work), groups * traffic);
}

} // namespace trainyard

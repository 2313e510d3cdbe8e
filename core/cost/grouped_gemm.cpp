// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/grouped_gemm.h"

#include <algorithm>

namespace trainyard {

Seconds groupedGemmTime(const GpuSpec &gpu, Precision precision, double groups, GemmShape perGroup)
{
    const Seconds launch = microseconds(gpu.gemm.launchUs);
    const Seconds one = gemmTime(gpu, precision, perGroup);
    return launch + std::max(Seconds{}, one - launch) * groups;
}

} // namespace trainyard

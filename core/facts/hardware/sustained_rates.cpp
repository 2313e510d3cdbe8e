// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/hardware/sustained_rates.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

SustainedRates sustainedRates(const std::vector<ArchitectureRates> &known, const GpuSpec &gpu)
{
    auto found = std::ranges::find(known, gpu.architecture, &ArchitectureRates::architecture);
    if (found == known.end())
        found = std::ranges::find(known, "", &ArchitectureRates::architecture);
    if (found == known.end())
        return {};
    SustainedRates rates = found->rates;
    const double peak = gpu.peakFlops(Precision::Bf16) * 1e-12;
    const bool isKnown = gpu.tdpWatts > 0 && peak > 0 && found->watts > 0 && found->halfTflops > 0;
    const double clock = isKnown ? std::cbrt(gpu.tdpWatts / peak / (found->watts / found->halfTflops)) : 1;
    for (double SustainedRates::*rate :
        { &SustainedRates::half, &SustainedRates::eight, &SustainedRates::four, &SustainedRates::attention })
        rates.*rate = std::min(1.0, rates.*rate * clock);
    return rates;
}

} // namespace trainyard

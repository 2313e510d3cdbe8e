// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/hardware/sustained_rates.h"

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
    const double clock = gpu.tdpWatts > 0 && found->watts > 0 ? std::cbrt(gpu.tdpWatts / found->watts) : 1;
    for (double SustainedRates::*rate : {&SustainedRates::half, &SustainedRates::eight, &SustainedRates::four, &SustainedRates::attention})
        rates.*rate = std::min(1.0, rates.*rate * clock);
    return rates;
}

} // namespace trainyard

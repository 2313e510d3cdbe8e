// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/offload/ssd_life.h"

#include <limits>

namespace trainyard {

Bytes usableEndurance(const DriveWear &wear)
{
    return wear.endurance * (wear.ratedAmplification / wear.amplification * wear.retentionGain);
}

BytesPerSecond requiredWriteBandwidth(Bytes perStep, Seconds step)
{
    return BytesPerSecond { perStep.value / (step.value / 2) };
}

double lifetimeYears(const DriveWear &wear, Bytes perStep, Seconds step)
{
    constexpr double kYear = 365 * 86400.0;
    if (perStep.value <= 0)
        return std::numeric_limits<double>::infinity();
    return usableEndurance(wear) / perStep * step.value / kYear;
}

} // namespace trainyard

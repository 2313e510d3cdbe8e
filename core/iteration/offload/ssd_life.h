#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What offloading asks of drives: write bandwidth, and the years until they are worn out (SSDTrain, arXiv 2408.10013,
// §2). Pure functions.

#include "core/base/units.h"

namespace trainyard {

struct DriveWear {
    /// rated total bytes written (TBW), of all drives together
    Bytes endurance;
    double ratedAmplification =
        2.5; // writes inside the drive per byte from outside, in the rating's random workload (JESD219)
    /// the same of this workload: large sequential writes
    double amplification = 1;
    /// More program-erase cycles where the cells need to hold data for a day and not for years: 86 for three years to
    /// one day. 1 unless the user accepts that a drive which lies without power for days may lose what is on it.
    double retentionGain = 1;
};

/// Bytes that the drives take in this workload: TBW * rated amplification / amplification * retention gain.
[[nodiscard]] Bytes usableEndurance(const DriveWear &wear);

/// Bandwidth that moves the activations of a step while its forward passes run: S / (t / 2).
[[nodiscard]] BytesPerSecond requiredWriteBandwidth(Bytes perStep, Seconds step);

/// t_life = usable endurance * t_step / S, in years of 365 days. Infinite where nothing is written.
[[nodiscard]] double lifetimeYears(const DriveWear &wear, Bytes perStep, Seconds step);

} // namespace trainyard

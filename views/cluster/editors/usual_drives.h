#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The drives that a node starts from where it is given some by hand, to be overtyped; one place, with its sources.
// Recalled, not looked up: the data sheet of the Samsung 980 PRO 1 TB. Published: four such drives for $360 (SSDTrain,
// arXiv 2408.10013).

#include "core/facts/plan/plan.h"

namespace trainyard {

struct UsualDrive {
    double writeGBps = 5.0, readGBps = 7.0;
    /// 600 TB written
    double endurancePb = 0.6;
    double usd = 90;
};
inline constexpr int kUsualDrivesPerNode = 4;
inline constexpr const char *kUsualDriveSource =
    "Starts from four Samsung 980 PRO 1 TB per node: 5.0 GB/s written, 7.0 GB/s read and 600 TB each, as the data "
    "sheet is recalled; $90 each (SSDTrain, arXiv 2408.10013).";

[[nodiscard]] inline Ssd usualDrives()
{
    constexpr UsualDrive kDrive;
    Ssd drives;
    drives.writeGBps = kUsualDrivesPerNode * kDrive.writeGBps;
    drives.readGBps = kUsualDrivesPerNode * kDrive.readGBps;
    drives.endurancePb = kUsualDrivesPerNode * kDrive.endurancePb;
    drives.usd = kUsualDrivesPerNode * kDrive.usd;
    return drives;
}

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What each set of equal GPUs does, waits for and holds in an iteration. docs/metrics.md, "memory". Pure functions.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/evaluation/evaluate/live_stages.h"
#include "core/evaluation/evaluate/metrics/stage_seconds.h"

#include <vector>

namespace trainyard {

/// Class by class, stage by stage; without bytes.
[[nodiscard]] std::vector<DeviceMetrics> deviceMetrics(
    const Workload &workload, const std::vector<StageSeconds> &stages);

/// The bytes of each; nothing where memory is not known.
void addDeviceMemory(std::vector<DeviceMetrics> &devices, const LiveMemory &live);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan says about activation offloading, in the units of the formulas. Plain values.

#include "core/base/units.h"
#include "core/iteration/placement/resolve.h"

#include <optional>
#include <string>

namespace trainyard {

struct OffloadSettings {
    ActivationOffload target = ActivationOffload::None;
    Auto<double> fraction;
    /// smaller tensors stay
    double minElements = 8.0 * 1024 * 1024;
    /// modules that are loaded together
    int group = 1;
    /// groups that are loaded ahead of the one in its backward
    int ahead = 1;
};
[[nodiscard]] OffloadSettings offloadSettings(const Workload &workload);

/// 10^9 bytes/s of the plan as bytes/s.
struct PoolRates {
    /// of one GPU's own link, each direction
    double gpu = 0;
    /// that share such a link
    int gpusPerSwitch = 1;
    /// of the drives of a node
    std::optional<double> nodeWrite, nodeRead;
};
[[nodiscard]] PoolRates poolRates(const Workload &workload, StageLocation location, const OffloadSettings &settings);

/// Why nothing leaves although the plan asks for it, in one sentence about the schedule or the profile; empty
/// otherwise.
[[nodiscard]] std::string whyActivationsStay(const Plan &plan);

} // namespace trainyard

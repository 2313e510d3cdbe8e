#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What samples and arguments of a run show beside its times: memory, clocks, power, switches. Pure functions.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/runs/telemetry/recording.h"

#include <optional>
#include <string>

namespace trainyard {

/// The fullest GPU, as logs and samples tell it. Empty: nobody does.
struct MemorySign {
    double bytes = 0;
    /// of the plan's GPUs
    double capacity = 0;
};
[[nodiscard]] std::optional<MemorySign> fullestMemory(const Recording &recording, const Evaluation &plan);

/// of the highest
inline constexpr double kLowClock = 0.9;

/// The GPU whose clock is lowest beside the highest of any, by medians over those that work.
struct ClockSign {
    std::string where;
    double hertz = 0, highest = 0;
};
[[nodiscard]] std::optional<ClockSign> lowestClock(const Recording &recording);

/// Share of the samples of an SM clock, all GPUs together, that lie below kLowClock; with the power then.
struct ThrottleSign {
    double share = 0;
    /// median while the clock is low; 0: not told
    double watts = 0;
};
[[nodiscard]] std::optional<ThrottleSign> throttling(const Recording &recording);

/// A switch of the framework; empty: its arguments are not told.
[[nodiscard]] std::optional<bool> isSwitchedOn(const Recording &recording, const char *name);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A run beside a plan or another run, as `telemetry compare` prints it: the difference table, steps, stragglers and
// slow links. Pure functions.

#include "core/runs/overlay/run_overlay.h"

#include <string>

namespace trainyard::cli {

[[nodiscard]] std::string comparisonTableOf(const RunOverlay &overlay);
[[nodiscard]] std::string comparisonJsonOf(const RunOverlay &overlay);

} // namespace trainyard::cli

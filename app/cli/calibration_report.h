#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What `telemetry calibrate` tells of a run's factors: a table for people, and JSON that it reads back for other plans.
// Pure functions.

#include "core/runs/calibrate/calibrate.h"

#include <string>

namespace trainyard::cli {

/// `isJudged`: the errors are of this plan and its run.
[[nodiscard]] std::string factorsTable(const CalibrationProposal &proposal, bool isJudged);
/// "format": "trainyard.factors", version 1.
[[nodiscard]] std::string factorsJson(const CalibrationProposal &proposal);
/// Of such JSON; `file` is for messages. Errors name the place.
[[nodiscard]] ExpectedAll<CalibrationProposal> readFactors(const std::string &json, const std::string &file);

} // namespace trainyard::cli

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plans that bring measured times, with all of them shorter: what faster GPUs would make of them. Pure functions.

#include "core/facts/plan/plan.h"

#include <string>

namespace trainyard {

/// Divides the measured times of stages; nothing where the plan has none (stageFacts().hasLayers).
void speedUpStages(Plan &plan, double times);
/// Divides the measured times of a layer on a GPU of the catalogue; false where the plan has none.
bool speedUpLayers(Plan &plan, const std::string &gpu, double times);

} // namespace trainyard

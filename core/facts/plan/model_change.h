#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What of a plan belongs to its model, for whoever gives it another one. Pure functions.

#include "core/facts/plan/plan.h"

namespace trainyard {

/// Measured times of stages and layers, pinned layers and jobs are of the model that was there: they go. True where
/// measured times were among them.
bool forgetModel(Plan &plan);
/// Whether it has no model and nothing that stands in for one: measured times, jobs.
[[nodiscard]] bool lacksModel(const Plan &plan);

} // namespace trainyard

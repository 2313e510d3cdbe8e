#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The profile of a run as tables of texts: idle time by cause, launch queue, kernels or what became of them, critical
// path. Pure.

#include "models/run_profile.h"
#include "models/validation/text_table_model.h"

namespace trainyard {

[[nodiscard]] TextRows idleRows(const ProfileOfRun &profile);
[[nodiscard]] TextRows queueRows(const ProfileOfRun &profile);
/// The longest, or beside a reference those that differ most.
[[nodiscard]] TextRows kernelRows(const ProfileOfRun &profile);
/// By kind, then by kernel.
[[nodiscard]] TextRows pathRows(const ProfileOfRun &profile);

} // namespace trainyard

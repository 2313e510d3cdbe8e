#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A run that was restarted has several TensorBoard event files in one folder. As TensorBoard shows them, they are one:
// each later file takes the place of what earlier ones tell from its first step on.

#include "core/runs/telemetry/recording.h"

namespace trainyard {

/// Joins the series by step of event files of one folder, in the order of the sources. Notes say so.
void joinEventFiles(Recording &recording);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Colours of what was measured: each has the hue of the plan's work that it answers to, but is duller, so that a
// measured row is never taken for a predicted one. GUI thread, as theme().

#include "core/runs/overlay/run_overlay.h"

#include <QColor>

namespace trainyard {

inline constexpr int kRecordedWorkCount = int(RecordedWork::Other) + 1;

[[nodiscard]] QColor recordedColor(RecordedWork work);
/// Of a measured row where nothing ran.
[[nodiscard]] QColor recordedIdle();

} // namespace trainyard

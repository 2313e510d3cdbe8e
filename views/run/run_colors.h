#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The colours of recorded runs, in charts that draw several and wherever one of them is named. GUI thread.

#include <QColor>

namespace trainyard {

/// Of a run by its number (LoadedRun::color): told apart by eyes without cones for red or green.
[[nodiscard]] QColor runColor(int number);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Colours of pipeline stages, first to last: from night blue and plum over clay to sand, muted hues that no kind of work
// wears and that say neither good nor bad. Lightness rises evenly, so that the order reads for every eye and in grey
// print. Pure.

#include <QColor>

namespace trainyard {

/// Of stage `stage` of `stages`, counted from 0.
[[nodiscard]] QColor stageColour(int stage, int stages, bool isDark);

} // namespace trainyard

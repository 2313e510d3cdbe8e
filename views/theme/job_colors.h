#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The colour of a job: the same in the list of jobs, on GPU tracks and in every curve. Of twelve colours no two are
// taken for each other, also by eyes without cones for red or green; both themes have the same hues. GUI thread for
// those of the theme.

#include <QColor>

namespace trainyard {

inline constexpr int kJobColors = 12;

/// Of the job at `index` of allJobs(), counted from 0, on the surfaces of the theme. Colours repeat after kJobColors in
/// a lighter and then in a darker shade.
[[nodiscard]] QColor jobColor(int index);
[[nodiscard]] QColor jobColor(int index, bool isDark);
/// Ink that reads on top of jobColor(index).
[[nodiscard]] QColor jobInk(int index);

} // namespace trainyard

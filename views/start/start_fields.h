#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The small fields of the sheet for a new plan: numbers that select themselves and leave the wheel to what scrolls. GUI
// thread.

#include "views/theme/theme.h"

class QDoubleSpinBox;
class QSpinBox;
class QWidget;

namespace trainyard {

inline constexpr int kCountWidth = 84;

/// A whole number; commits as it is typed, so that the preview follows.
[[nodiscard]] QSpinBox *countBox(int least, int most, QWidget *parent);
[[nodiscard]] QDoubleSpinBox *figureBox(double least, double most, int decimals, const QString &unit, QWidget *parent);

} // namespace trainyard

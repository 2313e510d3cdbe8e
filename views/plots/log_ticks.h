#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where a logarithmic axis that shows few decades has its ticks. A pure function.

#include <QVector>

namespace trainyard {

/// Ticks within a range of positive numbers: powers of ten, 1-2-5 of each below three decades, even steps below a third
/// of one.
[[nodiscard]] QVector<double> logTicks(double from, double to);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What an operation exchanges inside, as a strip along the foot of its bar: compute first, in a pale shade of the bar,
// then what nothing hides, in the colours of Why. Widths are shares of the operation; where in it they lie is not
// simulated. Bars that are too low or too narrow have none. Pure functions.

#include "core/evaluation/evaluate/metrics/breakdown_pieces.h"
#include "views/timeline/timeline_state.h"

#include <QColor>

#include <vector>

namespace trainyard {

/// logical pixels of a bar from which its shares can be told apart
inline constexpr int kStripFrom = 16;

/// Logical pixels of the strip in a bar of that height; 0: none.
[[nodiscard]] int stripHeight(int barHeight);
/// Whether an operation's bar has a strip at the present zoom.
[[nodiscard]] bool hasStrip(const TimelineState &state, std::uint32_t span, double width, int barHeight);
/// Which of the operation's parts the point of the chart is on; as many as it has: on none of them.
[[nodiscard]] std::size_t partUnder(
    const TimelineState &state, const ChartGeometry &geometry, std::uint32_t span, QPoint point);

/// "tensor parallel 12.3 ms, 14 %", with its colour.
struct PartLine {
    QString text;
    QColor color;
};
/// Nothing where the operation only computes.
[[nodiscard]] std::vector<PartLine> partLines(const Timeline &timeline, std::uint32_t span);

} // namespace trainyard

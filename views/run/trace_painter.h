#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the rows of a trace as they are in sight: a ruler, labels, and of each row what ran in every column of
// pixels, blended by how long; where spans are wide enough to tell apart, each with its name. A picture costs the same
// of any number of spans. Touches no widget.

#include "core/runs/profile/trace_rows.h"
#include "views/timeline/time_axis.h"

#include <QPainter>

#include <algorithm>
#include <optional>
#include <utility>

namespace trainyard {

/// What a trace chart shows.
struct TraceState {
    /// null: nothing
    std::shared_ptr<const TraceRows> rows;
    /// moments
    TimeInterval range, whole;
    /// pixels above what is in sight
    int scroll = 0;
    /// row, and its span
    std::optional<std::pair<std::size_t, std::size_t>> hovered;

    static constexpr int kLabels = 150, kRuler = 22, kRow = 18;
    [[nodiscard]] int rowCount() const { return rows ? int(rows->rows().size()) : 0; }
    [[nodiscard]] int contentHeight() const { return rowCount() * kRow; }
    /// Where the rows are in a chart of that size.
    [[nodiscard]] static QRect tracksOf(QSize size)
    {
        return { kLabels, kRuler, std::max(0, size.width() - kLabels), std::max(0, size.height() - kRuler) };
    }
    /// In such a chart: the row at that height; -1: none.
    [[nodiscard]] int rowAt(QSize size, int y) const;
    /// The span at that place: of columns with several spans the one that runs at its middle, else the first.
    [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> spanAt(QSize size, QPoint point) const;
};

/// "rank 3, stream 7"; of a row below another nothing.
[[nodiscard]] QString traceLabel(const TraceRows &rows, std::size_t row);
/// Title and facts of a span, a line each.
[[nodiscard]] QString traceTip(const TraceRows &rows, std::size_t row, std::size_t span);

void paintTrace(QPainter &painter, const TraceState &state, QSize size);

} // namespace trainyard

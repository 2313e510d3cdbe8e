#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The plane of the planner's scatter: price to the right, time upwards, both logarithmic, and a gutter at the left for
// candidates whose price nobody worked out. Pure coordinates.

#include <QPointF>
#include <QRectF>

namespace trainyard {

struct AxisRange {
    /// positive
    double from = 1, to = 10;

    [[nodiscard]] bool operator==(const AxisRange &) const = default;
    [[nodiscard]] bool has(double value) const { return value >= from && value <= to; }
    /// 0 at from, 1 at to.
    [[nodiscard]] double shareOf(double value) const;
    [[nodiscard]] double at(double share) const;
    /// By a factor below 1 less of it, around a value that keeps its place.
    [[nodiscard]] AxisRange zoomed(double around, double factor) const;
    /// Moved by a share of itself.
    [[nodiscard]] AxisRange moved(double share) const;
};

struct ScatterFrame {
    /// of the widget, without labels, the gutter included
    QRectF area;
    /// its width
    double gutter = 0;
    AxisRange price, time;

    [[nodiscard]] bool operator==(const ScatterFrame &) const = default;
    [[nodiscard]] QRectF plane() const { return area.adjusted(gutter, 0, 0, 0); }
    /// in the middle of the gutter where it is not above 0
    [[nodiscard]] double xOf(double usd) const;
    [[nodiscard]] double yOf(double seconds) const;
    [[nodiscard]] double usdAt(double x) const;
    [[nodiscard]] double secondsAt(double y) const;
    /// Whether a candidate is drawn.
    [[nodiscard]] bool has(double usd, double seconds) const;
};

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Finds places for rectangles: near where they want to be, inside an area, apart from each other by a gap. Pure.

#include <QPointF>
#include <QRectF>
#include <QSizeF>

#include <optional>
#include <vector>

namespace trainyard {

struct IslandWish {
    /// where it would like to be
    QPointF centre;
    QSizeF size;
    /// gives way only to ones that weigh as much or more: pinned ones 1, the one put down last 2
    int weight = 0;
};

/// Wished centres from longitude and latitude: west is left, north is up, the cloud of points spread over the area.
[[nodiscard]] std::vector<QPointF> spreadPlaces(
    const std::vector<QPointF> &places, const std::vector<QSizeF> &sizes, QRectF area);
/// Pushes the rectangles apart until each pair keeps the gap along one axis; empty where that did not succeed.
[[nodiscard]] std::optional<std::vector<QRectF>> pushApart(
    const std::vector<IslandWish> &wishes, QRectF area, QSizeF gap);
/// Rows of equal cells in the order given; empty where a rectangle is larger than a cell.
[[nodiscard]] std::optional<std::vector<QRectF>> inRows(const std::vector<QSizeF> &sizes, QRectF area, QSizeF gap);
/// Rows of equal cells that fill the area whatever the sizes: the last resort in a window that is too small.
[[nodiscard]] std::vector<QRectF> squeezed(std::size_t count, std::size_t columns, QRectF area, double gap);

} // namespace trainyard

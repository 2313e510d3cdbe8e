#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which part of the map is shown and how large: a zoom factor and where the enlarged ground lies. The ground always
// covers what is shown. Pure; the widget lays the map out on `ground`, so that what is drawn and what is hit are the
// same.

#include <QPointF>
#include <QRectF>

namespace trainyard {

class MapView {
public:
    static constexpr double kMostZoom = 24;

    [[nodiscard]] double zoom() const { return m_zoom; }
    [[nodiscard]] bool isZoomed() const { return m_zoom > 1; }
    /// The whole map's ground, of which `shown` is seen.
    [[nodiscard]] QRectF ground(const QRectF &shown) const;

    /// What lies under `at` stays there. True where something changed, as in the functions below.
    bool zoomAt(QPointF at, double factor, const QRectF &shown);
    bool panBy(QPointF by, const QRectF &shown);
    /// Shows a rectangle of the present ground as large as it fits, with some of what is around it.
    bool show(const QRectF &rect, const QRectF &shown);
    /// All of the map again.
    bool fit();

private:
    bool set(double zoom, QPointF corner, const QRectF &shown);

    double m_zoom = 1;
    /// of the ground, from that of what is shown; never positive
    QPointF m_corner;
};

} // namespace trainyard

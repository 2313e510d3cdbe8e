// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/map_view.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr double kAround = 1.15; // a thing shown as large as it fits keeps this many times its size

} // namespace

QRectF MapView::ground(const QRectF &shown) const
{
    return { shown.topLeft() + m_corner, shown.size() * m_zoom };
}

bool MapView::zoomAt(QPointF at, double factor, const QRectF &shown)
{
    const double zoom = std::clamp(m_zoom * factor, 1.0, kMostZoom);
    const QPointF from = at - shown.topLeft();
    return set(zoom, from - (from - m_corner) * (zoom / m_zoom), shown);
}

bool MapView::panBy(QPointF by, const QRectF &shown)
{
    return set(m_zoom, m_corner + by, shown);
}

bool MapView::show(const QRectF &rect, const QRectF &shown)
{
    if (rect.isEmpty() || shown.isEmpty())
        return false;
    const double factor =
        std::min(shown.width() / (rect.width() * kAround), shown.height() / (rect.height() * kAround));
    const double zoom = std::clamp(m_zoom * factor, 1.0, kMostZoom);
    const QPointF centre = (rect.center() - shown.topLeft() - m_corner) * (zoom / m_zoom);
    return set(zoom, QPointF(shown.width() / 2, shown.height() / 2) - centre, shown);
}

bool MapView::fit()
{
    const bool was = isZoomed();
    m_zoom = 1;
    m_corner = {};
    return was;
}

bool MapView::set(double zoom, QPointF corner, const QRectF &shown)
{
    if (zoom < 1.001)
        zoom = 1; // as many notches back as there were: all of it, to the last digit
    const QPointF least(shown.width() * (1 - zoom), shown.height() * (1 - zoom));
    const QPointF next(std::clamp(corner.x(), least.x(), 0.0), std::clamp(corner.y(), least.y(), 0.0));
    if (zoom == m_zoom && next == m_corner)
        return false;
    m_zoom = zoom;
    m_corner = next;
    return true;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/map_projection.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kKmPerPixel = 5; // where no two islands say it: a continent over a window
constexpr double kLeastPixels = 20; // between islands that may set the scale

} // namespace

MapProjection::MapProjection(const Cluster &cluster, const MapLayout &layout)
{
    double furthest = 0, scale = kKmPerPixel, latitudes = 0;
    for (std::size_t i = 0; i < cluster.datacenters.size() && i < layout.islands.size(); ++i) {
        const auto place = placeOf(cluster.datacenters[i]);
        if (!place)
            continue;
        const QPointF centre = layout.islands[i].frame.center();
        latitudes += place->latitude;
        anchor(cluster.datacenters[i].id, *place,
            { (centre.x() - layout.area.left()) / layout.area.width(),
                (centre.y() - layout.area.top()) / layout.area.height() });
        for (std::size_t j = 0; j < i; ++j) {
            const auto other = placeOf(cluster.datacenters[j]);
            const QPointF way = centre - layout.islands[j].frame.center();
            const double pixels = std::hypot(way.x(), way.y()), km = other ? greatCircleKm(*place, *other) : 0;
            if (pixels >= kLeastPixels && km > furthest) {
                furthest = km;
                scale = km / pixels;
            }
        }
    }
    m_parallel = m_anchors.isEmpty() ? 0 : latitudes / double(m_anchors.size());
    m_km = layout.area.size() * scale;
}

std::optional<QPointF> MapProjection::centreOf(const Datacenter &datacenter) const
{
    const auto known = m_anchors.constFind(QString::fromStdString(datacenter.id));
    const auto place = placeOf(datacenter);
    if (known == m_anchors.cend() || !place)
        return std::nullopt;
    const Offset offset = offsetBetween(known->place, *place, m_parallel);
    const QPointF centre = known->centre + QPointF(offset.eastKm / m_km.width(), -offset.northKm / m_km.height());
    return QPointF(std::clamp(centre.x(), 0.0, 1.0), std::clamp(centre.y(), 0.0, 1.0));
}

Place MapProjection::moved(Place from, QPointF step) const
{
    return movedBy(from, { step.x() * m_km.width(), -step.y() * m_km.height() }, m_parallel);
}

void MapProjection::anchor(const std::string &id, Place place, QPointF centre)
{
    m_anchors.insert(QString::fromStdString(id), { place, centre });
}

} // namespace trainyard

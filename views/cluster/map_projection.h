#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How places on the globe and on the map belong together once a datacenter is dragged to another place: from then on
// the map keeps one scale, so that an island lies where its coordinates say, also after undo. Pure geometry.

#include "core/facts/cluster/distance.h"
#include "views/cluster/map_layout.h"

#include <QHash>
#include <QString>

#include <optional>

namespace trainyard {

class MapProjection {
public:
    /// The scale at which the two datacenters that lie furthest apart are as far apart on the map as they are on the
    /// globe.
    MapProjection(const Cluster &cluster, const MapLayout &layout);

    /// Centre of an island as a share of the map's area; empty where the island was not known when the scale was taken.
    [[nodiscard]] std::optional<QPointF> centreOf(const Datacenter &datacenter) const;
    /// The place that lies `step`, a share of the area, from another.
    [[nodiscard]] Place moved(Place from, QPointF step) const;
    /// From now on the datacenter's place is shown there.
    void anchor(const std::string &id, Place place, QPointF centre);

private:
    struct Anchor {
        Place place;
        QPointF centre;
    };
    QHash<QString, Anchor> m_anchors;
    /// along which the map is true to scale, degrees
    double m_parallel = 0;
    /// that the area stands for
    QSizeF m_km;
};

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of an opened layer: streams of its ranks, what they are called and where they lie. Pure functions.

#include "core/systems/experts/layer.h"

#include <QString>

#include <vector>

namespace trainyard {

struct LayerRow {
    LayerTrack track;
    /// "NVLink", "NIC, other traffic"
    QString label;
    /// its spans in the chart
    std::size_t first = 0, last = 0;
    /// logical pixels below the ruler
    int y = 0;
};

struct LayerGroup { // of a rank, where there are two
    QString label;
    int y = 0;
};

struct LayerRows {
    std::vector<LayerRow> rows;
    std::vector<LayerGroup> groups;
    /// logical pixels
    int rowHeight = 0, height = 0;
};

inline constexpr int kLeastLayerRow = 18, kMostLayerRow = 52, kLayerGroup = 22;

/// As high as `room` allows, between the two bounds.
[[nodiscard]] LayerRows layerRows(const LayerChart &chart, int room);

struct BareTime {
    Nanoseconds start = 0, end = 0;
};
/// When no kernel of the fullest rank runs; together they are LayerTimes::exposed.
[[nodiscard]] std::vector<BareTime> bareTimes(const LayerChart &chart);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Paints an opened layer: ruler, labels, rows, spans with what they are, and where nothing computes. GUI thread.

#include "views/layer/layer_rows.h"
#include "views/timeline/time_axis.h"

#include <QColor>
#include <QRectF>

#include <optional>

class QPainter;

namespace trainyard {

/// Of kernels those of their pass, paler where they only serve the experts and greyer where they are attention; of
/// exchanges that of their way.
[[nodiscard]] QColor layerColor(const LayerSpan &span);

struct LayerScene {
    const LayerChart &chart;
    const LayerRows &rows;
    TimeInterval range;
    /// exchanges: a line below the ruler that names them
    QRectF ruler, exchanges, gutter, tracks;
    std::optional<std::size_t> selected, hovered;
};

[[nodiscard]] QRectF layerSpanRect(const LayerScene &scene, const LayerRow &row, const LayerSpan &span);
void paintLayer(QPainter &painter, const LayerScene &scene);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a press, a click or a rubber band at some place takes hold of: a GPU, its node or its pool. Where GPUs only make
// sense in tensor groups a plain press takes the node and Shift one GPU, else the other way round; Ctrl takes the pool.

#include "views/cluster/map_layout.h"
#include "views/cluster/map_scene.h"
#include "views/cluster/map_selection.h"

#include <QString>

namespace trainyard {

enum class GrabUnit { Gpu, Node, Pool };

[[nodiscard]] GrabUnit grabUnit(const MapScene &scene, const MapLayout &layout, Qt::KeyboardModifiers modifiers);
/// The GPUs that a drag from here would carry; empty where there are none.
[[nodiscard]] Carry grabAt(const MapScene &scene, const MapHit &hit, GrabUnit unit);
/// Everything selected, as one carry.
[[nodiscard]] Carry carrySelection(const MapScene &scene, const MapSelection &selection);
[[nodiscard]] bool covers(const MapSelection &selection, const MapHit &hit);
/// The same as things to select or highlight; islands and links too.
[[nodiscard]] MapSelection itemsAt(const MapScene &scene, const MapHit &hit, GrabUnit unit);
/// Nodes that a rubber band touches, runs of neighbours as one item.
[[nodiscard]] MapSelection itemsWithin(const MapScene &scene, const MapLayout &layout, const QRectF &band);
/// "drag: node · Shift GPU · Ctrl pool".
[[nodiscard]] QString grabHint(const MapScene &scene, const MapLayout &layout);

} // namespace trainyard

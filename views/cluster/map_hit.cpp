// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/map_layout.h"
#include "views/cluster/node_shape.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kHandleReach = 7, kLinkReach = 6;

struct PoolPlace {
    const IslandLayout *island = nullptr;
    const GroupLayout *group = nullptr;
    const PoolSlots *locations = nullptr;
};

PoolPlace findPool(const MapLayout &layout, int island, int pool)
{
    if (island < 0 || island >= int(layout.islands.size()))
        return {};
    const IslandLayout &place = layout.islands[std::size_t(island)];
    for (const GroupLayout &group : place.groups) {
        for (const PoolSlots &locations : group.pools) {
            if (locations.pool == pool)
                return { &place, &group, &locations };
        }
    }
    return {};
}

QRectF slotRect(const GroupLayout &group, int slot)
{
    const double x = group.grid.left() + (slot % group.columns) * (group.node.width() + group.gap);
    const double y = group.grid.top() + (slot / group.columns) * (group.node.height() + group.gap);
    return { QPointF(x, y), group.node };
}

QRectF barPart(const GroupLayout &group, int firstGpu, int gpus)
{
    const double perGpu = group.grid.width() / std::max(1, group.gpus);
    return { group.grid.left() + firstGpu * perGpu, group.grid.top(), gpus * perGpu, group.grid.height() };
}

QRectF nodeIn(const MapLayout &layout, const PoolPlace &place, int node)
{
    const PoolSlots &pool = *place.locations;
    if (isBars(layout.detail))
        return barPart(*place.group, pool.firstGpu + node * pool.gpusPerNode, pool.gpusPerNode);
    const QRectF slot = slotRect(*place.group, pool.firstSlot + node);
    return { slot.topLeft(), nodeShape(layout.detail, place.island->unit, pool.gpusPerNode).size };
}

MapHit inBar(const GroupLayout &group, int island, QPointF at)
{
    const int gpu =
        std::clamp(int((at.x() - group.grid.left()) / group.grid.width() * group.gpus), 0, std::max(0, group.gpus - 1));
    for (const PoolSlots &pool : group.pools) {
        const int local = gpu - pool.firstGpu;
        if (local >= 0 && local < pool.nodes * pool.gpusPerNode)
            return { MapHit::Kind::Node, island, pool.pool, local / pool.gpusPerNode * pool.gpusPerNode, -1 };
    }
    return { MapHit::Kind::Island, island };
}

MapHit inGrid(const MapLayout &layout, const GroupLayout &group, int island, QPointF at)
{
    const int column = int((at.x() - group.grid.left()) / (group.node.width() + group.gap));
    const int row = int((at.y() - group.grid.top()) / (group.node.height() + group.gap));
    const int slot = row * group.columns + column;
    if (column >= group.columns)
        return { MapHit::Kind::Island, island };
    for (const PoolSlots &pool : group.pools) {
        const int node = slot - pool.firstSlot;
        if (node < 0 || node >= pool.nodes)
            continue;
        const QRectF rect = nodeRect(layout, island, pool.pool, node);
        if (!rect.adjusted(-1, -1, 1, 1).contains(at))
            break;
        const int first = node * pool.gpusPerNode;
        if (layout.detail == MapDetail::Gpus) {
            for (int gpu = first; gpu < first + pool.gpusPerNode; ++gpu) {
                if (gpuRect(layout, island, pool.pool, gpu).adjusted(0, 0, 2, 2).contains(at))
                    return { MapHit::Kind::Gpu, island, pool.pool, gpu, -1 };
            }
        }
        return { MapHit::Kind::Node, island, pool.pool, first, -1 };
    }
    return { MapHit::Kind::Island, island };
}

MapHit inIsland(const MapLayout &layout, int index, QPointF at)
{
    const IslandLayout &island = layout.islands[std::size_t(index)];
    for (const GroupLayout &group : island.groups) {
        if (group.label.contains(at))
            return { MapHit::Kind::Pool, index, group.pools.empty() ? -1 : group.pools.front().pool, 0, -1 };
        if (group.grid.adjusted(-1, -1, 1, 1).contains(at))
            return isBars(layout.detail) ? inBar(group, index, at) : inGrid(layout, group, index, at);
    }
    if (island.title.contains(at))
        return { MapHit::Kind::Title, index };
    return { MapHit::Kind::Island, index };
}

double distanceTo(const LinkLayout &link, QPointF at)
{
    double nearest = 1e9;
    const int steps =
        std::clamp(int(std::hypot(link.to.x() - link.from.x(), link.to.y() - link.from.y()) / 5), 12, 400);
    for (int step = 0; step <= steps; ++step) {
        const QPointF d = pointOnLink(link, double(step) / steps) - at;
        nearest = std::min(nearest, std::hypot(d.x(), d.y()));
    }
    return nearest;
}

} // namespace

std::array<QPointF, 4> handlePoints(const QRectF &frame)
{
    return { QPointF(frame.left(), frame.center().y()), QPointF(frame.right(), frame.center().y()),
        QPointF(frame.center().x(), frame.top()), QPointF(frame.center().x(), frame.bottom()) };
}

QRectF nodeRect(const MapLayout &layout, int island, int pool, int node)
{
    const PoolPlace place = findPool(layout, island, pool);
    return place.locations ? nodeIn(layout, place, node) : QRectF();
}

QRectF gpuRect(const MapLayout &layout, int island, int pool, int gpu)
{
    const PoolPlace place = findPool(layout, island, pool);
    if (!place.locations)
        return {};
    const int perNode = std::max(1, place.locations->gpusPerNode);
    const QRectF node = nodeIn(layout, place, gpu / perNode);
    if (layout.detail != MapDetail::Gpus)
        return node;
    const NodeShape shape = nodeShape(layout.detail, place.island->unit, perNode);
    const int local = gpu % perNode;
    return { node.left() + kNodePad + (local % shape.columns) * shape.pitch.width(),
        node.top() + kNodePad + (local / shape.columns) * shape.pitch.height(),
        shape.pitch.width() - cellGap(place.island->unit), shape.pitch.height() - cellGap(place.island->unit) };
}

QRectF poolRect(const MapLayout &layout, int island, int pool)
{
    const PoolPlace place = findPool(layout, island, pool);
    if (!place.locations)
        return {};
    QRectF rect;
    const int columns = isBars(layout.detail) ? place.locations->nodes : place.group->columns;
    const int nodes = place.locations->nodes;
    for (const int node : { 0, nodes - 1, std::min(columns, nodes) - 1, std::max(0, nodes - columns) })
        rect |= nodeIn(layout, place, std::max(0, node));
    return rect;
}

MapHit hitTest(const MapLayout &layout, QPointF at)
{
    for (int i = int(layout.islands.size()) - 1; i >= 0; --i) {
        for (const QPointF &handle : handlePoints(layout.islands[std::size_t(i)].frame)) {
            if (std::hypot(at.x() - handle.x(), at.y() - handle.y()) <= kHandleReach)
                return { MapHit::Kind::Handle, i };
        }
    }
    for (int i = int(layout.islands.size()) - 1; i >= 0; --i) {
        if (layout.islands[std::size_t(i)].frame.contains(at))
            return inIsland(layout, i, at);
    }
    for (std::size_t i = 0; i < layout.links.size(); ++i) {
        const LinkLayout &link = layout.links[i];
        if (link.visible && (link.card.contains(at) || distanceTo(link, at) <= kLinkReach))
            return { MapHit::Kind::Link, -1, -1, -1, int(i) };
    }
    return {};
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/node_shape.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {

namespace {

QSizeF slotSize(const GroupSpec &group, MapDetail detail, double unit)
{
    QSizeF size;
    for (const PoolSpec &pool : group.pools)
        size = size.expandedTo(nodeShape(detail, unit, pool.gpusPerNode).size);
    return size;
}

int nodesOf(const GroupSpec &group)
{
    int nodes = 0;
    for (const PoolSpec &pool : group.pools)
        nodes += pool.nodes;
    return nodes;
}

int columnsWithin(double width, double node, double gap)
{
    return static_cast<int>(std::floor((width + gap + 1e-6) / (node + gap)));
}

double gridHeight(const GroupSpec &group, MapDetail detail, double unit, double width)
{
    if (detail == MapDetail::Bars)
        return kBarHeight;
    const QSizeF node = slotSize(group, detail, unit);
    const double gap = nodeGap(detail, unit);
    const int columns = columnsWithin(width, node.width(), gap);
    if (columns < 1)
        return std::numeric_limits<double>::infinity();
    const int rows = (nodesOf(group) + columns - 1) / columns;
    return rows * (node.height() + gap) - gap;
}

GroupLayout fillGroup(const GroupSpec &spec, MapDetail detail, double unit, QRectF grid)
{
    GroupLayout group;
    group.grid = grid;
    group.node = slotSize(spec, detail, unit);
    group.gap = nodeGap(detail, unit);
    group.columns = std::max(1, columnsWithin(grid.width(), group.node.width(), group.gap));
    int slot = 0;
    for (const PoolSpec &pool : spec.pools) {
        group.pools.push_back({pool.pool, slot, pool.nodes, pool.gpusPerNode, group.gpus});
        slot += pool.nodes;
        group.gpus += pool.nodes * pool.gpusPerNode;
    }
    return group;
}

} // namespace

NodeShape nodeShape(MapDetail detail, double unit, int gpusPerNode)
{
    if (detail == MapDetail::Nodes)
        return {1, 1, {unit, unit}, {unit - 1, unit - 1}};
    NodeShape shape;
    const int gpus = std::max(1, gpusPerNode);
    shape.rows = gpus == 1 ? 1 : std::max(2, static_cast<int>(std::lround(std::sqrt(gpus / 2.0))));
    shape.columns = (gpus + shape.rows - 1) / shape.rows;
    shape.pitch = {unit, std::round(unit * 1.5)};
    shape.size = {shape.columns * shape.pitch.width() - 1 + 2 * kNodePad, shape.rows * shape.pitch.height() - 1 + 2 * kNodePad};
    return shape;
}

double nodeGap(MapDetail detail, double unit)
{
    return detail == MapDetail::Nodes ? 1 : std::clamp(std::round(unit * 0.5), 2.0, 6.0);
}

double bodyHeight(const IslandSpec &island, MapDetail detail, double unit, double width, double labelHeight)
{
    double height = 0;
    for (const GroupSpec &group : island.groups)
        height += gridHeight(group, detail, unit, width);
    const double labels = island.groups.size() > 1 ? labelHeight * double(island.groups.size()) : 0;
    return height + labels + kGroupGap * std::max(0.0, double(island.groups.size()) - 1);
}

IslandLayout fillIsland(const IslandSpec &spec, MapDetail detail, double unit, QRectF frame, const MapSpec &map)
{
    IslandLayout island;
    island.frame = frame;
    island.title = {frame.left(), frame.top(), frame.width(), map.titleHeight};
    const QRectF body = frame.adjusted(kIslandPad, map.titleHeight, -kIslandPad, -kIslandPad);
    const double least = detail == MapDetail::Gpus ? 2 : kMinNodeUnit - 1;
    while (unit > least && bodyHeight(spec, detail, unit, body.width(), map.labelHeight) > body.height() + 0.5)
        unit -= 1;
    island.unit = unit;
    double y = body.top();
    const bool labelled = spec.groups.size() > 1;
    for (const GroupSpec &group : spec.groups) {
        const QRectF label = labelled ? QRectF(body.left(), y, body.width(), map.labelHeight)
                                      : QRectF(body.left(), frame.top() + map.titleHeight / 2, body.width(), map.titleHeight / 2 - 2);
        if (labelled)
            y += map.labelHeight;
        const double height = std::min(gridHeight(group, detail, unit, body.width()), std::max(0.0, body.bottom() - y));
        island.groups.push_back(fillGroup(group, detail, unit, {body.left(), y, body.width(), height}));
        island.groups.back().label = label;
        y += height + kGroupGap;
    }
    return island;
}

} // namespace trainyard

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

/// Size of a group's grid within `width`; the height is infinite where not even one node fits.
QSizeF gridSize(const GroupSpec &group, MapDetail detail, double unit, double width)
{
    if (isBars(detail))
        return { width, kBarHeight };
    const QSizeF node = slotSize(group, detail, unit);
    const double gap = nodeGap(detail, unit);
    const int columns = std::min(columnsWithin(width, node.width(), gap), std::max(1, nodesOf(group)));
    if (columns < 1)
        return { width, std::numeric_limits<double>::infinity() };
    const int rows = (nodesOf(group) + columns - 1) / columns;
    return { columns * (node.width() + gap) - gap, rows * (node.height() + gap) - gap };
}

GroupLayout fillGroup(const GroupSpec &spec, MapDetail detail, double unit, QRectF grid)
{
    GroupLayout group;
    group.grid = grid;
    group.node = isBars(detail) ? QSizeF() : slotSize(spec, detail, unit);
    group.gap = nodeGap(detail, unit);
    group.columns = isBars(detail) ? 1 : std::max(1, columnsWithin(grid.width(), group.node.width(), group.gap));
    int slot = 0;
    for (const PoolSpec &pool : spec.pools) {
        group.pools.push_back({ pool.pool, slot, pool.nodes, pool.gpusPerNode, group.gpus });
        slot += pool.nodes;
        group.gpus += pool.nodes * pool.gpusPerNode;
    }
    return group;
}

/// A tile has one row, in which each group has its share.
GroupFlow flowTile(const IslandSpec &island, double width)
{
    GroupFlow flow;
    flow.height = kTileBar;
    flow.width = width;
    double gpus = 0, x = 0;
    const auto count = [](const GroupSpec &group) {
        double sum = 0;
        for (const PoolSpec &pool : group.pools)
            sum += double(pool.nodes) * pool.gpusPerNode;
        return std::max(1.0, sum);
    };
    for (const GroupSpec &group : island.groups)
        gpus += count(group);
    for (const GroupSpec &group : island.groups) {
        const double part = width * count(group) / gpus;
        flow.labels.emplace_back();
        flow.grids.emplace_back(x, 0, std::max(1.0, part - (x + part < width - 0.5 ? 1 : 0)), kTileBar);
        x += part;
    }
    return flow;
}

} // namespace

NodeShape nodeShape(MapDetail detail, double unit, int gpusPerNode)
{
    if (detail == MapDetail::Nodes)
        return { 1, 1, { unit, unit }, { unit - 1, unit - 1 } }; // bars have no cells
    NodeShape shape;
    const int gpus = std::max(1, gpusPerNode);
    shape.rows = gpus <= 2 ? 1 : std::max(2, static_cast<int>(std::lround(std::sqrt(gpus / 2.0))));
    shape.columns = (gpus + shape.rows - 1) / shape.rows;
    shape.pitch = { unit, std::round(unit * 1.5) };
    shape.size = { shape.columns * shape.pitch.width() - cellGap(unit) + 2 * kNodePad,
        shape.rows * shape.pitch.height() - cellGap(unit) + 2 * kNodePad };
    return shape;
}

double nodeGap(MapDetail detail, double unit)
{
    return detail == MapDetail::Nodes ? 1 : std::clamp(std::round(unit * 0.5), 2.0, 6.0);
}

double cellGap(double unit)
{
    return unit >= 12 ? 2 : 1;
}

int nameLines(const IslandSpec &island, MapDetail detail, double width)
{
    const double name = detail == MapDetail::Tiles ? island.tileNameWidth : island.nameWidth;
    return name > width - 2 * sidePad(detail) + 0.5 ? 2 : 1;
}

double headHeight(const MapSpec &map, const IslandSpec &island, MapDetail detail, double width)
{
    const int lines = nameLines(island, detail, width);
    return detail == MapDetail::Tiles ? kTileTop + lines * map.tileLine + 2
                                      : map.titleHeight + (lines - 1) * map.nameLine;
}

double islandHeight(const MapSpec &map, const IslandSpec &island, MapDetail detail, double unit, double width)
{
    return headHeight(map, island, detail, width)
        + flowGroups(island, detail, unit, width - 2 * sidePad(detail), map.labelHeight).height + sidePad(detail);
}

GroupFlow flowGroups(const IslandSpec &island, MapDetail detail, double unit, double width, double labelHeight)
{
    if (detail == MapDetail::Tiles)
        return flowTile(island, width);
    GroupFlow flow;
    const bool labelled = island.groups.size() > 1;
    const double label = labelled ? labelHeight : 0;
    double x = 0, y = 0, rowHeight = 0;
    for (const GroupSpec &group : island.groups) {
        QSizeF grid = gridSize(group, detail, unit, width);
        const double whole = std::max(grid.width(), labelled ? group.labelWidth : 0);
        if (x > 0 && x + whole > width + 0.5) {
            y += rowHeight + kGroupGap;
            x = rowHeight = 0;
        }
        flow.labels.emplace_back(x, y, std::min(whole, width - x), label);
        flow.grids.emplace_back(x, y + label, grid.width(), grid.height());
        flow.width = std::max(flow.width, x + whole);
        rowHeight = std::max(rowHeight, label + grid.height());
        x += whole + 2 * kGroupGap;
    }
    flow.height = y + rowHeight;
    return flow;
}

IslandLayout fillIsland(const IslandSpec &spec, MapDetail detail, double unit, QRectF frame, const MapSpec &map)
{
    IslandLayout island;
    island.frame = frame;
    const double head = headHeight(map, spec, detail, frame.width());
    island.title = { frame.left(), frame.top(), frame.width(), std::min(head, frame.height()) };
    QRectF body = frame.adjusted(sidePad(detail), head, -sidePad(detail), -sidePad(detail));
    if (body.height() < kTileBar)
        body.setTop(
            std::max(frame.top(), frame.bottom() - sidePad(detail) - kTileBar)); // a frame too small for its name
    const double least = detail == MapDetail::Gpus ? 2 : kMinUnit - 1;
    GroupFlow flow = flowGroups(spec, detail, unit, body.width(), map.labelHeight);
    while (unit > least && flow.height > body.height() + 0.5)
        flow = flowGroups(spec, detail, --unit, body.width(), map.labelHeight);
    island.unit = unit;
    for (std::size_t g = 0; g < spec.groups.size(); ++g) {
        QRectF grid = flow.grids[g].translated(body.topLeft());
        grid.setBottom(std::min(grid.bottom(), body.bottom()));
        island.groups.push_back(fillGroup(spec.groups[g], detail, unit, grid));
        // One group needs no label of its own: the island's subtitle is it. A tile has neither.
        if (detail == MapDetail::Tiles)
            continue;
        island.groups.back().label = spec.groups.size() > 1
            ? flow.labels[g].translated(body.topLeft())
            : QRectF(body.left(), frame.top() + head - map.titleHeight / 2, body.width(), map.titleHeight / 2 - 2);
    }
    return island;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/map_focus.h"

#include "views/cluster/map_jobs.h"

#include <QStringList>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

std::vector<MapItem> tabOrder(const MapScene &scene, const MapLayout &layout)
{
    std::vector<MapItem> order;
    for (int i = 0; i < int(scene.islands.size()); ++i) {
        order.push_back({ MapItem::Kind::Island, i });
        for (int p = 0; p < int(scene.islands[std::size_t(i)].pools.size()); ++p)
            order.push_back({ MapItem::Kind::Pool, i, p });
    }
    for (int l = 0; l < int(layout.links.size()) && l < int(scene.links.size()); ++l) {
        if (scene.links[std::size_t(l)].a >= 0
            && scene.links[std::size_t(l)].b >= 0) // one that carries nothing shows while it has the focus
            order.push_back({ MapItem::Kind::Link, -1, -1, 0, 0, l });
    }
    return order;
}

const PoolScene &poolOf(const MapScene &scene, const MapItem &item)
{
    return scene.islands[std::size_t(item.island)].pools[std::size_t(item.pool)];
}

bool exists(const MapScene &scene, const MapItem &item)
{
    return item.island >= 0 && item.island < int(scene.islands.size()) && item.pool >= 0
        && item.pool < int(scene.islands[std::size_t(item.island)].pools.size());
}

MapItem nodeItem(const MapScene &scene, const MapItem &pool, int node)
{
    const int perNode = poolOf(scene, pool).gpusPerNode;
    return { MapItem::Kind::Gpus, pool.island, pool.pool, node * perNode, perNode, -1 };
}

int columnsOf(const MapLayout &layout, const MapItem &item)
{
    if (isBars(layout.detail))
        return 1 << 20;
    for (const GroupLayout &group : layout.islands[std::size_t(item.island)].groups) {
        if (std::ranges::find(group.pools, item.pool, &PoolSlots::pool) != group.pools.end())
            return group.columns;
    }
    return 1;
}

MapItem nodeTowards(const MapScene &scene, const MapLayout &layout, const MapItem &from, int key)
{
    const PoolScene &pool = poolOf(scene, from);
    const int node = from.firstGpu / std::max(1, pool.gpusPerNode), columns = columnsOf(layout, from);
    const int step = key == Qt::Key_Left ? -1 : key == Qt::Key_Right ? 1 : key == Qt::Key_Up ? -columns : columns;
    const int next = node + step;
    if (next < 0)
        return { MapItem::Kind::Pool, from.island, from.pool };
    return next < pool.nodes ? nodeItem(scene, from, next) : from;
}

} // namespace

std::optional<MapItem> nextItem(
    const MapScene &scene, const MapLayout &layout, const std::optional<MapItem> &from, bool forward)
{
    const std::vector<MapItem> order = tabOrder(scene, layout);
    if (order.empty())
        return std::nullopt;
    if (!from)
        return forward ? order.front() : order.back();
    MapItem anchor = *from;
    if (anchor.kind == MapItem::Kind::Gpus)
        anchor = { MapItem::Kind::Pool, from->island, from->pool };
    const auto found = std::ranges::find(order, anchor);
    if (found == order.end())
        return forward ? order.front() : order.back();
    const auto index = found - order.begin() + (forward ? 1 : -1);
    return index >= 0 && index < std::ssize(order) ? std::optional(order[std::size_t(index)]) : std::nullopt;
}

int islandTowards(const MapLayout &layout, int from, int key)
{
    if (from < 0 || from >= int(layout.islands.size()))
        return layout.islands.empty() ? -1 : 0;
    const QPointF here = layout.islands[std::size_t(from)].frame.center();
    int best = from;
    double bestCost = 1e18;
    for (int i = 0; i < int(layout.islands.size()); ++i) {
        const QPointF d = layout.islands[std::size_t(i)].frame.center() - here;
        const double along = key == Qt::Key_Left ? -d.x()
            : key == Qt::Key_Right               ? d.x()
            : key == Qt::Key_Up                  ? -d.y()
                                                 : d.y();
        const double across = key == Qt::Key_Left || key == Qt::Key_Right ? std::abs(d.y()) : std::abs(d.x());
        if (i == from || along <= 1)
            continue;
        const double cost = along + 2 * across;
        if (cost < bestCost) {
            bestCost = cost;
            best = i;
        }
    }
    return best;
}

MapItem itemTowards(const MapScene &scene, const MapLayout &layout, const MapItem &from, int key)
{
    switch (from.kind) {
    case MapItem::Kind::Island:
        return { MapItem::Kind::Island, islandTowards(layout, from.island, key) };
    case MapItem::Kind::Pool:
        if (!exists(scene, from))
            return from;
        if (key == Qt::Key_Left || key == Qt::Key_Up)
            return { MapItem::Kind::Island, from.island };
        return poolOf(scene, from).nodes > 0 ? nodeItem(scene, from, 0) : from;
    case MapItem::Kind::Gpus:
        return exists(scene, from) ? nodeTowards(scene, layout, from, key) : from;
    default:
        return from;
    }
}

Carry carryOf(const MapScene &scene, const MapItem &item)
{
    Carry carry;
    carry.island = item.island;
    if (item.kind == MapItem::Kind::Island && item.island >= 0 && item.island < int(scene.islands.size())) {
        const IslandScene &island = scene.islands[std::size_t(item.island)];
        carry.amount = island.pools.empty() ? 0 : std::min(island.gpus, island.pools.back().gpusPerNode);
    } else if (exists(scene, item)) {
        const int all = int(poolOf(scene, item).stageOfGpu.size());
        const bool whole = item.kind == MapItem::Kind::Pool;
        carry.what.push_back({ item.island, item.pool, whole ? 0 : item.firstGpu, whole ? all : item.gpus });
    }
    return carry;
}

QString spokenName(const MapScene &scene, const MapItem &item)
{
    if (item.kind == MapItem::Kind::Link && item.link >= 0 && item.link < int(scene.links.size())) {
        const LinkScene &link = scene.links[std::size_t(item.link)];
        return QStringList { QStringLiteral("Link ") + link.name, link.head, link.foot }.join(QStringLiteral(", "));
    }
    if (item.island < 0 || item.island >= int(scene.islands.size()))
        return {};
    const IslandScene &island = scene.islands[std::size_t(item.island)];
    if (item.kind == MapItem::Kind::Island || !exists(scene, item)) {
        const QString idle = island.idleText.isEmpty() ? QString() : QStringLiteral(", ") + island.idleText;
        return island.title + QStringLiteral(", ") + island.subtitle + idle;
    }
    const PoolScene &pool = poolOf(scene, item);
    if (item.kind == MapItem::Kind::Pool)
        return QStringLiteral("%1, pool of %2 × %3").arg(island.title).arg(pool.stageOfGpu.size()).arg(pool.gpuName);
    std::vector<int> stages;
    for (int g = item.firstGpu; g < item.firstGpu + item.gpus && g < int(pool.stageOfGpu.size()); ++g) {
        if (pool.stageOfGpu[std::size_t(g)] >= 0)
            stages.push_back(pool.stageOfGpu[std::size_t(g)]);
    }
    return QStringList { island.title, QStringLiteral("node %1").arg(item.firstGpu / std::max(1, pool.gpusPerNode) + 1),
        stages.empty()      ? QStringLiteral("idle")
            : scene.hasJobs ? jobLines(pool, item.firstGpu).join(QStringLiteral(", "))
                            : stageText(stages) }
        .join(QStringLiteral(", "));
}

} // namespace trainyard

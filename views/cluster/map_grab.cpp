// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/map_grab.h"

#include <algorithm>

namespace trainyard {

namespace {

const PoolScene *poolAt(const MapScene &scene, int island, int pool)
{
    if (island < 0 || island >= int(scene.islands.size()))
        return nullptr;
    const auto &pools = scene.islands[std::size_t(island)].pools;
    return pool >= 0 && pool < int(pools.size()) ? &pools[std::size_t(pool)] : nullptr;
}

GpuSelection wholePool(const PoolScene &scene, int island, int pool)
{
    return { island, pool, 0, int(scene.stageOfGpu.size()) };
}

MapItem itemOf(const MapScene &scene, const GpuSelection &part)
{
    const PoolScene *pool = poolAt(scene, part.datacenter, part.pool);
    const bool whole = pool && part.firstGpu == 0 && part.gpus == int(pool->stageOfGpu.size());
    return { whole ? MapItem::Kind::Pool : MapItem::Kind::Gpus, part.datacenter, part.pool, part.firstGpu, part.gpus,
        -1 };
}

} // namespace

GrabUnit grabUnit(const MapScene &scene, const MapLayout &layout, Qt::KeyboardModifiers modifiers)
{
    if (modifiers & Qt::ControlModifier)
        return GrabUnit::Pool;
    if (layout.detail != MapDetail::Gpus)
        return GrabUnit::Node;
    const bool nodeFirst = scene.tensor > 1;
    return nodeFirst != bool(modifiers & Qt::ShiftModifier) ? GrabUnit::Node : GrabUnit::Gpu;
}

Carry grabAt(const MapScene &scene, const MapHit &hit, GrabUnit unit)
{
    const PoolScene *pool = poolAt(scene, hit.island, hit.pool);
    if (!pool)
        return {};
    Carry carry;
    carry.island = hit.island;
    if (hit.kind == MapHit::Kind::Pool) {
        for (const GroupScene &group : scene.islands[std::size_t(hit.island)].groups) {
            if (std::ranges::find(group.pools, hit.pool) == group.pools.end())
                continue;
            for (const int p : group.pools)
                carry.what.push_back(wholePool(*poolAt(scene, hit.island, p), hit.island, p));
        }
        return carry;
    }
    if (hit.kind != MapHit::Kind::Gpu && hit.kind != MapHit::Kind::Node)
        return {};
    if (unit == GrabUnit::Pool)
        carry.what.push_back(wholePool(*pool, hit.island, hit.pool));
    else if (unit == GrabUnit::Node || hit.kind == MapHit::Kind::Node)
        carry.what.push_back(
            { hit.island, hit.pool, hit.gpu / std::max(1, pool->gpusPerNode) * pool->gpusPerNode, pool->gpusPerNode });
    else
        carry.what.push_back({ hit.island, hit.pool, hit.gpu, 1 });
    return carry;
}

Carry carrySelection(const MapScene &scene, const MapSelection &selection)
{
    Carry carry;
    for (const MapItem &item : selection) {
        const PoolScene *pool = poolAt(scene, item.island, item.pool);
        if (!pool || (item.kind != MapItem::Kind::Gpus && item.kind != MapItem::Kind::Pool))
            continue;
        carry.island = item.island;
        carry.what.push_back(item.kind == MapItem::Kind::Pool
                ? wholePool(*pool, item.island, item.pool)
                : GpuSelection { item.island, item.pool, item.firstGpu, item.gpus });
    }
    return carry;
}

bool covers(const MapSelection &selection, const MapHit &hit)
{
    if (hit.kind != MapHit::Kind::Gpu && hit.kind != MapHit::Kind::Node)
        return false;
    return std::ranges::any_of(selection, [&](const MapItem &item) {
        if (item.island != hit.island || item.pool != hit.pool)
            return false;
        return item.kind == MapItem::Kind::Pool
            || (item.kind == MapItem::Kind::Gpus && hit.gpu >= item.firstGpu && hit.gpu < item.firstGpu + item.gpus);
    });
}

MapSelection itemsAt(const MapScene &scene, const MapHit &hit, GrabUnit unit)
{
    if (hit.kind == MapHit::Kind::Link)
        return { { MapItem::Kind::Link, -1, -1, 0, 0, hit.link } };
    if (hit.kind == MapHit::Kind::Title || hit.kind == MapHit::Kind::Island || hit.kind == MapHit::Kind::Handle)
        return { { MapItem::Kind::Island, hit.island } };
    MapSelection items;
    for (const GpuSelection &part : grabAt(scene, hit, unit).what)
        items.push_back(itemOf(scene, part));
    return items;
}

MapSelection itemsWithin(const MapScene &scene, const MapLayout &layout, const QRectF &band)
{
    MapSelection items;
    for (int i = 0; i < int(layout.islands.size()) && i < int(scene.islands.size()); ++i) {
        if (!layout.islands[std::size_t(i)].frame.intersects(band))
            continue;
        const auto &pools = scene.islands[std::size_t(i)].pools;
        for (int p = 0; p < int(pools.size()); ++p) {
            const int perNode = pools[std::size_t(p)].gpusPerNode;
            for (int node = 0; node < pools[std::size_t(p)].nodes; ++node) {
                if (!nodeRect(layout, i, p, node).intersects(band))
                    continue;
                const bool joins = !items.empty() && items.back().island == i && items.back().pool == p
                    && items.back().firstGpu + items.back().gpus == node * perNode;
                if (joins)
                    items.back().gpus += perNode;
                else
                    items.push_back({ MapItem::Kind::Gpus, i, p, node * perNode, perNode, -1 });
            }
        }
    }
    return items;
}

QString grabHint(const MapScene &scene, const MapLayout &layout)
{
    if (layout.detail != MapDetail::Gpus)
        return QStringLiteral("drag GPUs to another datacenter · it asks how many · Ctrl pool");
    return scene.tensor > 1 ? QStringLiteral("drag: node · Shift GPU · Ctrl pool")
                            : QStringLiteral("drag: GPU · Shift node · Ctrl pool");
}

} // namespace trainyard

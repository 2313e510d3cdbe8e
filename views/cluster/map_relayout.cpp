// SPDX-License-Identifier: GPL-3.0-or-later
// The map after a change: what stays where it is, what grows, what is laid out anew.
#include "views/cluster/island_placement.h"
#include "views/cluster/link_layout.h"
#include "views/cluster/map_layout.h"
#include "views/cluster/node_shape.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr QSizeF kLeastGap(10, 8); // that islands keep which a person arranges
constexpr double kLargestUnit = 40; // of a cell on a zoomed map

int gpusOf(const IslandSpec &island)
{
    int gpus = 0;
    for (const GroupSpec &group : island.groups) {
        for (const PoolSpec &pool : group.pools)
            gpus += pool.nodes * pool.gpusPerNode;
    }
    return gpus;
}

int gpusOf(const IslandLayout &island)
{
    int gpus = 0;
    for (const GroupLayout &group : island.groups)
        gpus += group.gpus;
    return gpus;
}

bool fits(const MapSpec &spec, const IslandSpec &island, MapDetail detail, double unit, QSizeF size)
{
    return islandHeight(spec, island, detail, unit, size.width()) <= size.height() + 0.5;
}

/// The same islands with as many GPUs in all: nothing came or went, GPUs at most moved.
bool isAlike(const MapSpec &spec, const MapLayout &kept)
{
    if (spec.islands.size() != kept.islands.size() || kept.islands.empty())
        return false;
    int before = 0, after = 0;
    for (std::size_t i = 0; i < spec.islands.size(); ++i) {
        before += gpusOf(kept.islands[i]);
        after += gpusOf(spec.islands[i]);
        if (!fits(spec, spec.islands[i], kept.detail, kept.islands[i].unit, kept.islands[i].frame.size()))
            return false;
    }
    return before == after;
}

QPointF pinnedCentre(const IslandSpec &island, const QRectF &area, QPointF otherwise)
{
    return island.pinned
        ? QPointF(area.left() + island.pinned->x() * area.width(), area.top() + island.pinned->y() * area.height())
        : otherwise;
}

void fillAll(const MapSpec &spec, const std::vector<QRectF> &frames, double unit, MapLayout &layout)
{
    layout.islands.clear();
    for (std::size_t i = 0; i < frames.size(); ++i)
        layout.islands.push_back(fillIsland(spec.islands[i], layout.detail, unit, frames[i], spec));
}

/// The largest unit at which all contents fit their frames; 0 where none does.
double largestUnit(const MapSpec &spec, const std::vector<QRectF> &frames, MapDetail detail, double most)
{
    if (isBars(detail))
        most = kMinUnit;
    for (double unit = std::floor(most); unit >= kMinUnit; --unit) {
        bool all = true;
        for (std::size_t i = 0; i < frames.size() && all; ++i)
            all = fits(spec, spec.islands[i], detail, unit, frames[i].size());
        if (all)
            return unit;
    }
    return 0;
}

/// The island's frame, taller where its new contents need it and nothing stands in the way.
QRectF grownFrame(const MapSpec &spec, const MapLayout &layout, std::size_t island, double unit)
{
    const QRectF frame = layout.islands[island].frame;
    const double more =
        std::ceil(islandHeight(spec, spec.islands[island], layout.detail, unit, frame.width()) - frame.height());
    if (more <= 0)
        return frame;
    for (const double up : { 0.0, more, std::max(0.0, frame.bottom() + more - layout.area.bottom()) }) {
        const QRectF grown = frame.adjusted(0, -up, 0, more - up);
        bool free = layout.area.contains(grown);
        for (std::size_t other = 0; other < layout.islands.size(); ++other)
            free = free && (other == island || !grown.adjusted(-4, -4, 4, 4).intersects(layout.islands[other].frame));
        if (free)
            return grown;
    }
    return frame;
}

} // namespace

MapLayout relayOutMap(const MapSpec &spec, const MapLayout &kept)
{
    if (!isAlike(spec, kept))
        return layOutMap(spec, kept.area);
    std::vector<IslandWish> wishes;
    bool isStill = true;
    for (std::size_t i = 0; i < spec.islands.size(); ++i) {
        const QRectF frame = kept.islands[i].frame;
        const auto &pin = spec.islands[i].pinned;
        const QPointF centre = pinnedCentre(spec.islands[i], kept.area, frame.center());
        isStill = isStill && (centre - frame.center()).manhattanLength() < 0.5;
        wishes.push_back({ centre, frame.size(), pin ? int(i) == spec.held ? 2 : 1 : 0 });
    }
    MapLayout layout = kept;
    if (isStill) {
        for (std::size_t i = 0; i < spec.islands.size(); ++i)
            layout.islands[i] =
                fillIsland(spec.islands[i], kept.detail, kept.islands[i].unit, kept.islands[i].frame, spec);
    } else {
        const auto frames = pushApart(wishes, kept.area, kLeastGap);
        if (!frames)
            return layOutMap(spec, kept.area);
        for (std::size_t i = 0; i < spec.islands.size(); ++i)
            layout.islands[i] = fillIsland(spec.islands[i], kept.detail, kept.islands[i].unit, (*frames)[i], spec);
    }
    layOutLinks(spec, layout);
    return layout;
}

MapLayout zoomMap(const MapSpec &spec, const MapLayout &fit, QRectF ground)
{
    MapLayout layout = fit;
    layout.area = ground;
    layout.shown = fit.area;
    if (fit.islands.empty() || fit.islands.size() != spec.islands.size())
        return layout;
    const double zoom = ground.width() / fit.area.width();
    std::vector<QRectF> frames;
    for (const IslandLayout &island : fit.islands) {
        const QPointF corner = ground.topLeft() + (island.frame.topLeft() - fit.area.topLeft()) * zoom;
        frames.emplace_back(std::round(corner.x()), std::round(corner.y()), std::round(island.frame.width() * zoom),
            std::round(island.frame.height() * zoom));
    }
    const struct {
        MapDetail detail;
        double most;
    } details[] = { { MapDetail::Gpus, std::min(kLargestUnit, kMaxGpuUnit * zoom) },
        { MapDetail::Nodes, std::min(kLargestUnit, kMaxNodeUnit * zoom) }, { MapDetail::Bars, 1 } };
    layout.detail = fit.detail;
    double unit = fit.islands.front().unit;
    for (const auto &[detail, most] : details) {
        if (const double largest = largestUnit(spec, frames, detail, most); largest > 0) {
            layout.detail = detail;
            unit = largest;
            break;
        }
    }
    fillAll(spec, frames, unit, layout);
    layOutLinks(spec, layout);
    return layout;
}

MapLayout shiftIsland(const MapSpec &spec, MapLayout layout, int island, QPointF by)
{
    if (island < 0 || island >= int(layout.islands.size()))
        return layout;
    IslandLayout &moved = layout.islands[std::size_t(island)];
    moved.frame.translate(by);
    moved.title.translate(by);
    for (GroupLayout &group : moved.groups) {
        group.label.translate(by);
        group.grid.translate(by);
    }
    layOutLinks(spec, layout);
    return layout;
}

MapLayout refillMap(const MapSpec &spec, const MapLayout &kept)
{
    if (spec.islands.size() != kept.islands.size())
        return layOutMap(spec, kept.shown);
    MapLayout layout = kept;
    for (std::size_t i = 0; i < spec.islands.size(); ++i) {
        const double unit = kept.islands[i].unit;
        layout.islands[i] = fillIsland(spec.islands[i], kept.detail, unit, grownFrame(spec, layout, i, unit), spec);
    }
    layOutLinks(spec, layout);
    return layout;
}

} // namespace trainyard

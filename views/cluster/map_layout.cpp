// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/map_layout.h"

#include "views/cluster/island_placement.h"
#include "views/cluster/link_layout.h"
#include "views/cluster/node_shape.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kManyGpus = 2000;            // above this, nodes instead of GPUs
constexpr std::size_t kMaxColumns = 96;

struct Gap { double pixels, worth; };      // wide gaps leave room for the links and their cards

QSizeF islandSize(const IslandSpec &spec, const MapSpec &map, MapDetail detail, double unit, double aspect)
{
    double widest = 40;
    for (const GroupSpec &group : spec.groups) {
        for (const PoolSpec &pool : group.pools)
            widest = std::max(widest, nodeShape(detail, unit, pool.gpusPerNode).size.width());
    }
    const double step = widest + nodeGap(detail, unit);
    QSizeF best;
    double bestMiss = 1e9;
    for (std::size_t columns = 1; columns <= kMaxColumns; ++columns) {
        const double inner = detail == MapDetail::Bars ? 120 + 20 * double(columns) : double(columns) * step - nodeGap(detail, unit);
        const double width = std::max(spec.minWidth, inner + 2 * kIslandPad);
        const double body = bodyHeight(spec, detail, unit, width - 2 * kIslandPad, map.labelHeight);
        const QSizeF size(std::ceil(width), std::ceil(map.titleHeight + body + kIslandPad));
        const double miss = std::abs(std::log(size.width() / size.height() / aspect));
        if (miss < bestMiss) {
            bestMiss = miss;
            best = size;
        }
        if (size.width() / size.height() > aspect * 2)
            break;
    }
    return best;
}

std::optional<std::vector<QRectF>> place(const MapSpec &spec, const std::vector<QSizeF> &sizes, QRectF area, double gap)
{
    const bool placed = std::ranges::all_of(spec.islands, [](const IslandSpec &i) { return i.place || i.pinned; });
    const bool anyPinned = std::ranges::any_of(spec.islands, [](const IslandSpec &i) { return i.pinned.has_value(); });
    if (!placed && !anyPinned)
        return inRows(sizes, area, gap);
    std::vector<QPointF> centres;
    if (std::ranges::all_of(spec.islands, [](const IslandSpec &i) { return i.place.has_value(); })) {
        std::vector<QPointF> places;
        for (const IslandSpec &island : spec.islands)
            places.push_back(*island.place);
        centres = spreadPlaces(places, sizes, area);
    } else if (const auto rows = inRows(sizes, area, gap)) {
        for (const QRectF &frame : *rows)
            centres.push_back(frame.center());
    } else {
        return std::nullopt;
    }
    std::vector<IslandWish> wishes;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const auto &pin = spec.islands[i].pinned;
        const QPointF at = pin ? QPointF(area.left() + pin->x() * area.width(), area.top() + pin->y() * area.height()) : centres[i];
        wishes.push_back({at, sizes[i], pin.has_value()});
    }
    if (auto frames = pushApart(wishes, area, gap))
        return frames;
    return anyPinned ? std::nullopt : inRows(sizes, area, gap);
}

struct Candidate {
    std::vector<QRectF> frames;
    MapDetail detail = MapDetail::Bars;
    double unit = 0, score = -1;
};

void tryUnit(const MapSpec &spec, QRectF area, MapDetail detail, double unit, Candidate &best)
{
    static constexpr std::array<Gap, 4> gaps{{{110, 1}, {72, 0.88}, {40, 0.7}, {18, 0.5}}};
    const double count = double(spec.islands.size());
    const std::array<double, 7> aspects{1.6, 1.25, 2.1, 0.9, 2.8, 3.8, area.width() / std::max(1.0, area.height()) * (count > 1 ? 0.5 : 0.95)};
    for (const Gap &gap : gaps) {
        if (unit * gap.worth <= best.score)
            continue;
        for (const double aspect : aspects) {
            std::vector<QSizeF> sizes;
            for (const IslandSpec &island : spec.islands)
                sizes.push_back(islandSize(island, spec, detail, unit, aspect));
            if (auto frames = place(spec, sizes, area, spec.islands.size() > 1 ? gap.pixels : 0)) {
                best = {std::move(*frames), detail, unit, unit * gap.worth};
                break;
            }
        }
    }
}

Candidate bestFrames(const MapSpec &spec, QRectF area)
{
    int gpus = 0;
    for (const IslandSpec &island : spec.islands) {
        for (const GroupSpec &group : island.groups) {
            for (const PoolSpec &pool : group.pools)
                gpus += pool.nodes * pool.gpusPerNode;
        }
    }
    Candidate best;
    if (gpus <= kManyGpus) {
        for (int unit = kMaxUnit; unit >= kMinGpuUnit; --unit)
            tryUnit(spec, area, MapDetail::Gpus, unit, best);
    }
    for (int unit = kMaxUnit; unit >= kMinNodeUnit && best.score < 0; --unit)
        tryUnit(spec, area, MapDetail::Nodes, unit, best);
    if (best.score < 0)
        tryUnit(spec, area, MapDetail::Bars, 1, best);
    if (best.score < 0)
        best.frames = squeezed(spec.islands.size(), area, 8);
    return best;
}

} // namespace

MapLayout layOutMap(const MapSpec &spec, QRectF area)
{
    MapLayout layout;
    layout.area = area;
    if (spec.islands.empty() || area.width() < 1 || area.height() < 1)
        return layout;
    const Candidate best = bestFrames(spec, area);
    layout.detail = best.detail;
    for (std::size_t i = 0; i < spec.islands.size(); ++i)
        layout.islands.push_back(fillIsland(spec.islands[i], best.detail, best.unit, best.frames[i], spec));
    layOutLinks(spec, layout);
    return layout;
}

MapLayout refillMap(const MapSpec &spec, const MapLayout &kept)
{
    if (spec.islands.size() != kept.islands.size())
        return layOutMap(spec, kept.area);
    MapLayout layout;
    layout.area = kept.area;
    layout.detail = kept.detail;
    for (std::size_t i = 0; i < spec.islands.size(); ++i)
        layout.islands.push_back(fillIsland(spec.islands[i], kept.detail, kept.islands[i].unit, kept.islands[i].frame, spec));
    layOutLinks(spec, layout);
    return layout;
}

} // namespace trainyard

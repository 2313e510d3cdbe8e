// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/map_layout.h"

#include "views/cluster/island_placement.h"
#include "views/cluster/link_layout.h"
#include "views/cluster/node_shape.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kFewGpus = 16;              // a lab: its GPUs are worth looking at
constexpr int kManyGpus = 2000;            // above this, nodes instead of GPUs
constexpr std::size_t kMaxColumns = 96;

/// Wide gaps leave room for the links and their cards; in narrow ones titles are cut to a share of their width.
struct Gap { QSizeF size; double worth, titles = 1; };

QSizeF islandSize(const IslandSpec &spec, const MapSpec &map, MapDetail detail, double unit, double aspect, double titles)
{
    double widest = 40;
    for (const GroupSpec &group : spec.groups) {
        for (const PoolSpec &pool : group.pools)
            widest = std::max(widest, nodeShape(detail, unit, pool.gpusPerNode).size.width());
    }
    const double least = spec.minWidth * titles;
    const double step = widest + nodeGap(detail, unit);
    QSizeF best;
    double bestMiss = 1e9;
    for (std::size_t columns = 1; columns <= kMaxColumns; ++columns) {
        const double inner = detail == MapDetail::Bars ? 120 + 20 * double(columns) : double(columns) * step - nodeGap(detail, unit);
        const double width = std::max(least, inner + 2 * kIslandPad);
        const GroupFlow flow = flowGroups(spec, detail, unit, width - 2 * kIslandPad, map.labelHeight);
        const double used = detail == MapDetail::Bars ? width : std::max(least, flow.width + 2 * kIslandPad);
        const QSizeF size(std::ceil(used), std::ceil(map.titleHeight + flow.height + kIslandPad));
        const double miss = std::abs(std::log(size.width() / size.height() / aspect));
        if (miss < bestMiss) {
            bestMiss = miss;
            best = size;
        }
        if (width / size.height() > aspect * 2)
            break;
    }
    return best;
}

std::optional<std::vector<QRectF>> place(const MapSpec &spec, const std::vector<QSizeF> &sizes, QRectF area, QSizeF gap)
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

std::optional<std::vector<QRectF>> tryUnit(const MapSpec &spec, QRectF area, MapDetail detail, double unit, const Gap &gap)
{
    const double share = spec.islands.size() > 1 ? 0.5 : 0.95;
    for (const double aspect : {1.6, 1.9, 1.35, 1.15, 2.3, 0.98, 2.8, 0.8, 3.8, area.width() / std::max(1.0, area.height()) * share}) {
        std::vector<QSizeF> sizes;
        for (const IslandSpec &island : spec.islands)
            sizes.push_back(islandSize(island, spec, detail, unit, aspect, gap.titles));
        if (auto frames = place(spec, sizes, area, spec.islands.size() > 1 ? gap.size : QSizeF(0, 0)))
            return frames;
    }
    return std::nullopt;
}

/// The largest unit at which the islands find places, by halving: a smaller unit never needs more room.
void tryGap(const MapSpec &spec, QRectF area, MapDetail detail, int largest, const Gap &gap, Candidate &best)
{
    int low = kMinUnit, high = largest;
    while (low <= high) {
        const int unit = (low + high) / 2;
        const double score = std::sqrt(double(unit)) * gap.worth;   // room for the links counts more than size
        auto frames = tryUnit(spec, area, detail, unit, gap);
        if (frames && score > best.score)
            best = {std::move(*frames), detail, double(unit), score};
        if (frames)
            low = unit + 1;
        else
            high = unit - 1;
    }
}

std::vector<Gap> gapsFor(const MapSpec &spec)
{
    QSizeF card(60, 30);
    for (const LinkSpec &link : spec.links)
        card = card.expandedTo(link.card);
    return {{{card.width() + 28, card.height() + 16}, 1}, {{card.width() + 6, card.height() + 6}, 0.9}, {{56, 40}, 0.62}, {{28, 22}, 0.5}, {{14, 12}, 0.4}, {{10, 10}, 0.3, 0.6}};
}

int countGpus(const MapSpec &spec)
{
    int gpus = 0;
    for (const IslandSpec &island : spec.islands) {
        for (const GroupSpec &group : island.groups) {
            for (const PoolSpec &pool : group.pools)
                gpus += pool.nodes * pool.gpusPerNode;
        }
    }
    return gpus;
}

/// In a window that is too small for anything else: equal cells, each island no taller than it must be.
std::vector<QRectF> lastResort(const MapSpec &spec, QRectF area)
{
    std::vector<QRectF> frames = squeezed(spec.islands.size(), area, 8);
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const double needed = spec.titleHeight + flowGroups(spec.islands[i], MapDetail::Bars, 1, frames[i].width(), spec.labelHeight).height + kIslandPad;
        if (needed < frames[i].height())
            frames[i] = {frames[i].left(), frames[i].center().y() - needed / 2, frames[i].width(), needed};
    }
    return frames;
}

Candidate bestFrames(const MapSpec &spec, QRectF area)
{
    Candidate best;
    const std::vector<Gap> gaps = gapsFor(spec);
    const int gpus = countGpus(spec);
    if (gpus <= kManyGpus) {
        const int largest = gpus <= kFewGpus ? 2 * kMaxGpuUnit : kMaxGpuUnit;
        for (const Gap &gap : gaps)
            tryGap(spec, area, MapDetail::Gpus, largest, gap, best);
    }
    for (std::size_t g = 0; g < gaps.size() && best.score < 0; ++g)
        tryGap(spec, area, MapDetail::Nodes, kMaxNodeUnit, gaps[g], best);
    for (std::size_t g = 0; g < gaps.size() && best.score < 0; ++g) {
        if (auto frames = tryUnit(spec, area, MapDetail::Bars, 1, gaps[g]))
            best = {std::move(*frames), MapDetail::Bars, 1, 1};
    }
    if (best.score < 0)
        best.frames = lastResort(spec, area);
    return best;
}

/// The island's frame, taller where its new contents need it and nothing stands in the way.
QRectF grownFrame(const MapSpec &spec, const MapLayout &layout, std::size_t island, double unit)
{
    const QRectF frame = layout.islands[island].frame;
    const GroupFlow flow = flowGroups(spec.islands[island], layout.detail, unit, frame.width() - 2 * kIslandPad, spec.labelHeight);
    const double more = std::ceil(spec.titleHeight + flow.height + kIslandPad - frame.height());
    if (more <= 0)
        return frame;
    for (const double up : {0.0, more, std::max(0.0, frame.bottom() + more - layout.area.bottom())}) {
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
    MapLayout layout = kept;
    for (std::size_t i = 0; i < spec.islands.size(); ++i) {
        const double unit = kept.islands[i].unit;
        layout.islands[i] = fillIsland(spec.islands[i], kept.detail, unit, grownFrame(spec, layout, i, unit), spec);
    }
    layOutLinks(spec, layout);
    return layout;
}

} // namespace trainyard

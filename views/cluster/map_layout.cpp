// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/map_layout.h"

#include "views/cluster/island_placement.h"
#include "views/cluster/link_layout.h"
#include "views/cluster/node_shape.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kFewGpus = 16; // a lab: its GPUs are worth looking at
constexpr int kManyGpus = 2000; // above this, nodes instead of GPUs
constexpr std::size_t kMaxColumns = 96;
constexpr std::size_t kFewIslands = 4; // among more, labels are worth more than cells

/// Wide gaps leave room for the links and their labels; in narrow ones islands are as small as their names allow.
struct Gap {
    QSizeF size;
    double worth;
    bool isTight = false;
};

QSizeF tileSize(const IslandSpec &spec, const MapSpec &map, double width)
{
    return { std::ceil(width), std::ceil(islandHeight(map, spec, MapDetail::Tiles, 1, width)) };
}

QSizeF islandSize(
    const IslandSpec &spec, const MapSpec &map, MapDetail detail, double unit, double aspect, bool isTight)
{
    if (detail == MapDetail::Tiles)
        return tileSize(spec, map,
            isTight ? spec.tileWidth
                    : std::max(spec.tileWidth, std::min(spec.tileNameWidth + 2 * kTilePad, 2 * spec.tileWidth)));
    double widest = 40;
    for (const GroupSpec &group : spec.groups) {
        for (const PoolSpec &pool : group.pools)
            widest = std::max(widest, nodeShape(detail, unit, pool.gpusPerNode).size.width());
    }
    const double least = isTight ? std::min(spec.tightWidth, spec.minWidth) : spec.minWidth;
    const double step = widest + nodeGap(detail, unit);
    const bool isBar = detail == MapDetail::Bars;
    QSizeF best;
    double bestMiss = 1e9;
    for (std::size_t columns = 1; columns <= kMaxColumns; ++columns) {
        const double inner = isBar ? 80 + 20 * double(columns) : double(columns) * step - nodeGap(detail, unit);
        const double width = std::max(least, inner + 2 * kIslandPad);
        const GroupFlow flow = flowGroups(spec, detail, unit, width - 2 * kIslandPad, map.labelHeight);
        const double used = isBar ? width : std::max(least, flow.width + 2 * kIslandPad);
        const QSizeF size(std::ceil(used), std::ceil(headHeight(map, spec, detail, used) + flow.height + kIslandPad));
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

/// `keepsPlaces`: rather not at all than in rows that have nothing to do with where the islands lie on the globe.
std::optional<std::vector<QRectF>> place(
    const MapSpec &spec, const std::vector<QSizeF> &sizes, QRectF area, QSizeF gap, bool keepsPlaces)
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
        const QPointF at =
            pin ? QPointF(area.left() + pin->x() * area.width(), area.top() + pin->y() * area.height()) : centres[i];
        wishes.push_back({ at, sizes[i], pin ? int(i) == spec.held ? 2 : 1 : 0 });
    }
    if (auto frames = pushApart(wishes, area, gap))
        return frames;
    return anyPinned || keepsPlaces ? std::nullopt : inRows(sizes, area, gap);
}

/// How far from where they would lie the islands are, on average, as a share of the area's diagonal.
double displaced(const MapSpec &spec, const std::vector<QRectF> &frames, QRectF area)
{
    std::vector<QPointF> places;
    std::vector<QSizeF> sizes;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (!spec.islands[i].place || spec.islands[i].pinned)
            return 0;
        places.push_back(*spec.islands[i].place);
        sizes.push_back(frames[i].size());
    }
    const std::vector<QPointF> wished = spreadPlaces(places, sizes, area);
    double sum = 0;
    for (std::size_t i = 0; i < frames.size(); ++i)
        sum += std::hypot(wished[i].x() - frames[i].center().x(), wished[i].y() - frames[i].center().y());
    return sum / (std::hypot(area.width(), area.height()) * double(frames.size()));
}

struct Candidate {
    std::vector<QRectF> frames;
    MapDetail detail = MapDetail::Bars;
    double unit = 0, score = -1;
};

std::optional<std::vector<QRectF>> tryUnit(
    const MapSpec &spec, QRectF area, MapDetail detail, double unit, const Gap &gap, bool keepsPlaces)
{
    const double share = spec.islands.size() > 1 ? 0.5 : 0.95;
    for (const double aspect :
        { 1.6, 1.9, 1.35, 1.15, 2.3, 0.98, 2.8, 0.8, 3.8, area.width() / std::max(1.0, area.height()) * share }) {
        std::vector<QSizeF> sizes;
        for (const IslandSpec &island : spec.islands)
            sizes.push_back(islandSize(island, spec, detail, unit, aspect, gap.isTight));
        if (auto frames = place(spec, sizes, area, spec.islands.size() > 1 ? gap.size : QSizeF(0, 0), keepsPlaces))
            return frames;
        if (detail == MapDetail::Tiles)
            break; // a tile has one shape
    }
    return std::nullopt;
}

/// The largest unit at which the islands find places, by halving: a smaller unit never needs more room.
void tryGap(
    const MapSpec &spec, QRectF area, MapDetail detail, int largest, const Gap &gap, bool keepsPlaces, Candidate &best)
{
    int low = kMinUnit, high = largest;
    while (low <= high) {
        const int unit = (low + high) / 2;
        auto frames = tryUnit(spec, area, detail, unit, gap, keepsPlaces);
        // Room for the links counts more than size, and a place that is about right more than both.
        const double score =
            frames ? std::sqrt(double(unit)) * gap.worth * std::max(0.3, 1 - 3 * displaced(spec, *frames, area)) : 0;
        if (frames && score > best.score)
            best = { std::move(*frames), detail, double(unit), score };
        if (frames)
            low = unit + 1;
        else
            high = unit - 1;
    }
}

std::vector<Gap> gapsFor(const MapSpec &spec)
{
    QSizeF card, chip, tag;
    bool isLinked = false;
    for (const LinkSpec &link : spec.links) {
        isLinked |= link.isResting;
        card = card.expandedTo(link.card);
        chip = chip.expandedTo(link.chip);
        tag = tag.expandedTo(link.tag);
    }
    std::vector<Gap> gaps;
    const auto add = [&](QSizeF around, QSizeF least, double worth, bool isTight) {
        gaps.push_back({ around.expandedTo(least), worth, isTight });
    };
    if (isLinked) {
        add(card + QSizeF(28, 16), { 88, 46 }, 1, false);
        add(card + QSizeF(8, 6), { 66, 36 }, 0.9, false);
        add(chip + QSizeF(10, 6), { 56, 26 }, 0.7, false);
        add(chip + QSizeF(8, 6), { 48, 24 }, 0.6, true);
        add(tag + QSizeF(8, 4), { 28, 18 }, 0.5, true);
    } else {
        add({}, { 56, 40 }, 1, false);
        add({}, { 28, 22 }, 0.9, false);
    }
    if (!isLinked || spec.islands.size() <= kFewIslands) {
        add({}, { 14, 12 }, 0.4, false);
        add({}, { 10, 10 }, 0.3, true);
    }
    return gaps;
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

/// In a window that is too small for anything else: tiles in equal cells, in as many columns as leave most around them.
std::vector<QRectF> lastResort(const MapSpec &spec, QRectF area)
{
    const std::size_t count = spec.islands.size();
    QSizeF widest;
    for (const IslandSpec &island : spec.islands)
        widest = widest.expandedTo(tileSize(island, spec, island.tileWidth));
    std::size_t columns = 1;
    double most = -1e9;
    for (std::size_t c = 1; c <= count; ++c) {
        const double rows = std::ceil(double(count) / double(c));
        const double room = std::min((area.width() / double(c) - widest.width()) / widest.width(),
            (area.height() / rows - widest.height()) / widest.height());
        if (room > most) {
            most = room;
            columns = c;
        }
    }
    std::vector<QRectF> frames = squeezed(count, columns, area, 8);
    for (std::size_t i = 0; i < count; ++i) {
        const double width = std::min(frames[i].width(), std::max(spec.islands[i].tileWidth, frames[i].width() * 0.72));
        const double height = std::min(frames[i].height(), tileSize(spec.islands[i], spec, width).height());
        frames[i] = { std::round(frames[i].center().x() - width / 2), std::round(frames[i].center().y() - height / 2),
            std::floor(width), std::floor(height) };
    }
    return frames;
}

Candidate search(const MapSpec &spec, QRectF area, bool keepsPlaces)
{
    Candidate best;
    const std::vector<Gap> gaps = gapsFor(spec);
    const int gpus = countGpus(spec);
    if (gpus <= kManyGpus) {
        const int largest = gpus <= kFewGpus ? 2 * kMaxGpuUnit : kMaxGpuUnit;
        for (const Gap &gap : gaps)
            tryGap(spec, area, MapDetail::Gpus, largest, gap, keepsPlaces, best);
    }
    for (std::size_t g = 0; g < gaps.size() && best.score < 0; ++g)
        tryGap(spec, area, MapDetail::Nodes, kMaxNodeUnit, gaps[g], keepsPlaces, best);
    for (const MapDetail detail : { MapDetail::Bars, MapDetail::Tiles }) {
        for (std::size_t g = 0; g < gaps.size() && best.score < 0; ++g) {
            if (auto frames = tryUnit(spec, area, detail, 1, gaps[g], keepsPlaces))
                best = { std::move(*frames), detail, 1, 1 };
        }
    }
    return best;
}

Candidate bestFrames(const MapSpec &spec, QRectF area)
{
    const bool isPlaced =
        std::ranges::all_of(spec.islands, [](const IslandSpec &island) { return island.place || island.pinned; });
    Candidate best = isPlaced ? search(spec, area, true) : Candidate();
    if (best.score < 0)
        best = search(spec, area, false);
    if (best.score < 0)
        best = { lastResort(spec, area), MapDetail::Tiles, 1, 0 };
    return best;
}

} // namespace

MapLayout layOutMap(const MapSpec &spec, QRectF area)
{
    MapLayout layout;
    layout.area = layout.shown = area;
    if (spec.islands.empty() || area.width() < 1 || area.height() < 1)
        return layout;
    const Candidate best = bestFrames(spec, area);
    layout.detail = best.detail;
    for (std::size_t i = 0; i < spec.islands.size(); ++i)
        layout.islands.push_back(fillIsland(spec.islands[i], best.detail, best.unit, best.frames[i], spec));
    layOutLinks(spec, layout);
    return layout;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/island_placement.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kRounds = 90;
constexpr double kShore = 0.06; // share of the area that wishes leave free at the edges

QPointF clampedCentre(QPointF centre, QSizeF size, const QRectF &area)
{
    const double x = std::clamp(centre.x(), area.left() + size.width() / 2,
        std::max(area.left() + size.width() / 2, area.right() - size.width() / 2));
    const double y = std::clamp(centre.y(), area.top() + size.height() / 2,
        std::max(area.top() + size.height() / 2, area.bottom() - size.height() / 2));
    return { x, y };
}

QRectF around(QPointF centre, QSizeF size)
{
    return { std::round(centre.x() - size.width() / 2), std::round(centre.y() - size.height() / 2), size.width(),
        size.height() };
}

/// How much two centred boxes must still move apart along each axis; not positive where they are apart.
QPointF penetration(const IslandWish &a, const IslandWish &b, QSizeF gap)
{
    return { (a.size.width() + b.size.width()) / 2 + gap.width() - std::abs(a.centre.x() - b.centre.x()),
        (a.size.height() + b.size.height()) / 2 + gap.height() - std::abs(a.centre.y() - b.centre.y()) };
}

bool fitsAlong(double first, double second, double gap, double available)
{
    return first + second + gap <= available + 1e-6;
}

bool separate(IslandWish &a, IslandWish &b, const QRectF &area, QSizeF gap, int round)
{
    const QPointF deep = penetration(a, b, gap);
    if (deep.x() <= 0.01 || deep.y() <= 0.01)
        return false;
    const bool fitsX = fitsAlong(a.size.width(), b.size.width(), gap.width(), area.width());
    const bool fitsY = fitsAlong(a.size.height(), b.size.height(), gap.height(), area.height());
    bool alongX = deep.x() / std::max(1.0, area.width()) <= deep.y() / std::max(1.0, area.height());
    if (round > kRounds / 2 && round % 7 == 0)
        alongX = !alongX; // stuck against an edge: try the other way round
    if (!fitsX || !fitsY)
        alongX = fitsX;
    const double shareA = a.weight == b.weight ? 0.5 : a.weight > b.weight ? 0 : 1;
    const double direction = alongX ? (a.centre.x() <= b.centre.x() ? -1 : 1) : (a.centre.y() <= b.centre.y() ? -1 : 1);
    const double amount = (alongX ? deep.x() : deep.y()) + 0.5;
    const QPointF step = alongX ? QPointF(direction * amount, 0) : QPointF(0, direction * amount);
    a.centre = clampedCentre(a.centre + step * shareA, a.size, area);
    b.centre = clampedCentre(b.centre - step * (1 - shareA), b.size, area);
    return true;
}

/// Longitudes that go on past 180 degrees where that leaves the widest empty ocean outside: Oregon lies east of Tokyo.
std::vector<QPointF> cutAtWidestGap(std::vector<QPointF> places)
{
    std::vector<double> sorted;
    for (const QPointF &place : places)
        sorted.push_back(place.x());
    std::ranges::sort(sorted);
    double widest = sorted.front() + 360 - sorted.back(), west = sorted.front();
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        if (sorted[i] - sorted[i - 1] > widest + 1e-9) {
            widest = sorted[i] - sorted[i - 1];
            west = sorted[i];
        }
    }
    for (QPointF &place : places) {
        if (place.x() < west)
            place.rx() += 360;
    }
    return places;
}

} // namespace

std::vector<QPointF> spreadPlaces(const std::vector<QPointF> &given, const std::vector<QSizeF> &sizes, QRectF area)
{
    if (given.empty())
        return {};
    const std::vector<QPointF> places = cutAtWidestGap(given);
    const auto [west, east] = std::ranges::minmax(places, {}, &QPointF::x);
    const auto [south, north] = std::ranges::minmax(places, {}, &QPointF::y);
    const double width = east.x() - west.x(), height = north.y() - south.y();
    // A sliver of a difference is not blown up to the whole height.
    const double useX = width > 0 ? std::min(1.0, width / (0.15 * std::max(height, 1e-9) + 1e-9)) : 0;
    const double useY = height > 0 ? std::min(1.0, height / (0.12 * std::max(width, 1e-9) + 1e-9)) : 0;
    std::vector<QPointF> centres;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const double x = 0.5 + (width > 0 ? (places[i].x() - west.x()) / width - 0.5 : 0) * useX;
        const double y = 0.5 - (height > 0 ? (places[i].y() - south.y()) / height - 0.5 : 0) * useY;
        const QSizeF size = sizes[i] + QSizeF(kShore * area.width(), kShore * area.height());
        const QRectF room = area.adjusted(size.width() / 2, size.height() / 2, -size.width() / 2, -size.height() / 2);
        centres.emplace_back(room.left() + x * room.width(), room.top() + y * room.height());
    }
    return centres;
}

std::optional<std::vector<QRectF>> pushApart(const std::vector<IslandWish> &wishes, QRectF area, QSizeF gap)
{
    std::vector<IslandWish> moving = wishes;
    double surface = 0;
    for (IslandWish &wish : moving) {
        if (wish.size.width() > area.width() + 1e-6 || wish.size.height() > area.height() + 1e-6)
            return std::nullopt;
        surface += wish.size.width() * wish.size.height();
        wish.centre = clampedCentre(wish.centre, wish.size, area);
    }
    if (surface > area.width() * area.height())
        return std::nullopt;
    for (int round = 0; round < kRounds; ++round) {
        bool moved = false;
        for (std::size_t i = 0; i < moving.size(); ++i) {
            for (std::size_t j = i + 1; j < moving.size(); ++j)
                moved |= separate(moving[i], moving[j], area, gap, round);
        }
        if (moved)
            continue;
        std::vector<QRectF> frames;
        for (const IslandWish &wish : moving)
            frames.push_back(around(wish.centre, wish.size));
        return frames;
    }
    return std::nullopt;
}

std::optional<std::vector<QRectF>> inRows(const std::vector<QSizeF> &sizes, QRectF area, QSizeF gap)
{
    const std::size_t count = sizes.size();
    for (std::size_t rows = 1; rows <= count; ++rows) {
        const std::size_t columns = (count + rows - 1) / rows;
        const QSizeF cell(area.width() / double(columns), area.height() / double(rows));
        const bool fits = std::ranges::all_of(sizes, [&](const QSizeF &s) {
            return s.width() + (columns > 1 ? gap.width() : 0) <= cell.width()
                && s.height() + (rows > 1 ? gap.height() : 0) <= cell.height();
        });
        if (!fits)
            continue;
        std::vector<QRectF> frames;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t row = i / columns, inRow = std::min(columns, count - row * columns);
            const double shift = double(columns - inRow) / 2;
            frames.push_back(around({ area.left() + (double(i % columns) + shift + 0.5) * cell.width(),
                                        area.top() + (double(row) + 0.5) * cell.height() },
                sizes[i]));
        }
        return frames;
    }
    return std::nullopt;
}

std::vector<QRectF> squeezed(std::size_t count, std::size_t columns, QRectF area, double gap)
{
    const std::size_t rows = (count + columns - 1) / columns;
    std::vector<QRectF> frames;
    for (std::size_t i = 0; i < count; ++i) {
        const QSizeF cell(area.width() / double(columns), area.height() / double(rows));
        const QRectF slot(area.left() + double(i % columns) * cell.width(),
            area.top() + double(i / columns) * cell.height(), cell.width(), cell.height());
        const double margin = std::min({ gap / 2, cell.width() / 8, cell.height() / 8 });
        frames.push_back(slot.adjusted(margin, margin, -margin, -margin));
    }
    return frames;
}

} // namespace trainyard

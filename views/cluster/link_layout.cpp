// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/link_layout.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kCardGap = 4;

QPointF onCurve(QPointF a, QPointF bend, QPointF b, double t)
{
    return a * ((1 - t) * (1 - t)) + bend * (2 * t * (1 - t)) + b * (t * t);
}

/// The curve between two centres, cut off where it leaves the first frame and enters the second.
LinkLayout cutAtFrames(QPointF a, QPointF bend, QPointF b, const QRectF &first, const QRectF &second)
{
    double leave = 0, enter = 1;
    constexpr int steps = 128;
    for (int i = 0; i <= steps; ++i) {
        const double t = double(i) / steps;
        if (first.contains(onCurve(a, bend, b, t)))
            leave = t;
    }
    for (int i = steps; i >= 0; --i) {
        const double t = double(i) / steps;
        if (second.contains(onCurve(a, bend, b, t)))
            enter = t;
    }
    LinkLayout link;
    link.visible = leave < enter;
    link.from = onCurve(a, bend, b, leave);
    link.to = onCurve(a, bend, b, enter);
    // The control point of the part between `leave` and `enter`: blossom of the quadratic.
    link.bend = a * ((1 - leave) * (1 - enter)) + bend * (leave * (1 - enter) + enter * (1 - leave)) + b * (leave * enter);
    return link;
}

double crossing(const LinkLayout &link, const MapLayout &layout, int a, int b)
{
    int inside = 0;
    for (std::size_t i = 0; i < layout.islands.size(); ++i) {
        if (int(i) == a || int(i) == b)
            continue;
        const QRectF frame = layout.islands[i].frame.adjusted(-8, -8, 8, 8);
        for (int step = 1; step < 24; ++step)
            inside += frame.contains(pointOnLink(link, step / 24.0));
    }
    for (int step = 1; step < 24; ++step)
        inside += !layout.area.contains(pointOnLink(link, step / 24.0));
    return inside;
}

LinkLayout route(const MapLayout &layout, int a, int b)
{
    const QRectF first = layout.islands[std::size_t(a)].frame, second = layout.islands[std::size_t(b)].frame;
    const QPointF from = first.center(), to = second.center(), middle = (from + to) / 2;
    const double length = std::max(1.0, std::hypot(to.x() - from.x(), to.y() - from.y()));
    const QPointF across(-(to.y() - from.y()) / length, (to.x() - from.x()) / length);
    LinkLayout best;
    double bestCost = 1e18;
    for (int step = 0; step <= 24; ++step) {           // 0, +1, −1, +2, −2 … : the least bend that passes
        const int k = (step % 2 ? 1 : -1) * ((step + 1) / 2);
        const LinkLayout link = cutAtFrames(from, middle + across * (k * 0.14 * std::min(length, 600.0)), to, first, second);
        const double cost = crossing(link, layout, a, b) * 10 + std::abs(k);
        if (cost < bestCost) {
            bestCost = cost;
            best = link;
        }
        if (bestCost <= std::abs(k))
            break;
    }
    return best;
}

double overlap(const QRectF &a, const QRectF &b)
{
    const QRectF common = a.intersected(b);
    return common.isEmpty() ? 0 : common.width() * common.height();
}

double badness(const QRectF &card, const MapLayout &layout)
{
    double bad = 0;
    for (const IslandLayout &island : layout.islands)
        bad += 3 * overlap(card.adjusted(-kCardGap, -kCardGap, kCardGap, kCardGap), island.frame);
    for (const LinkLayout &link : layout.links)
        bad += 4 * overlap(card.adjusted(-kCardGap, -kCardGap, kCardGap, kCardGap), link.card);
    return bad + 2 * (card.width() * card.height() - overlap(card, layout.area));
}

struct Place {
    QRectF rect;
    double bad = 1e18;                     // square pixels that hide something, weighted
};

Place freePlace(const LinkLayout &link, QSizeF size, const MapLayout &layout)
{
    static constexpr std::array<double, 9> along{0.5, 0.42, 0.58, 0.34, 0.66, 0.25, 0.75, 0.15, 0.85};
    const QPointF chord = link.to - link.from;
    const double length = std::max(1.0, std::hypot(chord.x(), chord.y()));
    const QPointF across(-chord.y() / length, chord.x() / length);
    const double reach = std::abs(across.x()) * size.width() / 2 + std::abs(across.y()) * size.height() / 2 + 8;
    Place best;
    double bestCost = 1e18;
    for (const double side : {0.0, 1.0, -1.0, 2.0, -2.0}) {
        for (const double t : along) {
            const QPointF centre = pointOnLink(link, t) + across * (side * reach);
            const QRectF card(std::round(centre.x() - size.width() / 2), std::round(centre.y() - size.height() / 2), size.width(), size.height());
            const double bad = badness(card, layout);
            const double cost = bad + 40 * std::abs(side) + 60 * std::abs(t - 0.5);
            if (cost < bestCost) {
                bestCost = cost;
                best = {card, bad};
            }
        }
    }
    return best;
}

/// The whole card where it hides next to nothing, else its short form, else none.
void placeCard(const LinkSpec &spec, LinkLayout &link, const MapLayout &layout)
{
    constexpr double tolerated = 0.12;     // of the card's surface
    for (const bool chip : {false, true}) {
        const QSizeF size = chip ? spec.chip : spec.card;
        if (size.isEmpty())
            continue;
        const Place place = freePlace(link, size, layout);
        if (place.bad > tolerated * size.width() * size.height())
            continue;
        link.card = place.rect;
        link.isChip = chip;
        return;
    }
}

} // namespace

QPointF pointOnLink(const LinkLayout &link, double t)
{
    return onCurve(link.from, link.bend, link.to, t);
}

void layOutLinks(const MapSpec &spec, MapLayout &layout)
{
    layout.links.clear();
    const int islands = int(layout.islands.size());
    for (const LinkSpec &wanted : spec.links) {
        LinkLayout link;
        if (wanted.a >= 0 && wanted.b >= 0 && wanted.a < islands && wanted.b < islands && wanted.a != wanted.b)
            link = route(layout, wanted.a, wanted.b);
        if (link.visible)
            placeCard(wanted, link, layout);
        layout.links.push_back(link);
    }
}

} // namespace trainyard

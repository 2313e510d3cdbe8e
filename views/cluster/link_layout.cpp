// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/link_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace trainyard {

namespace {

constexpr double kCardGap = 4;
constexpr int kBends = 24; // ways that a link tries
constexpr std::size_t kFewLinks = 16; // whose ways are worth a second try for the sake of their labels

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
    link.bend =
        a * ((1 - leave) * (1 - enter)) + bend * (leave * (1 - enter) + enter * (1 - leave)) + b * (leave * enter);
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
        inside += !layout.area.adjusted(2, 2, -2, -2).contains(pointOnLink(link, step / 24.0));
    return inside;
}

/// How much of a link runs along lines that are there already, where nobody could tell the two apart.
double alongside(const LinkLayout &link, const MapLayout &layout)
{
    constexpr double apart = 9;
    constexpr int steps = 20;
    const QRectF box = QRectF(link.from, link.to)
                           .normalized()
                           .united(QRectF(link.from, link.bend).normalized())
                           .adjusted(-apart, -apart, apart, apart);
    int close = 0;
    for (const LinkLayout &other : layout.links) {
        if (!other.visible
            || !box.intersects(QRectF(other.from, other.to).normalized().adjusted(-apart, -apart, apart, apart)))
            continue;
        std::array<QPointF, 41> points;
        for (std::size_t i = 0; i < points.size(); ++i)
            points[i] = pointOnLink(other, double(i) / double(points.size() - 1));
        for (int step = 3; step <= steps - 3; ++step) {
            const QPointF at = pointOnLink(link, double(step) / steps);
            close += std::ranges::any_of(
                points, [&](QPointF p) { return std::abs(p.x() - at.x()) + std::abs(p.y() - at.y()) < apart; });
        }
    }
    return close;
}

/// Bends to try: 0, +1, −1, +2, −2 …
int bendOf(int step)
{
    return (step % 2 ? 1 : -1) * ((step + 1) / 2);
}

LinkLayout bent(const MapLayout &layout, int a, int b, int bend)
{
    const QRectF first = layout.islands[std::size_t(a)].frame, second = layout.islands[std::size_t(b)].frame;
    const QPointF from = first.center(), to = second.center(), middle = (from + to) / 2;
    const double length = std::max(1.0, std::hypot(to.x() - from.x(), to.y() - from.y()));
    const QPointF across(-(to.y() - from.y()) / length, (to.x() - from.x()) / length);
    return cutAtFrames(from, middle + across * (bend * 0.14 * std::min(length, 600.0)), to, first, second);
}

/// The least bend that passes islands and other lines.
LinkLayout route(const MapLayout &layout, int a, int b)
{
    LinkLayout best;
    double bestCost = 1e18;
    for (int step = 0; step <= kBends; ++step) {
        const int bend = bendOf(step);
        const LinkLayout link = bent(layout, a, b, bend);
        double cost = crossing(link, layout, a, b) * 10 + std::abs(bend);
        if (cost < bestCost)
            cost += alongside(link, layout) * 4;
        if (cost < bestCost) {
            bestCost = cost;
            best = link;
        }
        if (bestCost <= std::abs(bend))
            break;
    }
    return best;
}

/// Points along every visible line, dense enough that no label slips between two.
struct Lines {
    struct Line {
        std::vector<QPointF> points;
        QRectF box;
    };
    std::vector<Line> lines;

    explicit Lines(const MapLayout &layout)
    {
        for (const LinkLayout &link : layout.links)
            lines.push_back(lineOf(link));
    }

    [[nodiscard]] static Line lineOf(const LinkLayout &link)
    {
        Line line;
        if (!link.visible)
            return line;
        const QPointF way = link.to - link.from;
        const int steps = std::clamp(int(std::hypot(way.x(), way.y()) / 6), 8, 160);
        for (int i = 0; i <= steps; ++i) {
            line.points.push_back(pointOnLink(link, double(i) / steps));
            line.box |= QRectF(line.points.back() - QPointF(1, 1), QSizeF(2, 2));
        }
        return line;
    }

    [[nodiscard]] bool crosses(const QRectF &rect, std::size_t except) const
    {
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (i == except || !lines[i].box.intersects(rect))
                continue;
            if (std::ranges::any_of(lines[i].points, [&](QPointF at) { return rect.contains(at); }))
                return true;
        }
        return false;
    }
};

double overlap(const QRectF &a, const QRectF &b)
{
    const QRectF common = a.intersected(b);
    return common.isEmpty() ? 0 : common.width() * common.height();
}

/// Square pixels of islands and labels that a label would hide, and of itself that would not be seen.
double hidden(const QRectF &card, std::size_t link, const MapLayout &layout)
{
    const QRectF around = card.adjusted(-kCardGap, -kCardGap, kCardGap, kCardGap);
    double bad = card.width() * card.height() - overlap(card, layout.shown);
    for (const IslandLayout &island : layout.islands)
        bad += overlap(card.adjusted(-1, -1, 1, 1), island.frame);
    for (std::size_t i = 0; i < layout.links.size(); ++i)
        bad += i == link ? 0 : overlap(around, layout.links[i].card);
    return bad;
}

/// The fullest form that hides nothing and lies on no other line; the shortest where it hides least, so that none
/// vanishes. False where it had to hide something.
bool placeLabel(const LinkSpec &spec, std::size_t index, const Lines &lines, MapLayout &layout)
{
    static constexpr std::array<double, 19> along { 0.5, 0.46, 0.54, 0.42, 0.58, 0.38, 0.62, 0.34, 0.66, 0.29, 0.71,
        0.24, 0.76, 0.19, 0.81, 0.14, 0.86, 0.1, 0.9 };
    LinkLayout &link = layout.links[index];
    const auto at = [&](double t, QSizeF size) {
        const QPointF centre = pointOnLink(link, t);
        return QRectF(std::round(centre.x() - size.width() / 2), std::round(centre.y() - size.height() / 2),
            size.width(), size.height());
    };
    const std::pair<LinkLabel, QSizeF> forms[] = { { LinkLabel::Card, spec.card }, { LinkLabel::Chip, spec.chip },
        { LinkLabel::Tag, spec.tag } };
    double least = 1e18;
    for (const auto &[label, size] : forms) {
        if (size.isEmpty())
            continue;
        least = 1e18; // of the forms that hide something the last is kept
        for (const double t : along) {
            const QRectF card = at(t, size);
            const double bad = hidden(card, index, layout);
            const bool crosses = lines.crosses(card.adjusted(-2, -2, 2, 2), index);
            const double cost = bad * 10 + (crosses ? 40 : 0) + std::abs(t - 0.5);
            if (cost < least) {
                least = cost;
                link.card = card;
                link.label = label;
            }
            if (bad <= 0 && !crosses)
                return true;
        }
    }
    return false;
}

/// Another way for a link whose label finds no place on the first one.
void rerouteForLabel(const LinkSpec &spec, std::size_t index, Lines &lines, MapLayout &layout)
{
    const LinkLayout first = layout.links[index];
    const double through = crossing(first, layout, spec.a, spec.b);
    for (int step = 1; step <= kBends; ++step) {
        LinkLayout other = bent(layout, spec.a, spec.b, bendOf(step));
        if (!other.visible || crossing(other, layout, spec.a, spec.b) > through)
            continue;
        layout.links[index] = other;
        const Lines::Line line = Lines::lineOf(other);
        const bool crosses = std::ranges::any_of(layout.links, [&](const LinkLayout &link) {
            return !link.card.isEmpty() && line.box.intersects(link.card)
                && std::ranges::any_of(line.points, [&](QPointF at) { return link.card.contains(at); });
        });
        if (!crosses && placeLabel(spec, index, lines, layout)) {
            lines.lines[index] = Lines::lineOf(layout.links[index]);
            return;
        }
    }
    layout.links[index] = first;
}

bool isPair(const MapLayout &layout, const LinkSpec &link)
{
    const int islands = int(layout.islands.size());
    return link.a >= 0 && link.b >= 0 && link.a < islands && link.b < islands && link.a != link.b;
}

} // namespace

QPointF pointOnLink(const LinkLayout &link, double t)
{
    return onCurve(link.from, link.bend, link.to, t);
}

void layOutLinks(const MapSpec &spec, MapLayout &layout)
{
    layout.links.assign(spec.links.size(), {});
    // The short ones first: they have the straight ways, and longer ones bend around them.
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < spec.links.size(); ++i) {
        if (!spec.links[i].isResting || !isPair(layout, spec.links[i]))
            continue;
        const QPointF way = layout.islands[std::size_t(spec.links[i].a)].frame.center()
            - layout.islands[std::size_t(spec.links[i].b)].frame.center();
        order.emplace_back(std::hypot(way.x(), way.y()), i);
    }
    std::ranges::sort(order);
    for (const auto &[length, i] : order)
        layout.links[i] = route(layout, spec.links[i].a, spec.links[i].b);
    Lines lines(layout);
    for (const auto &[length, i] : order) {
        if (layout.links[i].visible && !placeLabel(spec.links[i], i, lines, layout) && order.size() <= kFewLinks)
            rerouteForLabel(spec.links[i], i, lines, layout);
    }
}

void showLink(const LinkSpec &link, int index, MapLayout &layout)
{
    if (index < 0 || index >= int(layout.links.size()) || layout.links[std::size_t(index)].visible
        || !isPair(layout, link))
        return;
    layout.links[std::size_t(index)] = route(layout, link.a, link.b);
    if (layout.links[std::size_t(index)].visible)
        placeLabel(link, std::size_t(index), Lines(layout), layout);
}

} // namespace trainyard

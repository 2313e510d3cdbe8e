// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/map_painter.h"

#include "views/cluster/cell_painter.h"
#include "views/theme/theme.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>
#include <QStringList>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kTitleTop = 7, kSubtitleBottom = 6, kCardPad = 7;

QFont titleFont() { return uiFont(0, QFont::DemiBold); }
QFont smallFont() { return uiFont(-1); }

double lineHeight(const QFont &font)
{
    return std::ceil(QFontMetricsF(font).height());
}

double widthOf(const QString &text, const QFont &font)
{
    return std::ceil(QFontMetricsF(font).horizontalAdvance(text));
}

QColor blend(const QColor &a, const QColor &b, double share)
{
    const auto mix = [share](float x, float y) { return float(x + (y - x) * share); };
    return QColor::fromRgbF(mix(a.redF(), b.redF()), mix(a.greenF(), b.greenF()), mix(a.blueF(), b.blueF()));
}

void paintIsland(QPainter &painter, const MapScene &scene, const IslandScene &island, const MapLayout &layout, const IslandLayout &place, bool stale)
{
    const Theme &t = theme();
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setPen(QPen(t.border, 1));
    painter.setBrush(t.panelRaised);
    painter.drawRoundedRect(place.frame.adjusted(0.5, 0.5, -0.5, -0.5), Theme::kRadius + 2, Theme::kRadius + 2);

    painter.save();
    painter.setClipRect(place.frame.adjusted(1, 1, -1, -1));
    const QRectF line = place.frame.adjusted(kIslandTextPad, kTitleTop, -kIslandTextPad, 0);
    const double first = lineHeight(titleFont()), second = lineHeight(smallFont());
    double right = line.right();
    if (!island.idleText.isEmpty()) {
        painter.setFont(smallFont());
        painter.setPen(stale ? t.textFaint : t.warning);
        painter.drawText(QRectF(line.left(), line.top(), line.width(), first), Qt::AlignRight | Qt::AlignVCenter, island.idleText);
        right -= widthOf(island.idleText, smallFont()) + 8;
    }
    painter.setFont(titleFont());
    painter.setPen(t.text);
    const QString title = QFontMetricsF(titleFont()).elidedText(island.title, Qt::ElideRight, right - line.left());
    painter.drawText(QRectF(line.left(), line.top(), right - line.left(), first), Qt::AlignLeft | Qt::AlignVCenter, title);
    painter.setFont(smallFont());
    painter.setPen(stale ? t.textFaint : t.textMuted);
    const QString subtitle = QFontMetricsF(smallFont()).elidedText(island.subtitle, Qt::ElideRight, line.width());
    painter.drawText(QRectF(line.left(), line.top() + first, line.width(), second), Qt::AlignLeft | Qt::AlignVCenter, subtitle);
    if (place.groups.size() > 1) {
        for (std::size_t g = 0; g < place.groups.size(); ++g)
            painter.drawText(place.groups[g].label, Qt::AlignLeft | Qt::AlignVCenter, island.groups[g].label);
    }
    for (const GroupLayout &group : place.groups)
        paintGroup(painter, scene, island, layout, place, group, stale);
    painter.restore();
}

double linkWidth(double capacityGbps)
{
    // A decade of capacity is 2.4 pixels: 10 Gbps thin, 1 Tbps thick.
    return std::clamp(1.2 + 2.4 * std::log10(std::max(1.0, capacityGbps) / 4), 1.5, 9.0);
}

bool passes(const LinkLayout &link, const QRectF &card)
{
    for (int step = 0; step <= 32; ++step) {
        if (card.contains(pointOnLink(link, step / 32.0)))
            return true;
    }
    return false;
}

void paintLink(QPainter &painter, const LinkScene &link, const LinkLayout &place, bool stale)
{
    const Theme &t = theme();
    QPainterPath path(place.from);
    path.quadTo(place.bend, place.to);
    QColor colour = link.evaluated && link.utilization > 0 ? useColour(link.utilization) : t.textFaint;
    if (stale)
        colour = blend(colour, t.panel, 0.5);
    const bool idle = link.evaluated && link.utilization <= 0;
    const double width = idle ? 1.5 : linkWidth(link.capacityGbps);   // what carries nothing steps back
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(t.panel, width + 3, Qt::SolidLine, Qt::FlatCap));
    painter.drawPath(path);
    if (!place.card.isEmpty() && !passes(place, place.card)) {   // a card that had to move aside stays tied to its link
        painter.setPen(QPen(t.border, 1));
        painter.drawLine(place.card.center(), pointOnLink(place, 0.5));
    }
    painter.setPen(QPen(colour, width, idle ? Qt::DashLine : Qt::SolidLine, Qt::FlatCap));
    painter.drawPath(path);
}

void paintLinkCard(QPainter &painter, const LinkScene &link, const LinkLayout &place, bool stale)
{
    const Theme &t = theme();
    const double first = lineHeight(smallFont());
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setPen(QPen(t.border, 1));
    painter.setBrush(t.panel);
    painter.drawRoundedRect(place.card.adjusted(0.5, 0.5, -0.5, -0.5), Theme::kRadius - 1, Theme::kRadius - 1);
    painter.setFont(smallFont());
    const QRectF inner = place.card.adjusted(kCardPad, 4, -kCardPad, -4);
    painter.setPen(stale ? t.textFaint : t.text);
    if (place.isChip) {
        painter.drawText(place.card, Qt::AlignCenter, link.brief);
        return;
    }
    painter.drawText(QRectF(inner.left(), inner.top(), inner.width(), first), Qt::AlignCenter, link.head);
    if (link.foot.isEmpty())
        return;
    painter.setPen(stale ? t.textFaint : t.textMuted);
    painter.drawText(QRectF(inner.left(), inner.top() + first, inner.width(), first), Qt::AlignCenter, link.foot);
    if (link.utilization <= 0)
        return;
    const QRectF bar(inner.left(), inner.bottom() - 3, inner.width(), 3);
    painter.setPen(Qt::NoPen);
    painter.setBrush(t.border);
    painter.drawRoundedRect(bar, 1.5, 1.5);
    painter.setBrush(stale ? t.textFaint : useColour(link.utilization));
    painter.drawRoundedRect(QRectF(bar.topLeft(), QSizeF(std::max(3.0, bar.width() * std::min(1.0, link.utilization)), 3)), 1.5, 1.5);
}

} // namespace

MapSpec measureScene(const MapScene &scene, const Plan &plan)
{
    MapSpec spec;
    const double first = lineHeight(titleFont()), second = lineHeight(smallFont());
    spec.titleHeight = kTitleTop + first + second + kSubtitleBottom;
    spec.labelHeight = second + 2;
    for (std::size_t i = 0; i < scene.islands.size(); ++i) {
        const IslandScene &island = scene.islands[i];
        const Datacenter &datacenter = plan.cluster.datacenters[i];
        IslandSpec shape;
        if (datacenter.latitude && datacenter.longitude)
            shape.place = QPointF(*datacenter.longitude, *datacenter.latitude);
        const double title = widthOf(island.title, titleFont()) + (island.idle ? widthOf(QStringLiteral("00,000 idle"), smallFont()) + 10 : 0);
        shape.minWidth = std::max({130.0, std::min(title, 260.0), std::min(widthOf(island.subtitle, smallFont()), 300.0)}) + 2 * kIslandTextPad + 2;
        for (const GroupScene &group : island.groups) {
            GroupSpec run;
            run.labelWidth = widthOf(group.label, smallFont()) + 4;
            for (const int pool : group.pools)
                run.pools.push_back({pool, island.pools[std::size_t(pool)].nodes, island.pools[std::size_t(pool)].gpusPerNode});
            shape.groups.push_back(std::move(run));
        }
        spec.islands.push_back(std::move(shape));
    }
    for (const LinkScene &link : scene.links) {
        const double width = std::max({76.0, widthOf(link.head, smallFont()), widthOf(link.foot, smallFont())});
        const double bar = link.utilization > 0 ? 5 : 0;
        const QSizeF card(width + 2 * kCardPad, (link.foot.isEmpty() ? 1 : 2) * second + 8 + bar);
        spec.links.push_back({link.a, link.b, card, QSizeF(widthOf(link.brief, smallFont()) + 10, second + 4)});
    }
    return spec;
}

QColor useColour(double utilization)
{
    // Three hues of the product's colour-blind-safe set that differ in lightness as well.
    const QColor calm = theme().work(WorkKind::Prefill), busy = theme().work(WorkKind::WanTransfer), full = theme().work(WorkKind::Optimizer);
    const double use = std::clamp(utilization, 0.0, 1.0);
    return use < 0.6 ? blend(calm, busy, std::clamp((use - 0.3) / 0.3, 0.0, 1.0)) : blend(busy, full, std::clamp((use - 0.7) / 0.25, 0.0, 1.0));
}

void paintMap(QPainter &painter, const MapScene &scene, const MapLayout &layout, bool stale)
{
    for (std::size_t i = 0; i < layout.links.size(); ++i) {
        if (layout.links[i].visible)
            paintLink(painter, scene.links[i], layout.links[i], stale);
    }
    for (std::size_t i = 0; i < layout.islands.size(); ++i)
        paintIsland(painter, scene, scene.islands[i], layout, layout.islands[i], stale);
    for (std::size_t i = 0; i < layout.links.size(); ++i) {
        if (layout.links[i].visible && !layout.links[i].card.isEmpty())
            paintLinkCard(painter, scene.links[i], layout.links[i], stale);
    }
}

} // namespace trainyard

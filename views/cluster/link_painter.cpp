// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/link_painter.h"

#include "views/theme/theme.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kBarRoom = 5; // below a card's texts

QColor blend(const QColor &a, const QColor &b, double share)
{
    const auto mix = [share](float x, float y) { return float(x + (y - x) * share); };
    return QColor::fromRgbF(mix(a.redF(), b.redF()), mix(a.greenF(), b.greenF()), mix(a.blueF(), b.blueF()));
}

double linkWidth(double capacityGbps)
{
    // A decade of capacity is 2.4 pixels: 10 Gbps thin, 1 Tbps thick.
    return std::clamp(1.2 + 2.4 * std::log10(std::max(1.0, capacityGbps) / 4), 1.5, 9.0);
}

void paintCardTexts(QPainter &painter, const MapFonts &fonts, const LinkScene &link, const QRectF &card, bool stale)
{
    const Theme &t = theme();
    const double line = lineHeight(fonts.smallMetrics);
    const QRectF inner = card.adjusted(kLinkLabelPad, 4, -kLinkLabelPad, -4);
    painter.drawText(QRectF(inner.left(), inner.top(), inner.width(), line), Qt::AlignCenter, link.head);
    if (link.foot.isEmpty())
        return;
    painter.setPen(stale ? t.textFaint : t.textMuted);
    painter.drawText(QRectF(inner.left(), inner.top() + line, inner.width(), line), Qt::AlignCenter, link.foot);
    if (link.utilization <= 0)
        return;
    const QRectF bar(inner.left(), inner.bottom() - 3, inner.width(), 3);
    painter.setPen(Qt::NoPen);
    painter.setBrush(t.border);
    painter.drawRoundedRect(bar, 1.5, 1.5);
    painter.setBrush(stale ? t.textFaint : useColour(link.utilization));
    painter.drawRoundedRect(
        QRectF(bar.topLeft(), QSizeF(std::max(3.0, bar.width() * std::min(1.0, link.utilization)), 3)), 1.5, 1.5);
}

} // namespace

void paintLink(QPainter &painter, const LinkScene &link, const LinkLayout &place, double thickness, bool stale)
{
    const Theme &t = theme();
    QPainterPath path(place.from);
    path.quadTo(place.bend, place.to);
    QColor colour = link.utilization > 0 ? useColour(link.utilization) : t.textFaint;
    if (stale)
        colour = blend(colour, t.panel, 0.5);
    const bool idle = link.evaluated && !link.isUsed;
    const double width =
        idle ? 1.5 : std::max(1.5, linkWidth(link.capacityGbps) * thickness); // what carries nothing steps back
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(t.panel, width + 3, Qt::SolidLine, Qt::FlatCap));
    painter.drawPath(path);
    painter.setPen(QPen(colour, width, idle ? Qt::DashLine : Qt::SolidLine, Qt::FlatCap));
    painter.drawPath(path);
}

void paintLinkLabel(
    QPainter &painter, const MapFonts &fonts, const LinkScene &link, const LinkLayout &place, bool stale)
{
    const Theme &t = theme();
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setPen(QPen(t.border, 1));
    painter.setBrush(t.panel);
    painter.drawRoundedRect(place.card.adjusted(0.5, 0.5, -0.5, -0.5), Theme::kRadius - 1, Theme::kRadius - 1);
    painter.setPen(stale ? t.textFaint : t.text);
    painter.setFont(place.label == LinkLabel::Tag ? fonts.tag : fonts.small);
    if (place.label == LinkLabel::Card)
        paintCardTexts(painter, fonts, link, place.card, stale);
    else
        painter.drawText(place.card, Qt::AlignCenter, place.label == LinkLabel::Chip ? link.brief : link.tag);
}

LinkSpec measureLink(const MapFonts &fonts, const LinkScene &link)
{
    const auto &small = fonts.smallMetrics;
    const double line = lineHeight(small),
                 width = std::max({ 76.0, textWidth(small, link.head), textWidth(small, link.foot) });
    LinkSpec spec { link.a, link.b, {}, {}, {}, link.isResting };
    spec.card = { width + 2 * kLinkLabelPad,
        (link.foot.isEmpty() ? 1 : 2) * line + 8 + (link.utilization > 0 ? kBarRoom : 0) };
    spec.chip = { textWidth(small, link.brief) + 10, line + 4 };
    spec.tag = { textWidth(fonts.tagMetrics, link.tag) + 6, lineHeight(fonts.tagMetrics) + 1 };
    return spec;
}

QColor useColour(double utilization)
{
    // Three hues of the product's colour-blind-safe set that differ in lightness as well.
    const QColor calm = theme().work(WorkKind::Prefill), busy = theme().work(WorkKind::WanTransfer),
                 full = theme().work(WorkKind::Optimizer);
    const double use = std::clamp(utilization, 0.0, 1.0);
    return use < 0.6 ? blend(calm, busy, std::clamp((use - 0.3) / 0.3, 0.0, 1.0))
                     : blend(busy, full, std::clamp((use - 0.7) / 0.25, 0.0, 1.0));
}

} // namespace trainyard

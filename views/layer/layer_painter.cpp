// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/layer/layer_painter.h"

#include "models/text/format.h"
#include "views/layer/layer_text.h"
#include "views/theme/theme.h"

#include <QCoreApplication>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kTickRoom = 84, kLabelPad = 5, kPassStripe = 3, kLeastWidth = 1;

QColor mixed(const QColor &a, const QColor &b, double share)
{
    const auto part = [&](float x, float y) { return x + (y - x) * float(share); };
    return QColor::fromRgbF(part(a.redF(), b.redF()), part(a.greenF(), b.greenF()), part(a.blueF(), b.blueF()));
}

/// The one of two inks that stands out more: above a relative luminance of 0.19 dark has the larger contrast.
QColor contrastInk(const QColor &fill)
{
    const auto linear = [](float v) { return std::pow(double(v), 2.2); };
    const double luminance =
        0.2126 * linear(fill.redF()) + 0.7152 * linear(fill.greenF()) + 0.0722 * linear(fill.blueF());
    return luminance > 0.19 ? QColor(0x10151c) : QColor(0xffffff);
}

bool isExchange(const LayerSpan &span)
{
    return span.track.stream != LayerStream::Compute;
}

double xOf(const LayerScene &scene, Nanoseconds time)
{
    return timeToX(time, scene.range, scene.tracks.left(), scene.tracks.width());
}

void paintGround(QPainter &painter, const LayerScene &scene)
{
    const Theme &t = theme();
    const Nanoseconds step = tickStep(scene.range, scene.tracks.width(), kTickRoom);
    painter.setFont(uiFont(-2));
    const QFontMetricsF metrics(painter.font());
    for (const Nanoseconds tick : ticks(scene.range, step)) {
        const double x = xOf(scene, tick);
        painter.setPen(t.grid);
        painter.drawLine(QPointF(x, scene.ruler.bottom()), QPointF(x, scene.tracks.top() + scene.rows.height));
        const QString label = tickLabel(tick, step, scene.range.end);
        QRectF room(x + 4, scene.ruler.top(), metrics.horizontalAdvance(label) + 2, scene.ruler.height());
        if (room.right() > scene.ruler.right())
            room.moveRight(x - 4);
        painter.setPen(t.textMuted);
        painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter, label);
    }
}

/// From the begin to the end of each, whatever legs and pieces it has.
void paintExchanges(QPainter &painter, const LayerScene &scene)
{
    const Theme &t = theme();
    painter.setFont(uiFont(-2));
    const QFontMetricsF metrics(painter.font());
    const bool showsPass = hasBothPasses(scene.chart);
    for (const LayerExchange &exchange : scene.chart.exchanges) {
        const double left = std::max(xOf(scene, exchange.start), scene.exchanges.left());
        const double right = std::min(xOf(scene, exchange.end), scene.exchanges.right());
        if (right - left < 3)
            continue;
        const double y = scene.exchanges.bottom() - 5;
        painter.setPen(QPen(t.textFaint, 1));
        painter.drawLine(QPointF(left + 1, y), QPointF(right - 1, y));
        for (const double x : { left + 1, right - 1 })
            painter.drawLine(QPointF(x, y), QPointF(x, y + 4));
        const QString label = exchangeName(exchange, showsPass);
        const QRectF room(left, scene.exchanges.top(), right - left, y - scene.exchanges.top());
        painter.setPen(t.textMuted);
        if (metrics.horizontalAdvance(label) <= room.width())
            painter.drawText(room, Qt::AlignHCenter | Qt::AlignBottom, label);
    }
}

void paintLabels(QPainter &painter, const LayerScene &scene)
{
    const Theme &t = theme();
    for (const LayerGroup &group : scene.rows.groups) {
        painter.setFont(uiFont(-1, QFont::DemiBold));
        painter.setPen(t.text);
        const QRectF line(scene.gutter.left(), scene.tracks.top() + group.y, scene.gutter.width(), kLayerGroup);
        painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, group.label);
    }
    painter.setFont(uiFont(-1));
    painter.setPen(t.textMuted);
    for (const LayerRow &row : scene.rows.rows) {
        const QRectF line(
            scene.gutter.left(), scene.tracks.top() + row.y, scene.gutter.width() - 8, scene.rows.rowHeight);
        painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
            QFontMetricsF(painter.font()).elidedText(row.label, Qt::ElideRight, line.width()));
    }
}

/// Where the first row of the fullest rank is idle.
void paintBareTimes(QPainter &painter, const LayerScene &scene)
{
    if (scene.rows.rows.empty() || scene.rows.rows.front().track.stream != LayerStream::Compute)
        return;
    const Theme &t = theme();
    const LayerRow &row = scene.rows.rows.front();
    painter.setFont(uiFont(-2));
    const QFontMetricsF metrics(painter.font());
    for (const BareTime &bare : bareTimes(scene.chart)) {
        const double left = xOf(scene, bare.start), right = xOf(scene, bare.end);
        const QRectF room(left, scene.tracks.top() + row.y + 3, right - left, scene.rows.rowHeight - 6);
        if (room.width() < 1)
            continue;
        QColor ground = t.warning;
        ground.setAlphaF(t.isDark ? 0.22F : 0.16F);
        painter.fillRect(room, ground);
        painter.fillRect(room, QBrush(mixed(t.panel, t.warning, 0.45), Qt::BDiagPattern));
        const QString text = QCoreApplication::translate("LayerPainter", "exposed %1")
                                 .arg(formatSeconds(toSeconds(bare.end - bare.start).value));
        const double width = metrics.horizontalAdvance(text) + 2 * kLabelPad;
        if (width + 4 > room.width())
            continue;
        const QRectF plate(room.center().x() - width / 2, room.top() + 2, width, room.height() - 4);
        painter.setPen(Qt::NoPen);
        painter.setBrush(t.panel);
        painter.drawRoundedRect(plate, 3, 3);
        painter.setPen(t.warning);
        painter.drawText(plate, Qt::AlignCenter, text);
    }
}

void paintSpan(QPainter &painter, const LayerScene &scene, const LayerRow &row, std::size_t index, bool showsPass)
{
    const Theme &t = theme();
    const LayerSpan &span = scene.chart.spans[index];
    const QRectF bar = layerSpanRect(scene, row, span);
    if (bar.right() < scene.tracks.left() || bar.left() > scene.tracks.right())
        return;
    const QColor fill = layerColor(span);
    painter.setPen(Qt::NoPen);
    painter.setBrush(fill);
    const double radius = std::min(3.0, bar.width() / 4);
    painter.drawRoundedRect(bar, radius, radius);
    if (span.step == LayerStep::Shared || span.step == LayerStep::Combine || span.step == LayerStep::HostWait) {
        painter.setBrush(QBrush(mixed(fill, contrastInk(fill), 0.28),
            span.step == LayerStep::Combine ? Qt::FDiagPattern : Qt::Dense6Pattern));
        painter.drawRoundedRect(bar, radius, radius);
    }
    if (showsPass && isExchange(span) && span.step != LayerStep::Beside && bar.width() > 2 * kPassStripe) {
        painter.setBrush(t.work(span.isBackward ? WorkKind::Backward : WorkKind::Forward));
        painter.drawRect(QRectF(bar.left(), bar.bottom() - kPassStripe, bar.width(), kPassStripe));
    }
    const bool isSelected = scene.selected == index, isHovered = scene.hovered == index;
    if (isSelected || isHovered) {
        painter.setPen(QPen(isSelected ? t.accent : t.text, isSelected ? 2 : 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(bar.adjusted(-0.5, -0.5, 0.5, 0.5), radius, radius);
    }
    const QRectF seen = bar.intersected(scene.tracks);
    painter.setFont(uiFont(-2));
    const QFontMetricsF metrics(painter.font());
    for (const QString &label : layerSpanLabels(scene.chart, index)) {
        const double width = metrics.horizontalAdvance(label);
        if (width + 2 * kLabelPad > seen.width())
            continue;
        if (painter.brush() != Qt::NoBrush || span.step == LayerStep::Combine || span.step == LayerStep::Shared) {
            painter.setPen(Qt::NoPen); // letters over a pattern stand on its ground
            painter.setBrush(fill);
            painter.drawRect(QRectF(seen.center().x() - width / 2 - 2, seen.center().y() - metrics.height() / 2,
                width + 4, metrics.height()));
        }
        painter.setPen(contrastInk(fill));
        painter.drawText(seen, Qt::AlignCenter, label);
        break;
    }
}

} // namespace

QColor layerColor(const LayerSpan &span)
{
    const Theme &t = theme();
    const QColor pass = t.work(span.isBackward ? WorkKind::Backward : WorkKind::Forward);
    switch (span.step) {
    case LayerStep::Products:
    case LayerStep::Shared:
        return pass;
    case LayerStep::Before:
        return mixed(pass, t.textFaint, 0.5);
    case LayerStep::Router:
    case LayerStep::Permute:
    case LayerStep::Unpermute:
        return mixed(pass, t.panel, 0.3);
    case LayerStep::HostWait:
        return mixed(t.work(WorkKind::Overhead), t.panel, 0.35);
    case LayerStep::Dispatch:
    case LayerStep::Combine:
        break;
    case LayerStep::Beside:
        return t.work(WorkKind::Overhead);
    }
    switch (span.track.stream) {
    case LayerStream::Nic:
        return t.work(WorkKind::Collective);
    case LayerStream::Nvlink:
        return t.work(WorkKind::GradientReduce);
    case LayerStream::Wan:
        return t.work(WorkKind::WanTransfer);
    case LayerStream::Copy:
    case LayerStream::Compute:
        break;
    }
    return t.work(WorkKind::DriveRead);
}

QRectF layerSpanRect(const LayerScene &scene, const LayerRow &row, const LayerSpan &span)
{
    const double left = xOf(scene, span.start), right = xOf(scene, span.end);
    const int inset = scene.rows.rowHeight > 22 ? 4 : 2;
    return { left, scene.tracks.top() + row.y + inset, std::max(kLeastWidth, right - left),
        double(scene.rows.rowHeight - 2 * inset) };
}

void paintLayer(QPainter &painter, const LayerScene &scene)
{
    const Theme &t = theme();
    painter.setRenderHint(QPainter::Antialiasing);
    for (const LayerRow &row : scene.rows.rows)
        painter.fillRect(
            QRectF(scene.tracks.left(), scene.tracks.top() + row.y + 1, scene.tracks.width(), scene.rows.rowHeight - 2),
            t.idle);
    paintGround(painter, scene);
    paintExchanges(painter, scene);
    paintLabels(painter, scene);
    painter.save();
    painter.setClipRect(scene.tracks);
    paintBareTimes(painter, scene);
    const bool showsPass = hasBothPasses(scene.chart);
    for (const LayerRow &row : scene.rows.rows)
        for (std::size_t i = row.first; i < row.last; ++i)
            paintSpan(painter, scene, row, i, showsPass);
    const double end = xOf(scene, scene.chart.duration);
    painter.setPen(QPen(t.textFaint, 1, Qt::DashLine));
    painter.drawLine(QPointF(end, scene.tracks.top()), QPointF(end, scene.tracks.top() + scene.rows.height));
    painter.restore();
}

} // namespace trainyard

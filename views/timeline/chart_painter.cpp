// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/chart_painter.h"

#include "views/theme/theme.h"
#include "views/theme/turn_colors.h"

#include <QFontMetrics>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kFoldMark = 12;          // width of the triangle before a datacenter's name
constexpr int kColumnGap = 10;         // between the columns of the gutter
constexpr int kLeastGutter = 90, kMostGutter = 300;
constexpr int kMostName = 110;         // of a datacenter's name, before it is cut
constexpr double kTickDistance = 76;
constexpr int kTickMargin = 4;

int widest(const QFont &font, const std::vector<QString> &texts)
{
    const QFontMetrics metrics(font);
    int width = 0;
    for (const QString &text : texts)
        width = std::max(width, metrics.horizontalAdvance(text));
    return width;
}

bool isThin(const TrackRow &row)
{
    return row.kind == TrackRow::Kind::Channel || row.kind == TrackRow::Kind::Stream;
}

/// Which turn of its cell a stage's pipeline has; -1 where there are no turns.
int turnOf(const TimelineState &state, const TrackRow &row)
{
    if (row.kind != TrackRow::Kind::Stage)
        return -1;
    const auto pipelineClass = std::size_t(state.timeline()->tracks[row.tracks.front()].pipelineClass);
    const auto &classes = state.evaluation->layout.classes;
    return pipelineClass < classes.size() && classes[pipelineClass].lanes > 1 ? classes[pipelineClass].lane : -1;
}

QPainterPath foldMark(QPointF center, bool folded)
{
    QPainterPath path;
    if (folded) {
        path.moveTo(center + QPointF(-2, -3.5));
        path.lineTo(center + QPointF(2.5, 0));
        path.lineTo(center + QPointF(-2, 3.5));
    } else {
        path.moveTo(center + QPointF(-3.5, -2));
        path.lineTo(center + QPointF(0, 2.5));
        path.lineTo(center + QPointF(3.5, -2));
    }
    return path;
}

} // namespace

Nanoseconds rulerStep(const TimelineState &state, const ChartGeometry &geometry)
{
    return tickStep(state.range, geometry.ruler.width(), kTickDistance);
}

QRectF tickLabelRect(const TimelineState &state, const ChartGeometry &geometry, Nanoseconds tick, Nanoseconds step)
{
    const int width = QFontMetrics(rowFont()).horizontalAdvance(tickLabel(tick, step, state.whole.end)) + 2;
    return {std::floor(geometry.x(state, tick)) + kTickMargin, double(geometry.ruler.top() + 1), double(width), double(geometry.ruler.height() - 5)};
}

QFont groupFont() { return uiFont(-1, QFont::DemiBold); }
QFont rowFont() { return uiFont(-2); }
QFont smallFont() { return uiFont(-3); }

int ChartPainter::measure(const TimelineState &state)
{
    m_gutter = {};
    std::vector<QString> groups, labels, details, channels;
    for (const DatacenterGroup &group : state.layout.groups)
        groups.push_back(group.name);
    for (const TrackRow &row : state.layout.rows) {
        (isThin(row) ? channels : labels).push_back(row.label);
        details.push_back(row.detail);
    }
    m_columns.group = std::min(kMostName, widest(groupFont(), groups)) + kFoldMark;
    m_columns.detail = widest(rowFont(), details);
    m_columns.label = std::max(widest(rowFont(), labels), widest(smallFont(), channels) - m_columns.detail - kColumnGap / 2);
    const int detail = m_columns.detail > 0 ? m_columns.detail + kColumnGap / 2 : 0;
    return std::clamp(Theme::kPad + m_columns.group + kColumnGap + m_columns.label + detail + kColumnGap, kLeastGutter, kMostGutter);
}

void ChartPainter::refreshGutter(const TimelineState &state, const ChartGeometry &geometry, qreal ratio)
{
    const QSize pixels = (QSizeF(geometry.gutter.width(), geometry.gutter.bottom() + 1) * ratio).toSize();
    if (m_gutter.size() == pixels && m_gutter.devicePixelRatio() == ratio && m_gutterScroll == state.scroll)
        return;
    m_gutter = QImage(pixels, QImage::Format_RGB32);
    m_gutter.setDevicePixelRatio(ratio);
    m_gutter.fill(theme().panel);
    m_gutterScroll = state.scroll;
    QPainter painter(&m_gutter);
    painter.setRenderHint(QPainter::Antialiasing);
    paintGutter(painter, state, geometry);
}

void ChartPainter::paint(QImage &image, const TimelineState &state, const ChartGeometry &geometry)
{
    image.fill(theme().panel);
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    paintGrid(painter, state, geometry);
    painter.end();
    m_lanes.paint(image, state, geometry.tracks);
    painter.begin(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    paintRuler(painter, state, geometry);
    refreshGutter(state, geometry, image.devicePixelRatio());
    painter.drawImage(QPointF(0, 0), m_gutter);
    if (state.layout.pinnedHeight > 0) {
        const int y = geometry.tracks.top() + state.layout.pinnedHeight - 4;
        painter.fillRect(QRect(Theme::kPad, y, geometry.tracks.right() + 1 - Theme::kPad, 1), theme().border);
    }
    paintScrollMark(painter, state, geometry);
}

void ChartPainter::paintGrid(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry) const
{
    const Nanoseconds step = rulerStep(state, geometry);
    for (const Nanoseconds t : ticks(state.range, step)) {
        const QRect line(int(geometry.x(state, t)), geometry.tracks.top() - 4, 1, geometry.tracks.height() + 4);
        painter.fillRect(line, theme().grid);
    }
}

void ChartPainter::paintRuler(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry) const
{
    painter.setFont(rowFont());
    painter.setPen(theme().textFaint);
    const Nanoseconds step = rulerStep(state, geometry);
    const int right = geometry.ruler.right() + 8;
    for (const Nanoseconds t : ticks(state.range, step)) {
        const QString text = tickLabel(t, step, state.whole.end);
        const QRectF label = tickLabelRect(state, geometry, t, step);
        painter.fillRect(QRect(int(geometry.x(state, t)), geometry.ruler.bottom() - 5, 1, 5), theme().border);
        if (label.right() <= right)
            painter.drawText(label, Qt::AlignLeft | Qt::AlignVCenter, text);
    }
}

void ChartPainter::paintGutter(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry) const
{
    const int scrollTop = geometry.gutter.top() + state.layout.pinnedHeight;
    painter.save();
    painter.setClipRect(QRect(0, geometry.gutter.top(), geometry.gutter.width(), state.layout.pinnedHeight));
    for (const TrackRow &row : state.layout.rows) {
        if (row.isPinned)
            paintRowLabel(painter, state, geometry, row);
    }
    painter.setClipRect(QRect(0, scrollTop, geometry.gutter.width(), std::max(0, geometry.gutter.bottom() + 1 - scrollTop)));
    for (const TrackRow &row : state.layout.rows) {
        if (!row.isPinned)
            paintRowLabel(painter, state, geometry, row);
    }
    const QFontMetrics metrics(groupFont());
    painter.setFont(groupFont());
    for (const DatacenterGroup &group : state.layout.groups) {
        const int top = scrollTop + group.y - state.scroll;
        // On the line of its first row; it stays in sight as long as any of its rows is.
        const int y = std::min(std::max(top, scrollTop), top + std::max(0, group.height - group.nameHeight));
        const double middle = y + group.nameHeight / 2.0;
        painter.fillPath(foldMark(QPointF(Theme::kPad + 3.5, middle), group.isFolded), theme().textFaint);
        painter.setPen(theme().text);
        const QString name = metrics.elidedText(group.name, Qt::ElideRight, m_columns.group - kFoldMark + kColumnGap - 2);
        painter.drawText(QPointF(Theme::kPad + kFoldMark, std::round(middle + metrics.capHeight() / 2.0)), name);
    }
    painter.restore();
}

void ChartPainter::paintRowLabel(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry, const TrackRow &row) const
{
    const int top = geometry.gutter.top() + rowTop(state.layout, row, state.scroll);
    if (top > geometry.gutter.bottom() || top + row.pitch < geometry.gutter.top())
        return;
    const bool thin = isThin(row);
    const QRect band = thin ? QRect(0, top, geometry.gutter.width() - kColumnGap, row.pitch)
                            : QRect(0, top + row.barTop, geometry.gutter.width() - kColumnGap, row.barHeight);
    painter.setFont(thin ? smallFont() : rowFont());
    const QFontMetrics metrics(painter.font());
    const auto rightAligned = [&](const QString &text, int right, const QColor &color) {
        const int room = right - (Theme::kPad + (row.isPinned ? 0 : m_columns.group));
        const QString shown = metrics.elidedText(text, Qt::ElideRight, room);
        // Centred on the capitals, as in the bars, so that short rows keep their labels on their line.
        const int baseline = int(std::round(band.top() + band.height() / 2.0 + metrics.capHeight() / 2.0));
        painter.setPen(color);
        painter.drawText(QPoint(right - metrics.horizontalAdvance(shown), baseline), shown);
    };
    if (const int turn = turnOf(state, row); turn >= 0) {   // the shade of its transfers
        painter.fillRect(QRectF(band.right() + 3.5, band.top() + band.height() / 2.0 - 3, 4, 6), turnShade(theme().work(WorkKind::WanTransfer), turn));
    }
    const bool details = m_columns.detail > 0 && !row.detail.isEmpty();
    if (details)
        rightAligned(row.detail, band.right(), theme().textFaint);
    const int right = thin || !details ? band.right() : band.right() - m_columns.detail - kColumnGap / 2;
    const QString label = row.isPinned && !thin ? datacenterName(*state.evaluation, row.datacenter) + u' ' + row.label : row.label;
    rightAligned(label, right, thin ? theme().textFaint : theme().textMuted);
}

void ChartPainter::paintScrollMark(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry) const
{
    const int visible = geometry.tracks.height() - state.layout.pinnedHeight;
    if (state.layout.contentHeight <= visible || visible <= 0)
        return;
    const double scale = double(visible) / state.layout.contentHeight;
    const QRectF track(geometry.tracks.right() + 5, geometry.tracks.top() + state.layout.pinnedHeight, 4, visible);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme().border);
    painter.drawRoundedRect(QRectF(track.left(), track.top() + state.scroll * scale, 4, std::max(18.0, visible * scale)), 2, 2);
}

} // namespace trainyard

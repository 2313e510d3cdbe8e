// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/chart_painter.h"

#include "views/theme/theme.h"
#include "views/theme/turn_colors.h"
#include "views/timeline/lane_vectors.h"
#include "views/timeline/measured_text.h"
#include "views/timeline/row_heights.h"

#include <QFontMetrics>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>
#include <utility>

namespace trainyard {

namespace {

constexpr int kFoldMark = 12; // width of the triangle before a datacenter's name
constexpr int kColumnGap = 8; // between a datacenter's name and the labels
constexpr int kMarks = 13; // right of the labels: the turn in its cell, the stage's colour
constexpr int kTick = 3; // width of the stage's colour
constexpr int kLeastLine = 11; // pixels between labels that do not touch
constexpr int kLeastNamedLane = 5; // pixels of a measured lane that is named

/// Pixels between labels that do not touch.
int lineStep()
{
    return std::max(kLeastLine, QFontMetrics(rowFont()).height() * 5 / 6);
}

/// Width of the labels beside the names.
int labelWidth()
{
    return QFontMetrics(rowFont()).horizontalAdvance(QStringLiteral("stage 128"));
}

int nameLeft()
{
    return Theme::kPad + kFoldMark;
}

/// Of a GPU's name the model tells most: "V100 SXM2" is "V100", "RTX A6000" is "A6000".
QString withoutAWord(const QString &name)
{
    const QString first = name.section(u' ', 0, 0);
    const bool isModel = std::ranges::any_of(first, [](QChar c) { return c.isDigit(); });
    return isModel ? name.section(u' ', 0, -2) : name.section(u' ', 1);
}

/// "GPU 3 · V100 SXM2", without the words at its end for which there is no room.
QString gpuLabel(QString label, const QFontMetrics &metrics, int room)
{
    while (metrics.horizontalAdvance(label) >= room && label.count(u' ') > 1)
        label = label.section(u' ', 0, -2);
    return label.endsWith(u'·') ? label.chopped(2) : label;
}

int stagesOf(const Evaluation &evaluation)
{
    std::size_t stages = 1;
    for (const PipelineClass &of : evaluation.layout.classes)
        stages = std::max(stages, of.locations.size());
    return int(stages);
}

/// Which turn of its cell a stage's pipeline has; -1 where there are no turns.
int turnOf(const TimelineState &state, const TrackRow &row)
{
    if (row.kind != TrackRow::Kind::Stage)
        return -1;
    const auto pipelineClass = std::size_t(state.timeline()->tracks[row.tracks.front()].pipelineClass);
    const auto &classes = state.evaluation->layout.classes;
    return pipelineClass < classes.size() && classes[pipelineClass].cellMembers > 1 ? classes[pipelineClass].cellMember
                                                                                    : -1;
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
    return { std::round(geometry.x(state, tick) - width / 2.0), double(geometry.ruler.top() + 1), double(width),
        double(geometry.ruler.height() - 5) };
}

QFont groupFont()
{
    return uiFont(-1, QFont::DemiBold);
}
QFont rowFont()
{
    return uiFont(-2);
}
QFont smallFont()
{
    return uiFont(-3);
}

int gutterWidth(int chartWidth)
{
    const int name = QFontMetrics(groupFont()).horizontalAdvance(QStringLiteral("Northern Virginia"));
    return std::min(nameLeft() + name + kColumnGap + labelWidth() + kMarks, chartWidth / 3);
}

/// Stages at an even step first, then what fits between them.
void ChartPainter::arrangeLabels(const TimelineState &state)
{
    const int stages = state.evaluation ? stagesOf(*state.evaluation) : 1;
    const auto &rows = state.layout.rows;
    std::vector<int> turns;
    for (const TrackRow &row : rows)
        turns.push_back(turnOf(state, row));
    const bool isTold = state.measured || !state.jobs.isEmpty(); // labels that are not in the layout
    TrackLayout laid = withoutTracks(state.layout);
    if (!isTold && !m_isGutterOld && stages == m_stages && turns == m_turns && laid == m_laid)
        return;
    m_isGutterOld = true;
    m_stages = stages;
    m_turns = std::move(turns);
    m_laid = std::move(laid);
    m_isLabelled.assign(rows.size(), false);
    const auto middle = [&](std::size_t r) {
        const int own = rows[r].measuredHeight > 0 ? rows[r].barTop + rows[r].barHeight / 2 : rows[r].pitch / 2;
        return rows[r].y + own + (rows[r].isPinned ? -1'000'000 : 0);
    };
    const int line = lineStep();
    std::vector<int> taken;
    const auto place = [&](std::size_t r) {
        if (std::ranges::any_of(taken, [&](int other) { return std::abs(other - middle(r)) < line; }))
            return;
        taken.push_back(middle(r));
        m_isLabelled[r] = true;
    };
    int inRun = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        if (isThin(rows[r]))
            continue;
        const bool isNext = r > 0 && rows[r - 1].kind == rows[r].kind
            && rows[r - 1].pipelineClass == rows[r].pipelineClass && rows[r - 1].datacenter == rows[r].datacenter;
        inRun = isNext ? inRun + 1 : 0;
        if (inRun % std::max(1, (line + rows[r].pitch - 1) / std::max(1, rows[r].pitch)) == 0)
            place(r);
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
        if (isThin(rows[r]))
            place(r);
    }
    m_isRunLabelled.assign(rows.size(), false);
    for (std::size_t r = 0; r < rows.size(); ++r) {
        if (isThin(rows[r]) || rows[r].measuredHeight < kLeastNamedLane)
            continue;
        const int own =
            rows[r].y + rows[r].measuredTop + rows[r].measuredHeight / 2 + (rows[r].isPinned ? -1'000'000 : 0);
        m_isRunLabelled[r] = std::ranges::none_of(taken, [&](int other) { return std::abs(other - own) < line - 1; });
    }
}

void ChartPainter::refreshGutter(const TimelineState &state, const ChartGeometry &geometry, qreal ratio)
{
    const QSize pixels = (QSizeF(geometry.gutter.width(), geometry.gutter.bottom() + 1) * ratio).toSize();
    const bool isSized = m_gutter.size() == pixels && m_gutter.devicePixelRatio() == ratio;
    if (isSized && !m_isGutterOld && m_gutterScroll == state.scroll)
        return;
    if (!isSized)
        m_gutter = QImage(pixels, QImage::Format_RGB32);
    m_isGutterOld = false;
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
    refreshGutter(state, geometry, image.devicePixelRatio());
    painter.drawImage(QPointF(0, 0), m_gutter);
    paintRuler(painter, state, geometry); // the first label reaches over the names, as that of the charts below does
    if (state.layout.pinnedHeight > 0) {
        const int y = geometry.tracks.top() + state.layout.pinnedHeight - 4;
        painter.fillRect(QRect(Theme::kPad, y, geometry.tracks.right() + 1 - Theme::kPad, 1), theme().border);
    }
    paintScrollMark(painter, state, geometry);
}

void ChartPainter::paintVectors(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry) const
{
    paintGrid(painter, state, geometry);
    LaneVectors().paint(painter, state, geometry.tracks);
    paintGutter(painter, state, geometry);
    paintRuler(painter, state, geometry);
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
            painter.drawText(label, Qt::AlignCenter, text);
    }
}

void ChartPainter::paintGutter(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry) const
{
    const int scrollTop = geometry.gutter.top() + state.layout.pinnedHeight;
    painter.save();
    painter.setClipRect(QRect(0, geometry.gutter.top(), geometry.gutter.width(), state.layout.pinnedHeight));
    for (const TrackRow &row : state.layout.rows) {
        if (row.isPinned) {
            paintRowLabel(painter, state, geometry, row);
            paintRunLabel(painter, state, geometry, row);
        }
    }
    painter.setClipRect(
        QRect(0, scrollTop, geometry.gutter.width(), std::max(0, geometry.gutter.bottom() + 1 - scrollTop)));
    for (const TrackRow &row : state.layout.rows) {
        if (!row.isPinned) {
            paintRowLabel(painter, state, geometry, row);
            paintRunLabel(painter, state, geometry, row);
        }
    }
    paintGroupNames(painter, state, geometry);
    painter.restore();
}

void ChartPainter::paintGroupNames(QPainter &painter, const TimelineState &state, const ChartGeometry &geometry) const
{
    const int scrollTop = geometry.gutter.top() + state.layout.pinnedHeight;
    const int right = geometry.gutter.width() - kMarks - kColumnGap;
    const auto write = [&](const QFont &font, const QColor &color, const QString &text, double middle, int room) {
        const QFontMetrics metrics(font);
        painter.setFont(font);
        painter.setPen(color);
        painter.drawText(QPointF(nameLeft(), std::round(middle + metrics.capHeight() / 2.0)),
            metrics.elidedText(text, Qt::ElideRight, room));
    };
    const int line = lineStep(), half = line * 2 / 3;
    std::vector<double> names; // where they stand, and nothing else may
    for (const RowGroup &group : state.layout.groups) {
        const int top = scrollTop + group.y - state.scroll;
        // On the line of its first row; it stays in sight as long as any of its rows is.
        const int y = std::min(std::max(top, scrollTop), top + std::max(0, group.height - group.nameHeight));
        const auto first = std::ranges::find_if(state.layout.rows,
            [&](const TrackRow &row) { return !row.isPinned && row.datacenter == group.datacenter; });
        const bool isShared =
            first != state.layout.rows.end() && !first->detail.isEmpty(); // the detail has the lower half of a tall row
        const double middle =
            std::max(y + group.nameHeight / 2.0 - (isShared ? half : 0), geometry.gutter.top() + line / 2.0);
        painter.fillPath(foldMark(QPointF(Theme::kPad + 3.5, middle), group.isFolded), theme().textFaint);
        write(groupFont(), theme().text, group.name, middle, right - labelWidth() - nameLeft());
        names.push_back(middle);
    }
    for (const RowGroup &others : state.layout.others) {
        const double middle = scrollTop + others.y - state.scroll + others.nameHeight / 2.0;
        if (std::ranges::none_of(names, [&](double name) { return std::abs(name - middle) < line; }))
            painter.fillPath(foldMark(QPointF(Theme::kPad + 3.5, middle), others.isFolded), theme().textFaint);
    }
    for (const TrackRow &row : state.layout.rows) {
        if (row.isPinned || row.detail.isEmpty())
            continue;
        const bool isFirst = std::ranges::any_of(
            state.layout.groups, [&](const RowGroup &g) { return g.datacenter == row.datacenter && g.y == row.y; });
        const double middle = geometry.gutter.top() + rowTop(state.layout, row, state.scroll) + row.barTop
            + row.barHeight / 2.0 + (isFirst ? half : 0);
        if (std::ranges::none_of(names, [&](double name) { return std::abs(name - middle) < line; }))
            write(smallFont(), theme().textFaint, row.detail, middle,
                right - QFontMetrics(rowFont()).horizontalAdvance(row.label) - nameLeft());
    }
}

void ChartPainter::paintRowLabel(
    QPainter &painter, const TimelineState &state, const ChartGeometry &geometry, const TrackRow &row) const
{
    const int top = geometry.gutter.top() + rowTop(state.layout, row, state.scroll);
    if (top > geometry.gutter.bottom() || top + row.pitch < geometry.gutter.top())
        return;
    const bool thin = isThin(row);
    const int right = geometry.gutter.width() - kMarks;
    const double own = thin && row.measuredHeight == 0 ? top + row.pitch / 2.0 : top + row.barTop + row.barHeight / 2.0;
    // A short first row must not lose the upper half of its label.
    const int edge = geometry.gutter.top() + (row.isPinned ? 0 : state.layout.pinnedHeight);
    const double middle = top >= edge ? std::max(own, edge + lineStep() / 2.0) : own;
    if (row.kind == TrackRow::Kind::Stage && state.jobs.isEmpty()) // the colour that its GPUs have on the map
        painter.fillRect(QRect(geometry.gutter.width() - kTick - 1, top + row.barTop, kTick,
                             std::max(row.barHeight, row.measuredTop + row.measuredHeight - row.barTop)),
            theme().stage(row.stage, m_stages));
    if (const int turn = m_turns[std::size_t(&row - state.layout.rows.data())]; turn >= 0) // the shade of its transfers
        painter.fillRect(QRectF(right + 3, middle - 3, 4, 6), turnShade(theme().work(WorkKind::WanTransfer), turn));
    if (!m_isLabelled[std::size_t(&row - state.layout.rows.data())])
        return;
    painter.setFont(thin ? smallFont() : rowFont());
    const QFontMetrics metrics(painter.font());
    const bool isGpu = row.kind == TrackRow::Kind::Stage && !state.jobs.isEmpty();
    int room = right - (row.isPinned || thin ? Theme::kPad : right - labelWidth());
    if (isGpu && !row.isPinned) // beside the name of its datacenter, which stays in sight
        for (const RowGroup &group : state.layout.groups)
            if (group.datacenter == row.datacenter)
                room = std::max(
                    room, right - kColumnGap - nameLeft() - QFontMetrics(groupFont()).horizontalAdvance(group.name));
    QString label =
        row.isPinned && !thin ? datacenterName(*state.evaluation, row.datacenter) + u' ' + row.label : row.label;
    if (isGpu && !row.isPinned)
        label = gpuLabel(label, metrics, room);
    while (row.kind == TrackRow::Kind::Stage && !isGpu && !row.isPinned && metrics.horizontalAdvance(label) >= room
        && label.contains(u' '))
        label = withoutAWord(label);
    const QString shown = metrics.elidedText(label, Qt::ElideRight, room);
    // Centred on the capitals, as in the bars, so that short rows keep their labels on their line.
    painter.setPen(thin ? theme().textFaint : theme().textMuted);
    painter.drawText(
        QPointF(right - metrics.horizontalAdvance(shown), std::round(middle + metrics.capHeight() / 2.0)), shown);
}

void ChartPainter::paintRunLabel(
    QPainter &painter, const TimelineState &state, const ChartGeometry &geometry, const TrackRow &row) const
{
    const auto index = std::size_t(&row - state.layout.rows.data());
    const int top = geometry.gutter.top() + rowTop(state.layout, row, state.scroll) + row.measuredTop;
    if (!state.measured || index >= m_isRunLabelled.size() || !m_isRunLabelled[index] || top > geometry.gutter.bottom()
        || top + row.measuredHeight < geometry.gutter.top())
        return;
    painter.setFont(smallFont());
    painter.setPen(theme().textFaint);
    const QFontMetrics metrics(painter.font());
    QString label = measuredLabel(*state.measured, row);
    if (metrics.horizontalAdvance(label) > labelWidth() + kColumnGap)
        label = label.section(QStringLiteral(" · "), 1);
    const int right = geometry.gutter.width() - kMarks;
    painter.drawText(QPointF(right - metrics.horizontalAdvance(label),
                         std::round(top + row.measuredHeight / 2.0 + metrics.capHeight() / 2.0)),
        label);
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
    painter.drawRoundedRect(
        QRectF(track.left(), track.top() + state.scroll * scale, 4, std::max(18.0, visible * scale)), 2, 2);
}

} // namespace trainyard

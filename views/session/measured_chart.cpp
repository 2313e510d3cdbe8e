// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/session/measured_chart.h"

#include "core/engine/timeline/analysis.h"
#include "core/evaluation/evaluate/track_names.h"
#include "models/text/duration.h"
#include "models/text/foreign_text.h"
#include "views/theme/theme.h"
#include "views/timeline/chart_painter.h"
#include "views/timeline/measured_text.h"
#include "views/timeline/timeline_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace trainyard {

namespace {

constexpr int kLeastRow = 15, kMostRow = 34, kRowGap = 2, kLabelPadding = 6; // pixels
constexpr double kZoomPerNotch = 1.25, kPanPerKey = 0.1, kNotch = 120;

/// "stage 2 · rank 5"; "rank 3, stream 7" of a run alone.
QString nameOfRow(const RunOverlay &overlay, const MeasuredRow &row)
{
    if (!overlay.evaluation)
        return QString::fromStdString(row.label);
    Track track { .stream = row.key.stream, .stage = row.key.stage, .toStage = row.key.peer };
    const auto &classes = overlay.evaluation->layout.classes;
    const auto own = std::ranges::find(classes, row.key.firstReplica, &PipelineClass::firstPipeline);
    track.pipelineClass = own == classes.end() ? 0 : int(own - classes.begin());
    QString name = QString::fromStdString(trackName(*overlay.evaluation, track));
    if (classes.size() > 1)
        name = QString::fromStdString(pipelinesName(*overlay.evaluation, track)) + QStringLiteral(", ") + name;
    return row.shown >= 0 ? MeasuredChart::tr("%1 · rank %2").arg(name).arg(row.shown)
                          : MeasuredChart::tr("%1 · not recorded").arg(name);
}

} // namespace

MeasuredChart::MeasuredChart(QWidget *parent)
    : QAbstractScrollArea(parent)
{
    setAccessibleName(tr("Measured timeline"));
    setAccessibleDescription(tr("Arrow keys pan, + and - zoom, Home shows all."));
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::StrongFocus);
    setMinimumHeight(kRulerHeight + 3 * kLeastRow);
    viewport()->setMouseTracking(true);
}

void MeasuredChart::setLanes(const MeasuredLanesPtr &lanes, const QString &reason)
{
    m_reason = reason;
    m_state.hoveredMeasured = kNoSpan;
    if (std::exchange(m_state.measured, lanes) != lanes)
        makeRows();
    takeWhole();
    viewport()->update();
}

void MeasuredChart::setLeastEnd(Nanoseconds end)
{
    m_leastEnd = end;
    takeWhole();
}

void MeasuredChart::takeWhole()
{
    const TimeInterval before = m_state.whole;
    m_state.whole = { 0, std::max(m_leastEnd, m_state.measured ? m_state.measured->end : 0) };
    if (m_state.whole.isEmpty())
        m_state.range = m_state.whole;
    else if (m_state.range.isEmpty() || m_state.range == before)
        setRange(m_state.whole);
    else
        setRange(m_state.range);
}

void MeasuredChart::makeRows()
{
    m_state.layout = {};
    if (m_state.measured) {
        const RunOverlay &overlay = *m_state.measured->overlay;
        std::vector<std::uint32_t> order(overlay.rows.size());
        std::iota(order.begin(), order.end(), 0u);
        std::ranges::stable_sort(order, {}, [&](std::uint32_t row) { return overlay.rows[row].key; });
        for (const std::uint32_t index : order) {
            const MeasuredRow &measured = overlay.rows[index];
            if (measured.size() == 0 && measured.key.stream != Stream::Compute)
                continue;
            TrackRow row;
            row.measured = { index };
            row.label = nameOfRow(overlay, measured);
            m_state.layout.rows.push_back(std::move(row));
        }
    }
    placeRows();
}

void MeasuredChart::placeRows()
{
    const int room = std::max(0, viewport()->height() - kRulerHeight), count = int(m_state.layout.rows.size());
    const int pitch = std::clamp(count > 0 ? room / count : kMostRow, kLeastRow, kMostRow);
    for (int r = 0; r < count; ++r) {
        TrackRow &row = m_state.layout.rows[std::size_t(r)];
        row.y = r * pitch;
        row.pitch = pitch;
        row.measuredHeight = pitch - kRowGap;
    }
    m_state.layout.contentHeight = count * pitch;
    verticalScrollBar()->setPageStep(room);
    verticalScrollBar()->setSingleStep(pitch);
    verticalScrollBar()->setRange(0, std::max(0, m_state.layout.contentHeight - room));
    m_state.scroll = verticalScrollBar()->value();
}

QStringList MeasuredChart::rowNames() const
{
    QStringList names;
    for (const TrackRow &row : m_state.layout.rows)
        names << row.label;
    return names;
}

/// As wide as the widget, also where a scroll bar covers its end: bars stay under those of the chart above.
ChartGeometry MeasuredChart::geometry() const
{
    return chartGeometry({ width(), viewport()->height() }, gutterWidth(width()));
}

void MeasuredChart::setRange(TimeInterval range)
{
    range = clamped(range, m_state.whole);
    if (std::exchange(m_state.range, range) == range)
        return;
    m_state.hoveredMeasured = kNoSpan;
    viewport()->update();
    emit rangeChanged(range.begin, range.end);
}

void MeasuredChart::setVisibleRange(Nanoseconds begin, Nanoseconds end)
{
    if (!m_state.whole.isEmpty())
        setRange({ begin, end });
}

void MeasuredChart::fit()
{
    setVisibleRange(m_state.whole.begin, m_state.whole.end);
}

void MeasuredChart::showCursor(qint64 time)
{
    if (std::exchange(m_cursor, time) != time)
        viewport()->update();
}

std::uint32_t MeasuredChart::spanAt(QPoint point) const
{
    const ChartGeometry at = geometry();
    if (!m_state.measured || !at.tracks.contains(point))
        return kNoSpan;
    const int index = rowAt(m_state.layout, point.y() - at.tracks.top(), m_state.scroll);
    if (index < 0)
        return kNoSpan;
    std::vector<std::uint32_t> tracks; // front first
    m_state.measured->tracksOf(m_state.layout.rows[std::size_t(index)].measured, tracks);
    for (const std::uint32_t track : tracks)
        if (const std::uint32_t span =
                trainyard::spanAt(m_state.measured->timeline, track, at.time(m_state, point.x() + 0.5));
            span != kNoSpan)
            return span;
    return kNoSpan;
}

QRectF MeasuredChart::placeOf(std::uint32_t span) const
{
    if (!m_state.measured || span >= m_state.measured->timeline.start.size())
        return {};
    const auto row = std::uint32_t(m_state.measured->rowOf(span));
    for (const TrackRow &one : m_state.layout.rows) {
        if (one.measured.front() != row)
            continue;
        const ChartGeometry at = geometry();
        const double left = at.x(m_state, m_state.measured->timeline.start[span]),
                     right = at.x(m_state, m_state.measured->timeline.end[span]);
        const QRectF place(
            left, at.tracks.top() + one.y - m_state.scroll, std::max(1.0, right - left), one.measuredHeight);
        return place & QRectF(at.tracks);
    }
    return {};
}

QString MeasuredChart::describe(QPoint point) const
{
    const std::uint32_t span = spanAt(point);
    if (span == kNoSpan)
        return {};
    return measuredTitle(*m_state.measured, span) + u'\n' + linesOf(measuredFacts(m_state, span)).join(u'\n');
}

void MeasuredChart::paintRuler(QPainter &painter, const ChartGeometry &at) const
{
    painter.setFont(uiFont(-2));
    const Nanoseconds step = tickStep(m_state.range, at.tracks.width(), kTickDistance);
    for (const Nanoseconds time : ticks(m_state.range, step)) {
        const int x = int(at.x(m_state, time));
        painter.setPen(theme().grid);
        painter.drawLine(x, kRulerHeight - 4, x, viewport()->height());
        painter.setPen(theme().textMuted);
        painter.drawText(QRect(x + 3, 0, int(kTickDistance), kRulerHeight - 4), Qt::AlignLeft | Qt::AlignVCenter,
            tickLabel(time, step, m_state.whole.end));
    }
}

void MeasuredChart::paintLabels(QPainter &painter, const ChartGeometry &at) const
{
    painter.setClipRect(at.gutter);
    painter.setFont(uiFont(-2));
    painter.setPen(theme().text);
    for (const TrackRow &row : m_state.layout.rows) {
        const QRect label(kLabelPadding, at.tracks.top() + row.y - m_state.scroll,
            at.gutter.width() - 2 * kLabelPadding, row.measuredHeight);
        painter.drawText(label, Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(row.label, Qt::ElideMiddle, label.width()));
    }
    painter.setClipping(false);
}

void MeasuredChart::paintRows(QPainter &painter, const ChartGeometry &at)
{
    const double ratio = devicePixelRatioF();
    QImage image((QSizeF(at.tracks.size()) * ratio).toSize(), QImage::Format_RGB32);
    if (image.isNull())
        return;
    image.setDevicePixelRatio(ratio);
    image.fill(theme().panel.rgb());
    m_painter.prepare(m_state, ratio);
    for (const TrackRow &row : m_state.layout.rows) {
        const int top = int((row.y - m_state.scroll) * ratio), height = int(row.measuredHeight * ratio);
        const QRect lane = QRect(0, top, image.width(), height) & image.rect();
        if (!lane.isEmpty())
            m_painter.paint(image, m_state, row, lane, height);
    }
    painter.drawImage(at.tracks.topLeft(), image);
}

void MeasuredChart::paintEvent(QPaintEvent *)
{
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), theme().panel);
    const ChartGeometry at = geometry();
    if (!m_state.measured || m_state.range.isEmpty()) {
        painter.setPen(theme().textMuted);
        painter.drawText(viewport()->rect().adjusted(kLabelPadding, 0, -kLabelPadding, 0),
            Qt::AlignCenter | Qt::TextWordWrap, m_reason);
        return;
    }
    paintRows(painter, at);
    paintRuler(painter, at);
    paintLabels(painter, at);
    painter.setClipRect(at.tracks);
    if (m_state.hoveredMeasured != kNoSpan) {
        painter.setPen(theme().accent);
        painter.drawRect(placeOf(m_state.hoveredMeasured).adjusted(0, 0, -1, -1));
    }
    if (m_cursor >= 0) {
        painter.setPen(QPen(theme().textMuted, 1, Qt::DashLine));
        const double x = at.x(m_state, m_cursor);
        painter.drawLine(QPointF(x, at.tracks.top()), QPointF(x, at.tracks.bottom()));
    }
}

void MeasuredChart::resizeEvent(QResizeEvent *event)
{
    QAbstractScrollArea::resizeEvent(event);
    placeRows();
}

void MeasuredChart::scrollContentsBy(int, int)
{
    m_state.scroll = verticalScrollBar()->value();
    viewport()->update();
}

void MeasuredChart::wheelEvent(QWheelEvent *event)
{
    if (event->modifiers() & Qt::ShiftModifier)
        return QAbstractScrollArea::wheelEvent(event);
    const QPoint turned = event->angleDelta();
    if (turned.x() != 0)
        setRange(panned(m_state.range, Nanoseconds(-kPanPerKey * turned.x() / kNotch * double(m_state.range.length())),
            m_state.whole));
    if (turned.y() != 0)
        setRange(zoomed(m_state.range, std::pow(kZoomPerNotch, turned.y() / kNotch),
            geometry().time(m_state, event->position().x()), m_state.whole));
    event->accept();
}

void MeasuredChart::mousePressEvent(QMouseEvent *event)
{
    m_pressed = event->pos();
    m_before = m_state.range;
}

void MeasuredChart::mouseMoveEvent(QMouseEvent *event)
{
    const ChartGeometry at = geometry();
    if (event->buttons() & Qt::LeftButton) {
        const double share = double(m_pressed.x() - event->pos().x()) / at.tracks.width();
        setRange(panned(m_before, Nanoseconds(share * double(m_before.length())), m_state.whole));
        return;
    }
    emit cursorMoved(
        at.tracks.contains(event->pos()) && !m_state.whole.isEmpty() ? at.time(m_state, event->pos().x()) : kNoCursor);
    const std::uint32_t under = spanAt(event->pos());
    if (std::exchange(m_state.hoveredMeasured, under) != under)
        viewport()->update();
}

void MeasuredChart::mouseDoubleClickEvent(QMouseEvent *)
{
    fit();
}

void MeasuredChart::keyPressEvent(QKeyEvent *event)
{
    const auto by = [&](double share) {
        setRange(panned(m_state.range, Nanoseconds(share * double(m_state.range.length())), m_state.whole));
    };
    const auto zoom = [&](double factor) {
        const Nanoseconds middle = m_state.range.begin + m_state.range.length() / 2;
        setRange(zoomed(m_state.range, factor, middle, m_state.whole));
    };
    switch (event->key()) {
    case Qt::Key_Left:
        return by(-kPanPerKey);
    case Qt::Key_Right:
        return by(kPanPerKey);
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        return zoom(kZoomPerNotch);
    case Qt::Key_Minus:
        return zoom(1 / kZoomPerNotch);
    case Qt::Key_Home:
        return fit();
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void MeasuredChart::changeEvent(QEvent *event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        viewport()->update();
}

bool MeasuredChart::viewportEvent(QEvent *event)
{
    if (event->type() == QEvent::Leave) {
        emit cursorMoved(kNoCursor);
        if (std::exchange(m_state.hoveredMeasured, kNoSpan) != kNoSpan)
            viewport()->update();
    }
    if (event->type() != QEvent::ToolTip)
        return QAbstractScrollArea::viewportEvent(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const QString text = describe(help->pos());
    if (text.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(help->globalPos(), plainTip(text), viewport());
    return true;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/layer/layer_canvas.h"

#include "views/export/panel_picture.h"
#include "views/layer/layer_painter.h"
#include "views/layer/layer_text.h"
#include "views/theme/theme.h"
#include "views/timeline/span_card.h"

#include <QContextMenuEvent>
#include <QMenu>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kMargin = 4, kMostGutter = 190, kDragFrom = 4;
constexpr double kZoomPerNotch = 1.25, kZoomPerKey = 1.5, kPanPerKey = 0.15, kNotch = 120, kRoomAround = 0.15;

} // namespace

LayerCanvas::LayerCanvas(QWidget *parent)
    : QWidget(parent)
    , m_card(new SpanCard(this))
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Streams of the layer"));
}

TimeInterval LayerCanvas::whole() const
{
    return { 0, std::max<Nanoseconds>(m_chart.duration, 1) };
}

QRectF LayerCanvas::tracks() const
{
    const double left = kMargin + m_gutter;
    return { left, double(kRuler), std::max(1.0, width() - left - kMargin), double(std::max(1, height() - kRuler)) };
}

void LayerCanvas::setChart(const LayerChart &chart)
{
    m_chart = chart;
    m_range = whole();
    m_selected = m_hovered = {};
    m_card->hide();
    setAccessibleDescription({});
    arrange();
    emit selectionChanged();
}

void LayerCanvas::arrange()
{
    m_rows = layerRows(m_chart, height() - kRuler);
    const QFontMetrics names(uiFont(-1)), groups(uiFont(-1, QFont::DemiBold));
    m_gutter = 40;
    for (const LayerRow &row : m_rows.rows)
        m_gutter = std::max(m_gutter, names.horizontalAdvance(row.label) + 14);
    for (const LayerGroup &group : m_rows.groups)
        m_gutter = std::max(m_gutter, groups.horizontalAdvance(group.label) + 14);
    m_gutter = std::min(m_gutter, kMostGutter);
    updateGeometry();
    update();
}

QSize LayerCanvas::minimumSizeHint() const
{
    const int groups = int(m_rows.groups.size()) * kLayerGroup;
    return { 320, kRuler + groups + int(m_rows.rows.size()) * kLeastLayerRow };
}

void LayerCanvas::setRange(TimeInterval range)
{
    m_range = clamped(range, whole());
    m_card->hide();
    update();
}

void LayerCanvas::fit()
{
    setRange(whole());
}

void LayerCanvas::zoom(double factor, std::optional<double> x)
{
    const QRectF room = tracks();
    const Nanoseconds anchor = x ? xToTime(*x, m_range, room.left(), room.width())
        : m_selected             ? m_chart.spans[*m_selected].start
                                 : (m_range.begin + m_range.end) / 2;
    setRange(zoomed(m_range, factor, anchor, whole()));
}

QRectF LayerCanvas::rectOf(std::size_t span) const
{
    const LayerScene scene { m_chart, m_rows, m_range, {}, {}, {}, tracks(), {}, {} };
    for (const LayerRow &row : m_rows.rows)
        if (span >= row.first && span < row.last)
            return layerSpanRect(scene, row, m_chart.spans[span]);
    return {};
}

std::optional<std::size_t> LayerCanvas::spanAt(QPointF point) const
{
    const QRectF room = tracks();
    if (!room.contains(point))
        return {};
    for (const LayerRow &row : m_rows.rows) {
        const double y = room.top() + row.y;
        if (point.y() < y || point.y() >= y + m_rows.rowHeight)
            continue;
        // The nearest within two pixels, so that short ones can be met.
        std::optional<std::size_t> nearest;
        double least = 2;
        for (std::size_t i = row.first; i < row.last; ++i) {
            const QRectF bar = rectOf(i);
            const double away = std::max({ 0.0, bar.left() - point.x(), point.x() - bar.right() });
            if (away <= least && (!nearest || away < least)) {
                nearest = i;
                least = away;
            }
        }
        return nearest;
    }
    return {};
}

void LayerCanvas::select(std::optional<std::size_t> span)
{
    if (span == m_selected)
        return;
    m_selected = span;
    if (span) {
        const LayerSpan &of = m_chart.spans[*span];
        if (of.end <= m_range.begin || of.start >= m_range.end) {
            const Nanoseconds length = m_range.length();
            setRange({ of.start - length / 4, of.start - length / 4 + length });
        }
        setAccessibleDescription(
            (QStringList { layerSpanTitle(m_chart, *span) } + layerSpanFacts(m_chart, *span)).join(u'\n'));
    } else {
        setAccessibleDescription({});
    }
    update();
    emit selectionChanged();
}

void LayerCanvas::step(int by)
{
    if (m_chart.spans.empty())
        return;
    if (!m_selected)
        return select(0);
    const auto next = std::ptrdiff_t(*m_selected) + by;
    select(std::size_t(std::clamp<std::ptrdiff_t>(next, 0, std::ptrdiff_t(m_chart.spans.size()) - 1)));
}

void LayerCanvas::changeRow(int by)
{
    if (!m_selected)
        return step(0);
    const auto holds = [&](const LayerRow &row) { return *m_selected >= row.first && *m_selected < row.last; };
    const auto row = std::ranges::find_if(m_rows.rows, holds) - m_rows.rows.begin() + by;
    if (row < 0 || row >= std::ptrdiff_t(m_rows.rows.size()))
        return;
    // What lies nearest in time.
    const LayerSpan &from = m_chart.spans[*m_selected];
    const LayerRow &to = m_rows.rows[std::size_t(row)];
    std::size_t best = to.first;
    for (std::size_t i = to.first; i < to.last; ++i)
        if (std::abs(m_chart.spans[i].start - from.start) < std::abs(m_chart.spans[best].start - from.start))
            best = i;
    select(best);
}

void LayerCanvas::showCard(std::optional<std::size_t> span, QPoint point)
{
    if (span != m_hovered) {
        m_hovered = span;
        update();
        if (span)
            m_card->setContent(
                layerColor(m_chart.spans[*span]), layerSpanTitle(m_chart, *span), layerSpanFacts(m_chart, *span));
    }
    if (span)
        m_card->showNear(point);
    else
        m_card->hide();
}

void LayerCanvas::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const QRectF room = tracks();
    paintLayer(painter,
        { m_chart, m_rows, m_range, QRectF(room.left(), 0, room.width(), kRuler / 2.0),
            QRectF(room.left(), kRuler / 2.0, room.width(), kRuler / 2.0),
            QRectF(kMargin, room.top(), m_gutter, room.height()), room, m_selected, m_hovered });
    if (m_showsFocus && !m_selected && !m_chart.spans.empty()) {
        painter.setPen(theme().accent);
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    }
}

void LayerCanvas::resizeEvent(QResizeEvent *)
{
    arrange();
}

void LayerCanvas::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        arrange();
}

void LayerCanvas::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton)
        return QWidget::mousePressEvent(event);
    m_pressed = event->position().toPoint();
    m_rangeAtPress = m_range;
    m_isPanning = false;
}

void LayerCanvas::mouseMoveEvent(QMouseEvent *event)
{
    const QPoint point = event->position().toPoint();
    if (!m_pressed)
        return showCard(spanAt(event->position()), point);
    m_isPanning = m_isPanning || (point - *m_pressed).manhattanLength() >= kDragFrom;
    if (m_isPanning) {
        const double share = double(m_pressed->x() - point.x()) / tracks().width();
        setRange(panned(m_rangeAtPress, Nanoseconds(share * double(m_rangeAtPress.length())), whole()));
    }
}

void LayerCanvas::mouseReleaseEvent(QMouseEvent *event)
{
    if (m_pressed && !m_isPanning && event->button() == Qt::LeftButton)
        select(spanAt(event->position()));
    m_pressed.reset();
    m_isPanning = false;
}

void LayerCanvas::mouseDoubleClickEvent(QMouseEvent *event)
{
    const auto span = spanAt(event->position());
    if (!span)
        return fit();
    const LayerSpan &of = m_chart.spans[*span];
    const auto room = Nanoseconds(double(of.end - of.start) * kRoomAround);
    setRange({ of.start - room, of.end + room });
}

void LayerCanvas::leaveEvent(QEvent *)
{
    showCard({}, {});
}

void LayerCanvas::focusInEvent(QFocusEvent *event)
{
    m_showsFocus = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    QWidget::focusInEvent(event);
}

void LayerCanvas::focusOutEvent(QFocusEvent *event)
{
    m_showsFocus = false;
    QWidget::focusOutEvent(event);
}

void LayerCanvas::wheelEvent(QWheelEvent *event)
{
    const double notches = event->angleDelta().y() / kNotch;
    if (!(event->modifiers() & Qt::ControlModifier))
        return QWidget::wheelEvent(event);
    zoom(std::pow(kZoomPerNotch, notches), event->position().x());
    event->accept();
}

void LayerCanvas::keyPressEvent(QKeyEvent *event)
{
    if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier))
        return QWidget::keyPressEvent(event);
    const auto pan = [this](double share) {
        setRange(panned(m_range, Nanoseconds(share * double(m_range.length())), whole()));
    };
    switch (event->key()) {
    case Qt::Key_W:
        return zoom(kZoomPerKey);
    case Qt::Key_S:
        return zoom(1 / kZoomPerKey);
    case Qt::Key_A:
        return pan(-kPanPerKey);
    case Qt::Key_D:
        return pan(kPanPerKey);
    case Qt::Key_Home:
        return fit();
    case Qt::Key_Right:
    case Qt::Key_Period:
        return step(1);
    case Qt::Key_Left:
    case Qt::Key_Comma:
        return step(-1);
    case Qt::Key_Down:
        return changeRow(1);
    case Qt::Key_Up:
        return changeRow(-1);
    default:
        QWidget::keyPressEvent(event);
    }
}

void LayerCanvas::contextMenuEvent(QContextMenuEvent *event)
{
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    m_card->hide();
    connect(menu->addAction(tr("Show the whole layer")), &QAction::triggered, this, &LayerCanvas::fit);
    menu->addSeparator();
    addPictureActions(*menu, this, QStringLiteral("layer"));
    menu->popup(event->globalPos());
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/trace_chart.h"

#include "models/text/foreign_text.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <utility>

namespace trainyard {

namespace {

constexpr double kZoomOfNotch = 1.25, kPanOfKey = 0.1, kNotch = 120;

} // namespace

TraceChart::TraceChart(QWidget *parent)
    : QAbstractScrollArea(parent)
{
    setAccessibleName(tr("Trace"));
    setAccessibleDescription(tr("Arrow keys pan and scroll, + and - zoom, Home shows all."));
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::StrongFocus);
    viewport()->setMouseTracking(true);
}

void TraceChart::setRows(std::shared_ptr<const TraceRows> rows)
{
    if (rows == m_state.rows)
        return;
    m_state.rows = std::move(rows);
    m_state.hovered.reset();
    const TimeInterval whole =
        m_state.rows ? TimeInterval { m_state.rows->begin(), m_state.rows->end() } : TimeInterval {};
    if (std::exchange(m_state.whole, whole) != whole)
        m_state.range = whole;
    fitScrollBar();
    viewport()->update();
}

void TraceChart::setRange(TimeInterval range)
{
    m_state.range = clamped(range, m_state.whole);
    m_state.hovered.reset();
    viewport()->update();
}

void TraceChart::fit()
{
    setRange(m_state.whole);
}

void TraceChart::zoomAt(int x, double factor)
{
    const Nanoseconds anchor = xToTime(x, m_state.range, tracks().left(), tracks().width());
    setRange(zoomed(m_state.range, factor, anchor, m_state.whole));
}

void TraceChart::panBy(double share)
{
    setRange(panned(m_state.range, Nanoseconds(std::llround(share * double(m_state.range.length()))), m_state.whole));
}

void TraceChart::fitScrollBar()
{
    const int room = tracks().height();
    verticalScrollBar()->setPageStep(room);
    verticalScrollBar()->setSingleStep(TraceState::kRow);
    verticalScrollBar()->setRange(0, std::max(0, m_state.contentHeight() - room));
    m_state.scroll = verticalScrollBar()->value();
}

void TraceChart::paintEvent(QPaintEvent *)
{
    QPainter painter(viewport());
    paintTrace(painter, m_state, viewport()->size());
}

void TraceChart::resizeEvent(QResizeEvent *event)
{
    QAbstractScrollArea::resizeEvent(event);
    fitScrollBar();
}

void TraceChart::scrollContentsBy(int, int)
{
    m_state.scroll = verticalScrollBar()->value();
    m_state.hovered.reset();
    viewport()->update();
}

void TraceChart::wheelEvent(QWheelEvent *event)
{
    if (event->modifiers() & Qt::ShiftModifier)
        return QAbstractScrollArea::wheelEvent(event);
    if (event->angleDelta().x() != 0)
        panBy(-kPanOfKey * event->angleDelta().x() / kNotch);
    if (event->angleDelta().y() != 0)
        zoomAt(int(event->position().x()), std::pow(kZoomOfNotch, event->angleDelta().y() / kNotch));
    event->accept();
}

void TraceChart::mousePressEvent(QMouseEvent *event)
{
    m_pressed = event->pos();
    m_before = m_state.range;
}

void TraceChart::mouseMoveEvent(QMouseEvent *event)
{
    if (event->buttons() & Qt::LeftButton) {
        if (tracks().width() > 0)
            setRange(panned(m_before,
                Nanoseconds(double(m_pressed.x() - event->pos().x()) / tracks().width() * double(m_before.length())),
                m_state.whole));
        return;
    }
    const auto under = m_state.spanAt(viewport()->size(), event->pos());
    if (std::exchange(m_state.hovered, under) != under)
        viewport()->update();
}

void TraceChart::mouseDoubleClickEvent(QMouseEvent *)
{
    fit();
}

void TraceChart::keyPressEvent(QKeyEvent *event)
{
    const int middle = tracks().center().x();
    switch (event->key()) {
    case Qt::Key_Left:
        return panBy(-kPanOfKey);
    case Qt::Key_Right:
        return panBy(kPanOfKey);
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        return zoomAt(middle, kZoomOfNotch);
    case Qt::Key_Minus:
        return zoomAt(middle, 1 / kZoomOfNotch);
    case Qt::Key_Home:
        return fit();
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void TraceChart::changeEvent(QEvent *event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        viewport()->update();
}

bool TraceChart::viewportEvent(QEvent *event)
{
    if (event->type() == QEvent::Leave && std::exchange(m_state.hovered, std::nullopt))
        viewport()->update();
    if (event->type() != QEvent::ToolTip)
        return QAbstractScrollArea::viewportEvent(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const auto under = m_state.spanAt(viewport()->size(), help->pos());
    if (under)
        QToolTip::showText(
            help->globalPos(), plainTip(traceTip(*m_state.rows, under->first, under->second)), viewport());
    else
        QToolTip::hideText();
    return true;
}

} // namespace trainyard

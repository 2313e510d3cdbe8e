// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/plots/curve_plot.h"

#include "models/job_spans.h"
#include "models/text/foreign_text.h"
#include "views/export/panel_picture.h"
#include "views/plots/axis_tickers.h"
#include "views/plots/plot_style.h"
#include "views/plots/vector_plot.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QGraphicsOpacityEffect>
#include <QMenu>
#include <QToolTip>
#include <QVBoxLayout>
#include <QWheelEvent>

#include <algorithm>
#include <bit>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kMostBuckets = 16384;
constexpr int kBetweenTicks = 20; // pixels of the y axis
constexpr int kMostTicks = 6;
constexpr int kLeastHeight = 44; // of a small window; three labels on the y axis need twice that
constexpr double kShortest = 1e-8; // seconds: deepest zoom

} // namespace

CurvePlot::CurvePlot(QWidget *parent)
    : QWidget(parent)
    , m_plot(new VectorPlot(this))
    , m_crosshair(new QCPItemStraightLine(m_plot))
{
    setFont(uiFont(-1));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_plot);
    m_plot->setNoAntialiasingOnDrag(true);
    m_plot->setPlottingHints(QCP::phFastPolylines);
    m_plot->setMinimumHeight(kLeastHeight);
    m_plot->setMouseTracking(true);
    m_plot->setContextMenuPolicy(Qt::NoContextMenu);
    m_plot->installEventFilter(this);
    m_crosshair->setLayer(QStringLiteral("overlay")); // moves without the curves being drawn anew
    m_crosshair->setVisible(false);
    setFocusPolicy(Qt::StrongFocus);
}

CurvePlot::~CurvePlot() = default;

void CurvePlot::setEvaluation(EvaluationPtr evaluation)
{
    m_evaluation = std::move(evaluation);
    markDirty();
}

void CurvePlot::setVisibleRange(Nanoseconds from, Nanoseconds to)
{
    if (from == m_from && to == m_to)
        return;
    m_from = from;
    m_to = to;
    if (!isVisible() || m_dirty || buckets() != m_drawnBuckets) {
        markDirty();
        return;
    }
    if (hasTimeAxis()) {
        m_plot->xAxis->setRange(double(m_from) * 1e-9, double(m_to) * 1e-9);
        drawSoon();
    }
}

void CurvePlot::setInsets(int left, int right)
{
    if (left == m_left && right == m_right)
        return;
    m_left = left;
    m_right = right;
    markDirty();
}

void CurvePlot::setStale(bool stale)
{
    if (stale == m_stale)
        return;
    m_stale = stale;
    if (stale && !m_plot->graphicsEffect()) {
        auto *dim = new QGraphicsOpacityEffect(m_plot);
        dim->setOpacity(0.5);
        m_plot->setGraphicsEffect(dim);
    } else if (!stale) {
        m_plot->setGraphicsEffect(nullptr);
    }
}

void CurvePlot::setStage(int stage)
{
    m_stage = stage;
    markDirty();
}

int CurvePlot::axisHeight() const
{
    const QMargins margins = m_plot->axisRect()->margins();
    return m_plot->height() - margins.top() - margins.bottom();
}

double CurvePlot::seconds() const
{
    return m_evaluation ? double(m_evaluation->timeline.duration) * 1e-9 : 0;
}

QString CurvePlot::stageName(int stage) const
{
    return m_evaluation && isOfJobs(*m_evaluation) ? tr("GPU %1").arg(stage) : tr("stage %1").arg(stage + 1);
}

int CurvePlot::buckets() const
{
    const double whole = seconds(), shown = m_to > m_from ? double(m_to - m_from) * 1e-9 : whole;
    const double wanted = std::max(200, width() - m_left - m_right) * (shown > 0 ? whole / shown : 1);
    // A power of two, so that a pan or a small zoom computes nothing anew.
    return int(std::bit_ceil(static_cast<unsigned>(std::clamp(wanted, 1.0, double(kMostBuckets)))));
}

void CurvePlot::markDirty()
{
    m_dirty = true;
    drawSoon();
}

void CurvePlot::drawSoon()
{
    if (!isVisible() || std::exchange(m_isQueued, true))
        return;
    QMetaObject::invokeMethod(
        this,
        [this] {
            m_isQueued = false;
            if (!isVisible())
                return;
            if (m_dirty)
                refresh();
            else
                m_plot->replot(QCustomPlot::rpQueuedRefresh);
        },
        Qt::QueuedConnection);
}

void CurvePlot::refresh()
{
    if (!m_dirty)
        return;
    m_dirty = false;
    m_drawnBuckets = buckets();
    m_plot->clearPlottables();
    for (int i = m_plot->itemCount() - 1; i >= 0; --i)
        if (m_plot->item(i) != m_crosshair)
            m_plot->removeItem(i);
    applyTheme();
    m_plot->axisRect()->setAutoMargins(QCP::msNone);
    m_plot->axisRect()->setMargins(QMargins(m_left, 8, m_right, fontMetrics().height() + 8));
    const QString empty = emptyText();
    for (QCPAxis *axis : { m_plot->xAxis, m_plot->yAxis })
        axis->setVisible(empty.isEmpty());
    if (empty.isEmpty()) {
        if (hasTimeAxis()) {
            m_plot->xAxis->setTicker(QSharedPointer<TimeTicker>::create(*m_plot->xAxis, seconds()));
            const bool whole = m_to <= m_from;
            m_plot->xAxis->setRange(whole ? 0 : double(m_from) * 1e-9, whole ? seconds() : double(m_to) * 1e-9);
        }
        draw(*m_plot);
        m_plot->yAxis->ticker()->setTickCount(std::clamp(axisHeight() / kBetweenTicks, 2, kMostTicks));
        addAxisTitles(*m_plot, yTitle(), xTitle(), font());
    } else {
        auto *text = new QCPItemText(m_plot);
        text->position->setType(QCPItemPosition::ptAxisRectRatio);
        text->position->setCoords(0.5, 0.5);
        text->setFont(font());
        text->setColor(theme().textFaint);
        text->setText(empty);
        text->setClipToAxisRect(false);
    }
    setAccessibleDescription(empty.isEmpty() ? note() : empty);
    m_plot->replot(QCustomPlot::rpQueuedRefresh);
    Q_EMIT refreshed();
}

void CurvePlot::applyTheme()
{
    stylePlot(*m_plot, font());
    m_crosshair->setPen(QPen(theme().accent, 1));
}

void CurvePlot::placeCrosshair(double x)
{
    m_crosshair->point1->setCoords(x, 0);
    m_crosshair->point2->setCoords(x, 1);
    m_crosshair->setVisible(true);
    replotCrosshair();
}

void CurvePlot::replotCrosshair()
{
    m_crosshair->layer()->replot();
}

void CurvePlot::showCursor(qint64 time)
{
    if (!hasTimeAxis() || !isVisible())
        return;
    if (time != kNoCursor && emptyText().isEmpty())
        placeCrosshair(double(time) * 1e-9);
    else
        hideCrosshair();
}

void CurvePlot::moveCrosshair(QPoint position)
{
    const QCPAxisRect *area = m_plot->axisRect();
    if (!emptyText().isEmpty() || !area->rect().contains(position)) {
        if (m_crosshair->visible()) {
            hideCrosshair();
            Q_EMIT cursorMoved(kNoCursor);
        }
        return;
    }
    const double x = m_plot->xAxis->pixelToCoord(position.x());
    placeCrosshair(x);
    if (hasTimeAxis())
        Q_EMIT cursorMoved(std::llround(std::max(0.0, x) * 1e9));
    const QString text = describe(x);
    if (text.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(m_plot->mapToGlobal(position + QPoint(12, 8)), plainTip(text), m_plot);
}

void CurvePlot::hideCrosshair()
{
    if (!m_crosshair->visible())
        return;
    m_crosshair->setVisible(false);
    QToolTip::hideText();
    replotCrosshair();
}

void CurvePlot::setRange(double from, double to)
{
    const double whole = seconds();
    const double length = std::clamp(to - from, std::min(kShortest, whole), whole);
    from = std::clamp(from, 0.0, whole - length);
    m_from = Nanoseconds(std::llround(from * 1e9));
    m_to = Nanoseconds(std::llround((from + length) * 1e9));
    if (buckets() != m_drawnBuckets)
        m_dirty = true;
    m_plot->xAxis->setRange(from, from + length);
    if (m_dirty)
        refresh();
    else
        drawSoon();
    Q_EMIT rangeChanged(m_from, m_to);
}

void CurvePlot::zoom(QWheelEvent *event)
{
    const QCPRange range = m_plot->xAxis->range();
    const int delta = event->angleDelta().y() != 0 ? event->angleDelta().y() : event->angleDelta().x();
    if (event->modifiers() & Qt::ShiftModifier) {
        const double by = -delta / 120.0 * 0.1 * range.size();
        setRange(range.lower + by, range.upper + by);
        return;
    }
    const double factor = std::pow(0.85, delta / 120.0);
    const double at = m_plot->xAxis->pixelToCoord(event->position().x());
    setRange(at - (at - range.lower) * factor, at + (range.upper - at) * factor);
}

void CurvePlot::pan(int pixels)
{
    const QCPRange range = m_plot->xAxis->range();
    const double by = -pixels * range.size() / std::max(1, m_plot->axisRect()->width());
    setRange(range.lower + by, range.upper + by);
}

bool CurvePlot::eventFilter(QObject *watched, QEvent *event)
{
    if (watched != m_plot)
        return QWidget::eventFilter(watched, event);
    const bool moves = hasTimeAxis() && emptyText().isEmpty();
    const auto *mouse = dynamic_cast<QMouseEvent *>(event);
    switch (event->type()) {
    case QEvent::MouseButtonPress:
        m_isDragging = moves && mouse->button() == Qt::LeftButton;
        m_dragFrom = mouse->position().toPoint();
        break;
    case QEvent::MouseMove:
        if (m_isDragging && (mouse->buttons() & Qt::LeftButton)) {
            hideCrosshair();
            pan(mouse->position().toPoint().x() - m_dragFrom.x());
            m_dragFrom = mouse->position().toPoint();
        } else {
            moveCrosshair(mouse->position().toPoint());
        }
        break;
    case QEvent::MouseButtonRelease:
        m_isDragging = false;
        break;
    case QEvent::MouseButtonDblClick:
        if (mouse->button() == Qt::LeftButton)
            Q_EMIT enlargeRequested();
        break;
    case QEvent::Wheel:
        if (moves)
            zoom(static_cast<QWheelEvent *>(event));
        return moves;
    case QEvent::Leave:
        hideCrosshair();
        Q_EMIT cursorMoved(kNoCursor);
        break;
    default:
        break;
    }
    return QWidget::eventFilter(watched, event);
}

void CurvePlot::contextMenuEvent(QContextMenuEvent *event)
{
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    connect(menu->addAction(tr("Enlarge, or back")), &QAction::triggered, this, &CurvePlot::enlargeRequested);
    connect(menu->addAction(tr("Copy as TSV")), &QAction::triggered, this,
        [this] { QApplication::clipboard()->setText(toTsv()); });
    if (hasTimeAxis()) {
        menu->addSeparator();
        connect(menu->addAction(
                    m_evaluation && m_evaluation->metrics.jobs ? tr("Show all jobs") : tr("Show the whole iteration")),
            &QAction::triggered, this, [this] { setRange(0, seconds()); });
    }
    menu->addSeparator();
    hideCrosshair();
    addPictureActions(*menu, this, accessibleName().toLower().replace(u' ', u'-'));
    menu->popup(event->globalPos());
}

void CurvePlot::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    refresh();
}

void CurvePlot::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        markDirty();
}

void CurvePlot::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    if (buckets() != m_drawnBuckets)
        markDirty();
}

} // namespace trainyard

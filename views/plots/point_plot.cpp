// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/plots/point_plot.h"

#include "views/plots/plot_style.h"
#include "views/plots/qcustomplot_gateway.h"
#include "views/theme/theme.h"

#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

PointPlot::PointPlot(double ringSize, QSize least, QWidget *parent)
    : QWidget(parent)
    , m_plot(new QCustomPlot(this))
    , m_ringSize(ringSize)
{
    setFont(uiFont(-1));
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(least);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_plot);
    m_plot->setContextMenuPolicy(Qt::NoContextMenu);
    m_plot->setFocusPolicy(Qt::NoFocus); // keys are this widget's
    m_plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    m_plot->setNoAntialiasingOnDrag(true);
    connect(m_plot, &QCustomPlot::afterLayout, this, &PointPlot::placeRing); // follows zoom, pan and size
    connect(m_plot, &QCustomPlot::mouseMove, this, [this](QMouseEvent *event) {
        if (event->buttons() == Qt::NoButton)
            hover(event->position().toPoint());
    });
    connect(m_plot, &QCustomPlot::mousePress, this, [this](QMouseEvent *event) {
        setFocus(Qt::MouseFocusReason);
        m_pressed = event->position().toPoint();
    });
    connect(m_plot, &QCustomPlot::mouseRelease, this, [this](QMouseEvent *event) {
        if (event->button() == Qt::LeftButton && (event->position().toPoint() - m_pressed).manhattanLength() < 4)
            choose(nearest(event->position()));
    });
    connect(m_plot, &QCustomPlot::mouseDoubleClick, this, [this](QMouseEvent *event) {
        if (const int at = nearest(event->position()); at >= 0)
            emit pointActivated(at);
        else
            showAll();
    });
}

PointPlot::~PointPlot() = default;

void PointPlot::beginDrawing(bool isEmpty)
{
    m_plot->clearPlottables();
    m_plot->clearItems();
    m_ring = nullptr;
    stylePlot(*m_plot, font());
    for (QCPAxis *axis : { m_plot->xAxis, m_plot->yAxis })
        axis->setVisible(!isEmpty);
}

void PointPlot::addRing()
{
    m_ring = new QCPItemEllipse(m_plot);
    m_ring->setPen(QPen(theme().text, 1.6));
    m_ring->setBrush(Qt::NoBrush);
    m_ring->topLeft->setType(QCPItemPosition::ptAbsolute);
    m_ring->bottomRight->setType(QCPItemPosition::ptAbsolute);
}

void PointPlot::hover(QPoint position)
{
    const int at = nearest(position);
    m_plot->setCursor(at >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (at >= 0)
        QToolTip::showText(m_plot->mapToGlobal(position + QPoint(12, 8)), tipOf(at), m_plot);
    else
        QToolTip::hideText();
}

void PointPlot::choose(int point)
{
    if (point < 0)
        return;
    setCurrent(point);
    emit pointChosen(point);
}

void PointPlot::setCurrent(int point)
{
    m_current = point;
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void PointPlot::placeRing()
{
    if (!m_ring)
        return;
    const auto at = positionOf(m_current);
    m_ring->setVisible(at.has_value());
    if (!at)
        return;
    const QPointF half(m_ringSize / 2, m_ringSize / 2);
    m_ring->topLeft->setPixelPosition(*at - half);
    m_ring->bottomRight->setPixelPosition(*at + half);
}

void PointPlot::keyPressEvent(QKeyEvent *event)
{
    const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    const std::vector<int> line = step != 0 ? keyOrder() : std::vector<int>();
    if (!line.empty()) {
        const auto found = std::ranges::find(line, m_current);
        const int last = int(line.size()) - 1;
        const int next =
            found == line.end() ? (step > 0 ? 0 : last) : std::clamp(int(found - line.begin()) + step, 0, last);
        choose(line[std::size_t(next)]);
    } else if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && m_current >= 0) {
        emit pointActivated(m_current);
    } else if (event->key() == Qt::Key_F) {
        showAll();
    } else {
        QWidget::keyPressEvent(event);
    }
}

void PointPlot::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        draw();
}

} // namespace trainyard

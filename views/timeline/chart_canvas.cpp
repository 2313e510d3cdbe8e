// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/chart_canvas.h"

#include "views/theme/theme.h"
#include "views/timeline/lane_vectors.h"
#include "views/timeline/overlay_painter.h"
#include "views/timeline/span_text.h"

#include <QEvent>
#include <QPaintEvent>
#include <QPainter>

#include <utility>

namespace trainyard {

ChartCanvas::ChartCanvas(const TimelineState &state, QWidget *parent)
    : QWidget(parent)
    , m_state(state)
{
    setAttribute(Qt::WA_OpaquePaintEvent);
    setMouseTracking(true);
    setMinimumSize(240, kRulerHeight + 40);
}

void ChartCanvas::invalidate()
{
    m_isCurrent = false;
    update();
}

void ChartCanvas::measureAnew()
{
    m_isMeasured = false;
    invalidate();
}

ChartGeometry ChartCanvas::geometry() const
{
    if (m_gutterWidth < 0 || m_measuredWidth != width()) { // a hidden widget hears of its size late
        m_gutterWidth = gutterWidth(width());
        m_measuredWidth = width();
    }
    return chartGeometry(size(), m_gutterWidth);
}

void ChartCanvas::paintEvent(QPaintEvent *event)
{
    QPainter painter(this);
    if (m_state.isEmpty()) {
        painter.fillRect(rect(), theme().panel);
        paintEmpty(painter);
        return;
    }
    const ChartGeometry now = geometry();
    if (!std::exchange(m_isMeasured, true))
        m_painter.arrangeLabels(m_state);
    if (isVector(painter)) {
        painter.fillRect(rect(), theme().panel);
        m_painter.paintVectors(painter, m_state, now);
        paintOverlay(painter, m_state, now);
        return;
    }
    const QSize pixels = size() * devicePixelRatioF();
    if (m_image.size() != pixels || m_image.devicePixelRatio() != devicePixelRatioF()) {
        m_image = QImage(pixels, QImage::Format_RGB32);
        m_image.setDevicePixelRatio(devicePixelRatioF());
        m_isCurrent = false;
    }
    if (!m_isCurrent)
        m_painter.paint(m_image, m_state, now);
    m_isCurrent = true;
    const QRect dirty = event->rect();
    const double ratio = m_image.devicePixelRatio();
    painter.drawImage(QRectF(dirty), m_image,
        QRectF(dirty.x() * ratio, dirty.y() * ratio, dirty.width() * ratio, dirty.height() * ratio));
    if (m_state.isStale) {
        QColor veil = theme().panel;
        veil.setAlphaF(0.55F);
        painter.fillRect(dirty, veil);
    }
    paintOverlay(painter, m_state, now);
}

void ChartCanvas::paintEmpty(QPainter &painter) const
{
    const QRect box = rect().adjusted(Theme::kPad * 2, 0, -Theme::kPad * 2, 0);
    const QFontMetrics heading(uiFont(1, QFont::DemiBold));
    const int middle = rect().center().y();
    painter.setFont(uiFont(1, QFont::DemiBold));
    painter.setPen(theme().text);
    painter.drawText(QRect(box.left(), middle - heading.height() - 2, box.width(), heading.height()), Qt::AlignCenter,
        m_state.isStale ? tr("Working out the timeline …") : tr("No timeline"));
    painter.setFont(uiFont());
    painter.setPen(theme().textMuted);
    painter.drawText(QRect(box.left(), middle + 4, box.width(), box.height() - middle),
        Qt::AlignHCenter | Qt::AlignTop | Qt::TextWordWrap, emptyReason(m_state.evaluation.get(), m_state.failure));
}

void ChartCanvas::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        m_gutterWidth = -1;
        m_painter.forgetLabels();
        measureAnew();
    }
    QWidget::changeEvent(event);
}

} // namespace trainyard

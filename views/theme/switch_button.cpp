// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/theme/switch_button.h"

#include "views/theme/theme.h"

#include <QPainter>

namespace trainyard {

namespace {
constexpr QSize kSize(30, 17);
constexpr int kSlideMs = 120;
} // namespace

SwitchButton::SwitchButton(QWidget *parent)
    : QAbstractButton(parent)
{
    setCheckable(true);
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    m_slide.setDuration(kSlideMs);
    m_slide.setStartValue(0.0);
    m_slide.setEndValue(0.0);
    connect(&m_slide, &QVariantAnimation::valueChanged, this, qOverload<>(&QWidget::update));
    connect(this, &QAbstractButton::toggled, this, [this](bool isOn) {
        const QVariant from = m_slide.currentValue();
        m_slide.stop();
        m_slide.setStartValue(isVisible() ? from : QVariant(isOn ? 1.0 : 0.0));
        m_slide.setEndValue(isOn ? 1.0 : 0.0);
        m_slide.start();
    });
}

QSize SwitchButton::sizeHint() const
{
    return kSize + QSize(4, 4); // room for the focus ring
}

void SwitchButton::paintEvent(QPaintEvent *)
{
    const Theme &t = theme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF track = QRectF(QPointF((width() - kSize.width()) / 2.0, (height() - kSize.height()) / 2.0), kSize);
    const double radius = track.height() / 2;
    const double at = m_slide.currentValue().toDouble();
    if (!isEnabled())
        painter.setOpacity(0.45);
    if (hasFocus()) {
        painter.setPen(QPen(t.accent, 1.5));
        painter.drawRoundedRect(track.adjusted(-1.5, -1.5, 1.5, 1.5), radius + 1.5, radius + 1.5);
    }
    const QColor off = underMouse() ? t.textFaint : (t.isDark ? t.border.lighter(140) : t.border.darker(125));
    painter.setPen(Qt::NoPen);
    painter.setBrush(isChecked() ? t.accent : off);
    painter.drawRoundedRect(track, radius, radius);
    painter.setBrush(Qt::white);
    const double knob = track.height() - 4;
    painter.drawEllipse(QRectF(track.left() + 2 + at * (track.width() - knob - 4), track.top() + 2, knob, knob));
}

void SwitchButton::enterEvent(QEnterEvent *event)
{
    update();
    QAbstractButton::enterEvent(event);
}

void SwitchButton::leaveEvent(QEvent *event)
{
    update();
    QAbstractButton::leaveEvent(event);
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/session/variant_color.h"

#include "views/theme/job_colors.h"

#include <QPainter>
#include <QPixmap>

namespace trainyard {

namespace {

constexpr int kDot = 10; // pixels

} // namespace

QColor variantColor(const Variant &variant, int place)
{
    const QColor own(QString::fromStdString(variant.color));
    return own.isValid() ? own : jobColor(place);
}

QIcon variantDot(const QColor &color, qreal pixelRatio)
{
    QPixmap dot(QSize(kDot, kDot) * pixelRatio);
    dot.setDevicePixelRatio(pixelRatio);
    dot.fill(Qt::transparent);
    QPainter painter(&dot);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawEllipse(QRectF(1, 1, kDot - 2, kDot - 2));
    return dot;
}

QString nextVariantColor(const QColor &now)
{
    for (int i = 0; i < kJobColors; ++i)
        if (jobColor(i) == now)
            return jobColor((i + 1) % kJobColors).name();
    return jobColor(0).name();
}

} // namespace trainyard

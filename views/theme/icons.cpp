// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/theme/icons.h"

#include "views/theme/theme.h"

#include <QFile>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

namespace trainyard {

QPixmap themedPixmap(const QString &name, int size, const QColor &ink, double devicePixelRatio)
{
    QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    QSvgRenderer renderer(file.readAll().replace("currentColor", ink.name().toLatin1()));
    QPixmap pixmap(QSize(size, size) * devicePixelRatio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    renderer.render(&painter);
    painter.end();
    pixmap.setDevicePixelRatio(devicePixelRatio);
    return pixmap;
}

QIcon themedIcon(const QString &name)
{
    QIcon icon;
    for (const double ratio : { 1.0, 2.0 }) {
        icon.addPixmap(themedPixmap(name, 16, theme().textMuted, ratio), QIcon::Normal);
        icon.addPixmap(themedPixmap(name, 16, theme().textFaint, ratio), QIcon::Disabled);
        icon.addPixmap(themedPixmap(name, 16, theme().text, ratio), QIcon::Active);
    }
    return icon;
}

} // namespace trainyard

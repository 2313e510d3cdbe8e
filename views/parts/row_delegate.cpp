// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/parts/row_delegate.h"

#include "views/theme/theme.h"

#include <QPainter>

namespace trainyard {

void RowDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (option.state & QStyle::State_Selected) {
        painter->setPen(Qt::NoPen);
        painter->setBrush(theme().accentSoft);
        painter->drawRoundedRect(option.rect.adjusted(2, 1, -2, -1), 4, 4);
    }
    paintRow(*painter, option.rect, index);
    painter->restore();
}

void RowDelegate::paintDetail(QPainter &painter, const QRect &line, Qt::Alignment end, const QString &text)
{
    painter.setFont(uiFont(-1));
    painter.setPen(theme().textFaint);
    painter.drawText(line, int(Qt::AlignVCenter | end), text);
}

} // namespace trainyard

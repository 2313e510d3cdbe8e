// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/parts/scrolled.h"

#include "views/theme/theme.h"

#include <QApplication>
#include <QScrollArea>

namespace trainyard {

QScrollArea *scrolled(QWidget *content)
{
    auto *area = new QScrollArea;
    area->setWidget(content);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setFocusPolicy(Qt::NoFocus);
    // By keys from outside, too. Under a press nothing may move: it would end beside what it began on.
    QObject::connect(qApp, &QApplication::focusChanged, area, [area](QWidget *, QWidget *now) {
        if (now && now != area->widget() && area->isAncestorOf(now) && QApplication::mouseButtons() == Qt::NoButton)
            area->ensureWidgetVisible(now, 0, Theme::kGap);
    });
    return area;
}

} // namespace trainyard

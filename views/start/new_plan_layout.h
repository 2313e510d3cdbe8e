#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where things stand on the sheet for a new plan: a column in the middle that scrolls, and a foot that always shows.
// GUI thread.

#include <QRect>

class QBoxLayout;
class QPainter;
class QPushButton;
class QVBoxLayout;
class QWidget;

namespace trainyard {

class TextLine;

struct SheetParts {
    QVBoxLayout *sites;
    /// the section holds the links, and hides where there are none
    QWidget *links, *linkSection;
    QWidget *model, *sequence, *batch;
    QPushButton *addSite, *config, *cancel, *create;
    TextLine *preview, *details;
};

void layOutSheet(QWidget &sheet, const SheetParts &parts);
void paintSheet(QPainter &painter, const QRect &rect);

} // namespace trainyard

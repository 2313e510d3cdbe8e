#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Qt takes a text for HTML where it looks like that, and a plan may be called "<img src=…>". Here a label is plain text
// unless it says that it is rich (setTextFormat), and so is a tip unless its widget says so (setRichTip) or whoever
// shows it has escaped it (plainTip). One filter for all widgets of the program, boxes and sheets included. GUI thread.

#include <QObject>

class QHelpEvent;
class QWidget;

namespace trainyard {

/// A tip of HTML; what of it others wrote is escaped.
void setRichTip(QWidget &widget, const QString &html);

class PlainTexts : public QObject {
    Q_OBJECT
public:
    explicit PlainTexts(QObject *parent);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
};

} // namespace trainyard

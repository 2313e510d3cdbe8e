#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The list of arrangements of panels: a name and Enter save how the panels lie, Enter on an entry shows it, F2 renames
// and Del removes a user's own. Lies over the window, as the palette does. GUI thread.

#include "models/arrangements.h"

#include <QFrame>

class QLineEdit;
class QListWidget;
class QListWidgetItem;

namespace trainyard {

class TextLine;

class ArrangementList : public QFrame {
    Q_OBJECT
public:
    ArrangementList(ArrangementStore &store, QWidget *window);

    QLineEdit *const name;
    QListWidget *const entries;

    /// `shown`: name of the arrangement that is
    void open(const QString &shown);

signals:
    void saveRequested(const QString &name);
    void chosen(const QString &name);
    void removed(const QString &name);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    void fill();
    void takeName(QListWidgetItem *item);
    void dismiss();
    /// place among the user's own; -1: of the product
    [[nodiscard]] int ownAt(int row) const;

    ArrangementStore &m_store;
    TextLine *m_hint;
    QString m_shown;
    QWidget *m_focusBefore = nullptr;
    bool m_isFilling = false;
};

} // namespace trainyard

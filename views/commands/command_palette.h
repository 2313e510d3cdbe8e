#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Type a few letters, press Enter: every enabled command by fuzzy search. Lies over the window, not a window of its
// own. GUI thread.

#include <QFrame>

class QLineEdit;
class QListWidget;

namespace trainyard {

class CommandRegistry;

class CommandPalette : public QFrame {
    Q_OBJECT
public:
    CommandPalette(CommandRegistry &registry, QWidget *window);

    void open();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    void search(const QString &pattern);
    void runCurrent();
    void dismiss();

    CommandRegistry &m_registry;
    QLineEdit *m_field;
    QListWidget *m_list;
    QWidget *m_focusBefore = nullptr;
};

} // namespace trainyard

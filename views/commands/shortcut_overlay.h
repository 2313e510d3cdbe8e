#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// All keys of the window at a glance, made from the command registry. Any key or click dismisses it. GUI thread.

#include <QWidget>

class QScrollArea;

namespace trainyard {

class CommandRegistry;
class ShortcutSheet;

class ShortcutOverlay : public QWidget {
    Q_OBJECT
public:
    ShortcutOverlay(const CommandRegistry &registry, QWidget *window);

    void open();

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void place();

    /// where the window is smaller than the sheet
    QScrollArea *m_area;
    ShortcutSheet *m_sheet;
};

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A pin at the end of a control's name: the planner keeps what it is pinned to. In sight where it is set, where the
// pointer is on its row, and where the keyboard is in it. GUI thread.

#include <QAbstractButton>

namespace trainyard {

class PinButton : public QAbstractButton {
    Q_OBJECT
public:
    /// Lies over `row`, which has a name at its left and its control behind it.
    PinButton(const QString &name, QWidget *row);

    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    /// of the row
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void place();

    QString m_name;
};

} // namespace trainyard

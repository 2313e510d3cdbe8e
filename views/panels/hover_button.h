#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A small push button that says when the pointer or the keyboard focus rests on it, so that its edit can be previewed.

#include <QPushButton>

namespace trainyard {

class HoverButton : public QPushButton {
    Q_OBJECT
public:
    explicit HoverButton(const QString &text, QWidget *parent = nullptr);

Q_SIGNALS:
    void entered();
    void left();

protected:
    void enterEvent(QEnterEvent *event) override;
    void leaveEvent(QEvent *event) override;
};

} // namespace trainyard

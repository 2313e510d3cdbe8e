#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A small push button that says when the pointer rests on it, so that its edit can be previewed. After a click the
// pointer has to move first: a button that only comes to lie under it previews nothing over what the click did.

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
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void leaveEvent(QEvent *event) override;

private:
    void enter();

    bool m_isEntered = false;
};

} // namespace trainyard

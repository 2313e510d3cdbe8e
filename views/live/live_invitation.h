#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the page of live runs shows while nothing is connected: what can be, and how. GUI thread.

#include <QWidget>

class QPushButton;

namespace trainyard {

class LiveInvitation : public QWidget {
    Q_OBJECT
public:
    explicit LiveInvitation(QWidget *parent = nullptr);
    QPushButton *const connectButton, *const replay;

protected:
    void paintEvent(QPaintEvent *event) override;
};

} // namespace trainyard

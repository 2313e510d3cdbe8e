#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the page about a run shows before there is one: what can be dropped there, and that nothing leaves the machine.
// GUI thread.

#include <QWidget>

class QPushButton;

namespace trainyard {

class RunInvitation : public QWidget {
    Q_OBJECT
public:
    explicit RunInvitation(QWidget *parent = nullptr);

    QPushButton *const open, *const openFolder;

protected:
    void paintEvent(QPaintEvent *event) override;
};

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a page shows in its dashed frame while it has nothing yet: what it would do, with which kinds of things, and two
// buttons that begin. GUI thread.

#include <QWidget>

#include <vector>

class QPushButton;

namespace trainyard {

class Invitation : public QWidget {
    Q_OBJECT
public:
    struct Kind {
        QString name, text;
    };
    struct Words {
        QString accessibleName, title, about;
        std::vector<Kind> kinds;
        int nameWidth; // pixels, of the column of their names
        bool wrapsKinds = false;
        QString begin, other; // the buttons
        QString below = {}; // them
    };
    explicit Invitation(const Words &words, QWidget *parent = nullptr);

    QPushButton *const begin, *const other;

protected:
    void paintEvent(QPaintEvent *event) override;
};

} // namespace trainyard

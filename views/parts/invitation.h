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
        /// pixels, of the column of their names
        int nameWidth;
        bool wrapsKinds = false;
        /// the buttons
        QString begin, other;
        /// them
        QString below = {};
    };
    explicit Invitation(const Words &words, QWidget *parent = nullptr);

    QPushButton *const begin, *const other;

protected:
    void paintEvent(QPaintEvent *event) override;
};

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Three steps for the first start, in one line; dismissed once, it does not come back by itself. GUI thread.

#include <QWidget>

class QLabel;
class QPushButton;

namespace trainyard {

class TourStrip : public QWidget {
    Q_OBJECT
public:
    explicit TourStrip(QWidget *parent = nullptr);

    void start();
    /// after the last step it dismisses itself
    void next();
    void dismiss();
    [[nodiscard]] int step() const { return m_step; }
    [[nodiscard]] static bool wasDismissed();

signals:
    /// 0 cluster map, 1 strategies, 2 timeline: the panel that the step speaks of.
    void stepShown(int step);
    void dismissed();

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    void showStep();

    int m_step = 0;
    QLabel *m_number, *m_text;
    QPushButton *m_next, *m_skip;
};

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a live source is, as a mark that shape alone tells apart: a disc is live, a ring connecting, a triangle stale, a
// circle with an arrow tries again, two bars are paused, a square has ended, a cross was refused. GUI thread.

#include "models/live_document.h"

#include <QWidget>

namespace trainyard {

[[nodiscard]] QColor stateColor(live::SourceState state);
void paintStateMark(QPainter &painter, const QRectF &box, live::SourceState state);

class StateMark : public QWidget {
    Q_OBJECT
public:
    static constexpr int kSize = 14;
    explicit StateMark(QWidget *parent = nullptr);
    void setState(live::SourceState state);
    [[nodiscard]] live::SourceState state() const { return m_state; }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    live::SourceState m_state = live::SourceState::Idle;
};

} // namespace trainyard

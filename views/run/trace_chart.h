#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline of a trace alone, without a plan: every stream of every rank, and threads of hosts where they were
// kept. The wheel zooms at the pointer, with Shift it scrolls; a drag pans; a double click shows all. Reads rows,
// changes nothing but what is in sight. GUI thread.

#include "views/run/trace_painter.h"

#include <QAbstractScrollArea>

namespace trainyard {

class TraceChart : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit TraceChart(QWidget *parent = nullptr);

    /// null: none. Rows of the same time keep what is in sight.
    void setRows(std::shared_ptr<const TraceRows> rows);
    [[nodiscard]] const TraceState &state() const { return m_state; }
    void setRange(TimeInterval range);
    void fit();
    /// `factor` > 1 zooms in at that pixel.
    void zoomAt(int x, double factor);
    void panBy(double share);

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void scrollContentsBy(int dx, int dy) override;
    void changeEvent(QEvent *event) override;
    bool viewportEvent(QEvent *event) override;

private:
    void fitScrollBar();
    [[nodiscard]] QRect tracks() const { return TraceState::tracksOf(viewport()->size()); }

    TraceState m_state;
    /// of a drag: where it began, and what was in sight then
    QPoint m_pressed;
    TimeInterval m_before;
};

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Turns mouse, wheel and touch events of the canvas into wishes ("show this range", "select here"). It reads the state
// to know what a pixel means and changes nothing itself; TimelineView grants the wishes. GUI thread.

#include "views/timeline/chart_canvas.h"

#include <QObject>

class QMouseEvent;
class QWheelEvent;

namespace trainyard {

class CanvasGestures : public QObject {
    Q_OBJECT
public:
    CanvasGestures(const TimelineState &state, ChartCanvas &canvas);

signals:
    /// empty: it has left
    void jobDragged(const QString &job, QPoint point);
    void jobDropped(const QString &job, QPoint point);
    void rangeWished(trainyard::TimeInterval range);
    void scrollWished(int scroll);
    /// the mouse moved without a drag
    void pointedAt(QPoint point);
    void pointerLeft();
    void clicked(QPoint point);
    void doubleClicked(QPoint point);
    /// so far
    void areaDragged(QPoint from, QPoint to);
    void areaFinished();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    enum class Drag { None, Pressed, Area, Pan };
    bool press(const QMouseEvent &event);
    bool move(const QMouseEvent &event);
    bool release(const QMouseEvent &event);
    bool wheel(const QWheelEvent &event);
    bool pinch(QEvent &event);
    bool dragged(QEvent &event);
    void zoomAt(double x, double factor);

    const TimelineState &m_state;
    ChartCanvas &m_canvas;
    Drag m_drag = Drag::None;
    QPoint m_pressedAt;
    TimeInterval m_rangeAtPress;
    int m_scrollAtPress = 0;
};

} // namespace trainyard

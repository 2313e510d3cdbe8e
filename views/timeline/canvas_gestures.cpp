// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/canvas_gestures.h"

#include <QApplication>
#include <QDropEvent>
#include <QGestureEvent>
#include <QMouseEvent>
#include <QNativeGestureEvent>
#include <QPinchGesture>
#include <QWheelEvent>

#include <cmath>

namespace trainyard {

namespace {
constexpr double kNotch = 120; // QWheelEvent's unit of one wheel step
constexpr double kZoomPerNotch = 1.25;
constexpr double kPanPerNotch = 0.1; // of the visible range
constexpr int kScrollPerNotch = 45; // pixels
} // namespace

CanvasGestures::CanvasGestures(const TimelineState &state, ChartCanvas &canvas)
    : QObject(&canvas)
    , m_state(state)
    , m_canvas(canvas)
{
    canvas.installEventFilter(this);
    canvas.grabGesture(Qt::PinchGesture);
    canvas.setAcceptDrops(true);
}

bool CanvasGestures::eventFilter(QObject *, QEvent *event)
{
    switch (event->type()) {
    case QEvent::MouseButtonPress:
        return press(static_cast<QMouseEvent &>(*event));
    case QEvent::MouseMove:
        return move(static_cast<QMouseEvent &>(*event));
    case QEvent::MouseButtonRelease:
        return release(static_cast<QMouseEvent &>(*event));
    case QEvent::MouseButtonDblClick:
        if (static_cast<QMouseEvent *>(event)->button() == Qt::LeftButton)
            emit doubleClicked(static_cast<QMouseEvent *>(event)->position().toPoint());
        return true;
    case QEvent::Wheel:
        return wheel(static_cast<QWheelEvent &>(*event));
    case QEvent::Gesture:
    case QEvent::NativeGesture:
        return pinch(*event);
    case QEvent::DragEnter:
    case QEvent::DragMove: // QDragEnterEvent is one
    case QEvent::DragLeave:
    case QEvent::Drop:
        return dragged(*event);
    case QEvent::Leave:
        emit pointerLeft();
        return false;
    default:
        return false;
    }
}

/// A job from the list of jobs; whatever else is dragged is the window's.
bool CanvasGestures::dragged(QEvent &event)
{
    if (event.type() == QEvent::DragLeave) {
        emit jobDragged({}, {});
        return true;
    }
    auto &drop = static_cast<QDropEvent &>(event);
    const QString job = draggedJob(*drop.mimeData());
    if (job.isEmpty()) {
        event.ignore();
        return true;
    }
    drop.acceptProposedAction();
    if (event.type() == QEvent::Drop)
        emit jobDropped(job, drop.position().toPoint());
    else
        emit jobDragged(job, drop.position().toPoint());
    return true;
}

bool CanvasGestures::press(const QMouseEvent &event)
{
    if (m_state.isEmpty() || (event.button() != Qt::LeftButton && event.button() != Qt::MiddleButton))
        return false;
    m_pressedAt = event.position().toPoint();
    m_rangeAtPress = m_state.range;
    m_scrollAtPress = m_state.scroll;
    const bool pans = event.button() == Qt::MiddleButton || (event.modifiers() & Qt::ShiftModifier)
        || m_canvas.geometry().ruler.contains(m_pressedAt);
    m_drag = pans ? Drag::Pan : Drag::Pressed;
    if (pans)
        m_canvas.setCursor(Qt::ClosedHandCursor);
    m_canvas.setFocus(Qt::MouseFocusReason);
    return true;
}

bool CanvasGestures::move(const QMouseEvent &event)
{
    const QPoint at = event.position().toPoint();
    const ChartGeometry geometry = m_canvas.geometry();
    switch (m_drag) {
    case Drag::None:
        emit pointedAt(at);
        break;
    case Drag::Pan: {
        const double perPixel = double(m_rangeAtPress.length()) / geometry.tracks.width();
        emit rangeWished(
            panned(m_rangeAtPress, Nanoseconds(std::llround((m_pressedAt.x() - at.x()) * perPixel)), m_state.whole));
        if (!geometry.ruler.contains(m_pressedAt))
            emit scrollWished(m_scrollAtPress + m_pressedAt.y() - at.y());
        break;
    }
    case Drag::Pressed:
        if ((at - m_pressedAt).manhattanLength() < QApplication::startDragDistance()
            || !geometry.tracks.contains(m_pressedAt))
            break;
        m_drag = Drag::Area;
        [[fallthrough]];
    case Drag::Area:
        emit areaDragged(m_pressedAt, at);
        break;
    }
    return true;
}

bool CanvasGestures::release(const QMouseEvent &event)
{
    const Drag drag = std::exchange(m_drag, Drag::None);
    m_canvas.unsetCursor();
    const QPoint at = event.position().toPoint();
    const bool stayed = (at - m_pressedAt).manhattanLength() < QApplication::startDragDistance();
    if (drag == Drag::Area)
        emit areaFinished();
    else if (drag == Drag::Pressed && stayed)
        emit clicked(at);
    return true;
}

bool CanvasGestures::wheel(const QWheelEvent &event)
{
    if (m_state.isEmpty())
        return false;
    QPointF notches = QPointF(event.angleDelta()) / kNotch;
    if (event.modifiers() & Qt::ControlModifier) {
        zoomAt(event.position().x(), std::pow(kZoomPerNotch, notches.y()));
        return true;
    }
    if (event.modifiers() & Qt::ShiftModifier) // some platforms swap the axes themselves
        notches = { notches.x() + notches.y(), 0 };
    if (notches.x() != 0)
        emit rangeWished(panned(
            m_state.range, Nanoseconds(-notches.x() * kPanPerNotch * double(m_state.range.length())), m_state.whole));
    if (notches.y() != 0)
        emit scrollWished(m_state.scroll - int(std::lround(notches.y() * kScrollPerNotch)));
    return true;
}

bool CanvasGestures::pinch(QEvent &event)
{
    if (event.type() == QEvent::NativeGesture) {
        const auto &native = static_cast<QNativeGestureEvent &>(event);
        if (native.gestureType() != Qt::ZoomNativeGesture)
            return false;
        zoomAt(native.position().x(), 1 + native.value());
        return true;
    }
    auto *gesture = static_cast<QPinchGesture *>(static_cast<QGestureEvent &>(event).gesture(Qt::PinchGesture));
    if (!gesture)
        return false;
    if (gesture->changeFlags() & QPinchGesture::ScaleFactorChanged)
        zoomAt(m_canvas.mapFromGlobal(gesture->centerPoint()).x(), gesture->scaleFactor());
    return true;
}

void CanvasGestures::zoomAt(double x, double factor)
{
    if (m_state.isEmpty() || factor <= 0)
        return;
    const ChartGeometry geometry = m_canvas.geometry();
    const double inside = std::clamp(x, double(geometry.tracks.left()), geometry.tracks.right() + 1.0);
    emit rangeWished(zoomed(m_state.range, factor, geometry.time(m_state, inside), m_state.whole));
}

} // namespace trainyard

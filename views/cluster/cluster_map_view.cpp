// SPDX-License-Identifier: GPL-3.0-or-later
// How much of the cluster map is shown, and where its islands lie: zoom, pan, and an island that follows the pointer.
#include "views/cluster/cluster_map.h"
#include "views/cluster/map_focus.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QGestureEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QNativeGestureEvent>
#include <QPinchGesture>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kKeyZoom = 1.5, kKeyPixels = 90;
constexpr double kSmallPixels = 14; // of a thing that one goes to

} // namespace

void ClusterMap::zoomAt(QPointF at, double factor)
{
    if (!m_nudgeStart && m_view.zoomAt(at, factor, mapArea()))
        showView();
}

bool ClusterMap::pan(QPointF by)
{
    if (m_nudgeStart || !m_view.panBy(by, mapArea()))
        return false;
    showView();
    return true;
}

void ClusterMap::showView()
{
    relayout();
    if (m_gesture.mode() == MapGesture::Mode::Idle && !m_panAt && underMouse())
        updateHover(m_hoverAt, QApplication::keyboardModifiers());
}

QPointF ClusterMap::zoomPoint() const
{
    if (underMouse() && mapArea().contains(m_hoverAt))
        return m_hoverAt;
    return hasFocus() && m_focus && m_keyboard ? placeOfItem(*m_focus).center() : mapArea().center();
}

void ClusterMap::zoomIn()
{
    zoomAt(zoomPoint(), kKeyZoom);
}
void ClusterMap::zoomOut()
{
    zoomAt(zoomPoint(), 1 / kKeyZoom);
}

void ClusterMap::fit()
{
    if (!m_nudgeStart && m_view.fit())
        showView();
}

void ClusterMap::zoomToSelection()
{
    const bool isFocused = m_focus && m_keyboard;
    if (m_nudgeStart || (!isFocused && m_selection.empty() && m_hoverHit.island < 0))
        return fit();
    const MapItem item = isFocused ? *m_focus
        : !m_selection.empty()     ? m_selection.front()
                                   : MapItem { MapItem::Kind::Island, m_hoverHit.island };
    const MapView before = m_view;
    const bool isNearer =
        m_view.show(placeOfItem(item), mapArea()) && std::abs(m_view.zoom() / before.zoom() - 1) > 0.02;
    if (!isNearer)
        m_view.fit(); // the second time: all of it
    showView();
}

/// The focused thing comes into view where the map is zoomed.
void ClusterMap::followFocus()
{
    if (!m_view.isZoomed() || !m_focus)
        return;
    const QRectF rect = placeOfItem(*m_focus), seen = mapArea().adjusted(8, 8, -8, -8);
    if (!seen.contains(rect) && !(rect.width() > seen.width() || rect.height() > seen.height()))
        pan(seen.center() - rect.center());
    else if (!seen.intersects(rect))
        pan(seen.center() - rect.center());
}

void ClusterMap::goTo(const MapItem &item)
{
    setFocus(Qt::ShortcutFocusReason);
    select(item);
    setFocusItem(item);
    const QRectF place = placeOfItem(item);
    const bool isSmall = item.kind != MapItem::Kind::Link && std::max(place.width(), place.height()) < kSmallPixels;
    if (isSmall && !m_nudgeStart && m_view.show(place, mapArea()))
        showView();
}

bool ClusterMap::pinch(QEvent &event)
{
    if (event.type() == QEvent::NativeGesture) {
        const auto &native = static_cast<QNativeGestureEvent &>(event);
        if (native.gestureType() != Qt::ZoomNativeGesture)
            return false;
        zoomAt(native.position(), std::max(0.1, 1 + native.value()));
        return true;
    }
    auto *gesture = static_cast<QPinchGesture *>(static_cast<QGestureEvent &>(event).gesture(Qt::PinchGesture));
    if (!gesture)
        return false;
    if (gesture->changeFlags() & QPinchGesture::ScaleFactorChanged)
        zoomAt(mapFromGlobal(gesture->centerPoint()), gesture->scaleFactor());
    static_cast<QGestureEvent &>(event).accept(gesture);
    return true;
}

bool ClusterMap::event(QEvent *event)
{
    if (event->type() == QEvent::NativeGesture || event->type() == QEvent::Gesture)
        return pinch(*event) || QWidget::event(event);
    if (event->type() == QEvent::ShortcutOverride) {
        // With the focus on the map these keys are the map's, whatever the window does with them.
        static constexpr int keys[] = { Qt::Key_Plus, Qt::Key_Equal, Qt::Key_Minus, Qt::Key_F, Qt::Key_0, Qt::Key_Left,
            Qt::Key_Right, Qt::Key_Up, Qt::Key_Down, Qt::Key_Space, Qt::Key_Return, Qt::Key_Enter, Qt::Key_Home,
            Qt::Key_End };
        const auto *key = static_cast<QKeyEvent *>(event);
        const bool isPlain = !(key->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier));
        if (isPlain && std::ranges::find(keys, key->key()) != std::end(keys)) {
            event->accept();
            return true;
        }
    }
    return QWidget::event(event);
}

bool ClusterMap::viewKey(QKeyEvent *event)
{
    if (event->modifiers() & Qt::ShiftModifier) {
        switch (event->key()) {
        case Qt::Key_Left:
            return pan({ kKeyPixels, 0 });
        case Qt::Key_Right:
            return pan({ -kKeyPixels, 0 });
        case Qt::Key_Up:
            return pan({ 0, kKeyPixels });
        case Qt::Key_Down:
            return pan({ 0, -kKeyPixels });
        default:
            break;
        }
    }
    switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        zoomIn();
        return true;
    case Qt::Key_Minus:
        zoomOut();
        return true;
    case Qt::Key_0:
    case Qt::Key_Home:
        fit();
        return true;
    case Qt::Key_F:
        zoomToSelection();
        return true;
    default:
        return false;
    }
}

/// Drags the ground: with the middle button anywhere, with the left one where nothing lies and there is more to see.
bool ClusterMap::panned(QMouseEvent &event)
{
    const QPointF at = event.position();
    const bool takesGround = m_gesture.mode() == MapGesture::Mode::Pressed
        && m_gesture.origin().kind == MapHit::Kind::None && m_view.isZoomed()
        && !(event.modifiers() & Qt::ShiftModifier)
        && (at - m_gesture.pressedAt()).manhattanLength() >= QApplication::startDragDistance();
    if (takesGround) {
        m_panAt = m_gesture.pressedAt();
        m_gesture.reset();
    }
    if (m_panAt && !(event.buttons() & (Qt::MiddleButton | Qt::LeftButton)))
        m_panAt.reset(); // the release went elsewhere
    if (!m_panAt)
        return false;
    setCursor(Qt::ClosedHandCursor);
    const QPointF by = at - *m_panAt;
    m_panAt = at;
    pan(by);
    return true;
}

/// A datacenter of known place goes to another one and its round trips follow; with Shift, or without a place, only the
/// picture changes. The island is where the pointer took hold of it; the others wait until it is let go.
void ClusterMap::nudgeIsland(Qt::KeyboardModifiers modifiers)
{
    const int island = m_gesture.origin().island;
    if (island < 0 || island >= int(m_layout.islands.size()))
        return;
    if (!m_nudgeStart) {
        m_nudgeStart = m_layout;
        m_isScaleNew = false;
    }
    const QRectF area = m_layout.area, from = m_nudgeStart->islands[std::size_t(island)].frame;
    const auto within = [](double step, double low, double high) {
        return std::clamp(step, std::min(low, 0.0), std::max(high, 0.0));
    };
    const QPointF drag = m_gesture.at() - m_gesture.pressedAt();
    const QPointF by(within(drag.x(), area.left() - from.left(), area.right() - from.right()),
        within(drag.y(), area.top() - from.top(), area.bottom() - from.bottom()));
    m_layout = shiftIsland(m_spec, *m_nudgeStart, island, by);
    m_loose.clear();
    const auto place = placeOf(m_plan->cluster.datacenters[std::size_t(island)]);
    std::optional<MapEdit> edit;
    if (place && !modifiers.testFlag(Qt::ShiftModifier)) {
        if (!m_projection) {
            m_projection.emplace(m_plan->cluster, m_fit);
            m_isScaleNew = true;
        }
        edit =
            placeEdit(m_plan, island, m_projection->moved(*place, { by.x() / area.width(), by.y() / area.height() }));
    }
    announce(m_preview.set(std::move(edit)));
    showPreview();
}

/// The island is let go: where that changes the plan, its coordinates say from now on where it lies.
void ClusterMap::dropIsland()
{
    const int island = m_gesture.origin().island;
    const std::optional<MapEdit> edit = m_preview.edit();
    const QRectF area = m_layout.area;
    const QPointF centre = m_layout.islands[std::size_t(island)].frame.center() - area.topLeft();
    const QPointF share(centre.x() / area.width(), centre.y() / area.height());
    const QString id = m_scene.islands[std::size_t(island)].id;
    m_gesture.reset();
    m_nudgeStart.reset();
    m_held = id;
    if (!edit) {
        m_pins[id] = share;
        relayout();
        return;
    }
    const Datacenter &moved = edit->next->cluster.datacenters[std::size_t(island)];
    m_projection->anchor(moved.id, *placeOf(moved), share);
    m_pins.remove(id);
    emit editCommitted(edit->next, edit->text);
    m_preview.clear(); // as drop(): setShown() has taken its evaluation over
    relayout();
}

} // namespace trainyard

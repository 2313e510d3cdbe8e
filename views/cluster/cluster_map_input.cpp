// SPDX-License-Identifier: GPL-3.0-or-later
// Events of the cluster map: they feed the gesture and act on what it says.
#include "views/cluster/amount_popup.h"
#include "views/cluster/cluster_map.h"
#include "views/cluster/editors/form_popover.h"
#include "views/cluster/header_painter.h"
#include "views/cluster/map_focus.h"
#include "views/cluster/map_grab.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolButton>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kZoomStep = 1.2, kWheelPixels = 60; // per notch

} // namespace

/// Nothing of a zoomed map is hit under the header.
MapHit ClusterMap::hitAt(QPointF at) const
{
    return at.y() < headerHeight() - 4 ? MapHit() : hitTest(m_layout, at);
}

void ClusterMap::mousePressEvent(QMouseEvent *event)
{
    m_keyboard = false;
    if (event->button() == Qt::MiddleButton && !m_gesture.isActive()) {
        m_panAt = event->position();
        return;
    }
    if (event->button() != Qt::LeftButton || m_gesture.isActive() || !m_plan)
        return;
    closeEditor(true); // what stands in it counts, as in a cell of a table that is left
    const QPointF at = event->position();
    const MapHit hit = hitAt(at);
    Carry grab;
    if (event->modifiers() == Qt::NoModifier && covers(m_selection, hit))
        grab = carrySelection(m_scene, m_selection);
    else
        grab = grabAt(m_scene, hit, grabUnit(m_scene, m_layout, event->modifiers()));
    m_gesture.press(hit, at, std::move(grab), QApplication::startDragDistance());
}

void ClusterMap::mouseMoveEvent(QMouseEvent *event)
{
    const QPointF at = event->position();
    m_hoverAt = at;
    if (panned(*event))
        return;
    if (m_gesture.mode() == MapGesture::Mode::Idle) {
        updateHover(at, event->modifiers());
        return;
    }
    if (m_gesture.holdsButton() && !event->buttons().testFlag(Qt::LeftButton)) {
        cancelGesture(); // the release went elsewhere
        return;
    }
    const MapGesture::Mode before = m_gesture.mode();
    if (!m_gesture.move(hitAt(at), at))
        return;
    if (m_gesture.mode() == MapGesture::Mode::Carrying) {
        if (before == MapGesture::Mode::Pressed)
            beginCarry();
        syncPreview();
    } else if (m_gesture.mode() == MapGesture::Mode::Nudging) {
        nudgeIsland(event->modifiers());
    } else if (m_gesture.mode() == MapGesture::Mode::Banding) {
        setSelection(itemsWithin(m_scene, m_layout, m_gesture.band()));
    }
    update();
}

void ClusterMap::mouseReleaseEvent(QMouseEvent *event)
{
    if (m_panAt) {
        m_panAt.reset();
        updateHover(event->position(), event->modifiers());
        return;
    }
    if (event->button() != Qt::LeftButton)
        return;
    finish(m_gesture.release(hitAt(event->position()), event->position()), event->modifiers());
}

void ClusterMap::mouseDoubleClickEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton || m_gesture.isActive())
        return;
    m_gesture.reset();
    const MapSelection items = itemsAt(m_scene, hitAt(event->position()), GrabUnit::Pool);
    if (!items.empty())
        edit(items.front());
    else if (m_scene.islands.empty())
        addDatacenter();
}

void ClusterMap::wheelEvent(QWheelEvent *event)
{
    if (event->modifiers() & Qt::ControlModifier) {
        zoomAt(event->position(), std::pow(kZoomStep, event->angleDelta().y() / 120.0));
        return;
    }
    if (!m_gesture.isCarrying() && m_view.isZoomed()) {
        QPointF by = event->pixelDelta().isNull() ? QPointF(event->angleDelta()) * kWheelPixels / 120
                                                  : QPointF(event->pixelDelta());
        if (event->modifiers() & Qt::ShiftModifier && by.x() == 0)
            by = by.transposed();
        if (pan(by))
            return;
    }
    if (!m_gesture.isCarrying() || event->angleDelta().y() == 0) {
        event->ignore();
        return;
    }
    changeAmount(steppedAmount(m_gesture.carry(), m_plan->cluster, event->angleDelta().y() > 0 ? 1 : -1));
}

void ClusterMap::leaveEvent(QEvent *)
{
    forgetHover();
    m_hoverAt = { -1, -1 }; // nowhere: a modifier key must not find the old place again
    update();
}

/// What the pointer rested on before a carry must not come back after it, when the pointer is elsewhere.
void ClusterMap::forgetHover()
{
    m_hover.reset();
    m_hoverHit = {};
    showLooseLinks();
}

void ClusterMap::focusOutEvent(QFocusEvent *event)
{
    // A popup menu or a dialog may come and go; a carry by keyboard must not linger without the keys.
    // Nor may a drag outlive its window: another one may get the release.
    const bool keysLost = m_gesture.mode() == MapGesture::Mode::KeyCarrying && event->reason() != Qt::PopupFocusReason;
    if (keysLost || (m_gesture.holdsButton() && event->reason() == Qt::ActiveWindowFocusReason))
        cancelGesture();
    update();
    QWidget::focusOutEvent(event);
}

bool ClusterMap::focusNextPrevChild(bool next)
{
    if (m_gesture.isCarrying() || !hasFocus())
        return m_gesture.isCarrying() || QWidget::focusNextPrevChild(next);
    const auto item = nextItem(m_scene, m_layout, m_keyboard ? m_focus : std::nullopt, next);
    if (!item) {
        m_focus.reset();
        return QWidget::focusNextPrevChild(next);
    }
    setFocusItem(item);
    return true;
}

void ClusterMap::keyPressEvent(QKeyEvent *event)
{
    const bool isIdle = m_gesture.mode() == MapGesture::Mode::Idle;
    if (event->key() == Qt::Key_Escape && (!isIdle || !m_selection.empty() || m_traffic)) {
        if (!isIdle) {
            cancelGesture();
        } else if (m_traffic) { // what lies on top goes first
            setTraffic({});
            emit trafficCleared();
        } else {
            clearSelection();
        }
        return;
    }
    if (m_gesture.isCarrying() ? carryKey(event) : viewKey(event) || focusKey(event))
        return;
    if (event->key() == Qt::Key_Shift || event->key() == Qt::Key_Control)
        updateHover(
            m_hoverAt, event->modifiers() | (event->key() == Qt::Key_Shift ? Qt::ShiftModifier : Qt::ControlModifier));
    QWidget::keyPressEvent(event);
}

void ClusterMap::keyReleaseEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Shift || event->key() == Qt::Key_Control)
        updateHover(
            m_hoverAt, event->modifiers() & ~(event->key() == Qt::Key_Shift ? Qt::ShiftModifier : Qt::ControlModifier));
    QWidget::keyReleaseEvent(event);
}

bool ClusterMap::carryKey(QKeyEvent *event)
{
    const Carry &carry = m_gesture.carry();
    switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        changeAmount(steppedAmount(carry, m_plan->cluster, 1));
        return true;
    case Qt::Key_Minus:
        changeAmount(steppedAmount(carry, m_plan->cluster, -1));
        return true;
    case Qt::Key_Home:
        changeAmount(1);
        return true;
    case Qt::Key_End:
        changeAmount(mostGpus(carry, m_plan->cluster));
        return true;
    default:
        break;
    }
    if (event->key() >= Qt::Key_0 && event->key() <= Qt::Key_9) {
        m_typedAmount += QChar(u'0' + (event->key() - Qt::Key_0));
        changeAmount(m_typedAmount.right(6).toInt());
        return true;
    }
    if (m_gesture.mode() != MapGesture::Mode::KeyCarrying)
        return false;
    switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
        m_gesture.aim(islandTowards(m_layout, m_gesture.target(), event->key()));
        syncPreview();
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
        drop();
        return true;
    default:
        return true; // nothing else happens while GPUs are picked up
    }
}

bool ClusterMap::focusKey(QKeyEvent *event)
{
    switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
        if (m_scene.islands.empty())
            return false;
        setFocusItem(
            m_focus ? itemTowards(m_scene, m_layout, *m_focus, event->key()) : MapItem { MapItem::Kind::Island, 0 });
        return true;
    case Qt::Key_Space:
    case Qt::Key_Return:
    case Qt::Key_Enter:
        return pickUp();
    case Qt::Key_Delete:
    case Qt::Key_Backspace:
        if (m_selection.empty() && m_focus && m_keyboard)
            setSelection({ *m_focus });
        removeSelection();
        return true;
    case Qt::Key_Insert:
        m_add->showMenu();
        return true;
    case Qt::Key_F2:
        if (m_focus && m_keyboard)
            edit(*m_focus);
        else
            editSelection();
        return true;
    default:
        return false;
    }
}

bool ClusterMap::pickUp()
{
    Carry carry = m_selection.empty() || (m_focus && m_keyboard) ? Carry() : carrySelection(m_scene, m_selection);
    if (carry.isEmpty() && m_focus && m_focus->kind == MapItem::Kind::Link) {
        edit(*m_focus);
        return true;
    }
    if (carry.isEmpty() && m_focus)
        carry = carryOf(m_scene, *m_focus);
    if (carry.isEmpty())
        return false;
    const int from = carry.island;
    forgetHover();
    m_typedAmount.clear();
    m_gesture.pickUp(std::move(carry), from);
    syncPreview();
    update();
    return true;
}

void ClusterMap::beginCarry()
{
    forgetHover();
    setFocus(Qt::MouseFocusReason); // so that Esc reaches the map
    m_keyboard = false;
    const Carry &carry = m_gesture.carry();
    const bool wholePool = carry.what.size() != 1 || carry.gpus() == mostGpus(carry, m_plan->cluster);
    if (m_layout.detail != MapDetail::Gpus && !wholePool && m_lastAmount > 0)
        m_gesture.setCarry(resized(carry, m_plan->cluster, m_lastAmount));
}

void ClusterMap::changeAmount(int gpus)
{
    if (!m_gesture.isCarrying() || !m_plan)
        return;
    m_gesture.setCarry(resized(m_gesture.carry(), m_plan->cluster, gpus));
    syncPreview();
    update();
}

void ClusterMap::updateHover(QPointF at, Qt::KeyboardModifiers modifiers)
{
    m_hoverAt = at;
    m_hoverHit = m_editor ? MapHit() : hitAt(at); // with a form open the map shows another plan
    const GrabUnit unit = grabUnit(m_scene, m_layout, modifiers);
    const MapSelection items = itemsAt(m_scene, m_hoverHit, unit);
    const bool island = m_hoverHit.kind == MapHit::Kind::Island;
    m_hover = items.empty() || island ? std::nullopt : std::optional(items.front());
    const bool movable = m_hoverHit.kind == MapHit::Kind::Gpu || m_hoverHit.kind == MapHit::Kind::Node
        || m_hoverHit.kind == MapHit::Kind::Pool;
    showLooseLinks();
    setCursor(m_hoverHit.kind == MapHit::Kind::Handle ? Qt::CrossCursor
            : movable                                 ? Qt::OpenHandCursor
            : m_hoverHit.kind == MapHit::Kind::Title  ? Qt::SizeAllCursor
                                                      : Qt::ArrowCursor);
    update();
}

void ClusterMap::finish(MapGesture::Outcome outcome, Qt::KeyboardModifiers modifiers)
{
    switch (outcome) {
    case MapGesture::Outcome::Nothing:
        return;
    case MapGesture::Outcome::Click: {
        MapSelection items =
            itemsAt(m_scene, m_gesture.origin(), grabUnit(m_scene, m_layout, modifiers & ~Qt::ControlModifier));
        if (modifiers & Qt::ControlModifier && !items.empty()) {
            MapSelection both = m_selection;
            if (std::erase(both, items.front()) == 0)
                both.insert(both.end(), items.begin(), items.end());
            items = std::move(both);
        }
        m_gesture.reset();
        setSelection(std::move(items));
        if (!m_selection.empty())
            m_focus = m_selection.front();
        break;
    }
    case MapGesture::Outcome::Drop:
        syncPreview();
        drop();
        break;
    case MapGesture::Outcome::Nudged:
        dropIsland();
        break;
    case MapGesture::Outcome::Linked: {
        const int from = m_gesture.origin().island, to = m_gesture.target();
        m_gesture.reset();
        addLink(from, to);
        break;
    }
    default:
        m_gesture.reset();
        break;
    }
    m_nudgeStart.reset();
    update();
}

} // namespace trainyard

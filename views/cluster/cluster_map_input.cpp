// SPDX-License-Identifier: GPL-3.0-or-later
// Events of the cluster map: they feed the gesture and act on what it says.
#include "views/cluster/amount_popup.h"
#include "views/cluster/cluster_map.h"
#include "views/cluster/map_focus.h"
#include "views/cluster/map_grab.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolButton>
#include <QWheelEvent>

#include <algorithm>

namespace trainyard {

void ClusterMap::mousePressEvent(QMouseEvent *event)
{
    m_keyboard = false;
    if (event->button() != Qt::LeftButton || m_gesture.isActive() || !m_plan)
        return;
    const QPointF at = event->position();
    const MapHit hit = hitTest(m_layout, at);
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
    if (m_gesture.mode() == MapGesture::Mode::Idle) {
        updateHover(at, event->modifiers());
        return;
    }
    if (m_gesture.holdsButton() && !event->buttons().testFlag(Qt::LeftButton)) {
        cancelGesture();                   // the release went elsewhere
        return;
    }
    const MapGesture::Mode before = m_gesture.mode();
    if (!m_gesture.move(hitTest(m_layout, at), at))
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
    if (event->button() != Qt::LeftButton)
        return;
    finish(m_gesture.release(hitTest(m_layout, event->position()), event->position()), event->modifiers());
}

void ClusterMap::mouseDoubleClickEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton || m_gesture.isActive())
        return;
    m_gesture.reset();
    const MapSelection items = itemsAt(m_scene, hitTest(m_layout, event->position()), GrabUnit::Pool);
    if (!items.empty())
        edit(items.front());
    else if (m_scene.islands.empty())
        addDatacenter();
}

void ClusterMap::wheelEvent(QWheelEvent *event)
{
    if (!m_gesture.isCarrying() || event->angleDelta().y() == 0) {
        event->ignore();
        return;
    }
    changeAmount(steppedAmount(m_gesture.carry(), m_plan->cluster, event->angleDelta().y() > 0 ? 1 : -1));
}

void ClusterMap::leaveEvent(QEvent *)
{
    forgetHover();
    m_hoverAt = {-1, -1};                  // nowhere: a modifier key must not find the old place again
    update();
}

/// What the pointer rested on before a carry must not come back after it, when the pointer is elsewhere.
void ClusterMap::forgetHover()
{
    m_hover.reset();
    m_hoverHit = {};
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
    if (event->key() == Qt::Key_Escape && (m_gesture.mode() != MapGesture::Mode::Idle || !m_selection.empty())) {
        if (m_gesture.mode() == MapGesture::Mode::Idle)
            clearSelection();
        else
            cancelGesture();
        return;
    }
    if (m_gesture.isCarrying() ? carryKey(event) : focusKey(event))
        return;
    if (event->key() == Qt::Key_Shift || event->key() == Qt::Key_Control)
        updateHover(m_hoverAt, event->modifiers() | (event->key() == Qt::Key_Shift ? Qt::ShiftModifier : Qt::ControlModifier));
    QWidget::keyPressEvent(event);
}

void ClusterMap::keyReleaseEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Shift || event->key() == Qt::Key_Control)
        updateHover(m_hoverAt, event->modifiers() & ~(event->key() == Qt::Key_Shift ? Qt::ShiftModifier : Qt::ControlModifier));
    QWidget::keyReleaseEvent(event);
}

bool ClusterMap::carryKey(QKeyEvent *event)
{
    const Carry &carry = m_gesture.carry();
    switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal: changeAmount(steppedAmount(carry, m_plan->cluster, 1)); return true;
    case Qt::Key_Minus: changeAmount(steppedAmount(carry, m_plan->cluster, -1)); return true;
    case Qt::Key_Home: changeAmount(1); return true;
    case Qt::Key_End: changeAmount(mostGpus(carry, m_plan->cluster)); return true;
    default: break;
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
    case Qt::Key_Space: drop(); return true;
    default: return true;                  // nothing else happens with GPUs in hand
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
        setFocusItem(m_focus ? itemTowards(m_scene, m_layout, *m_focus, event->key()) : MapItem{MapItem::Kind::Island, 0});
        return true;
    case Qt::Key_Space:
    case Qt::Key_Return:
    case Qt::Key_Enter: return pickUp();
    case Qt::Key_Delete:
    case Qt::Key_Backspace:
        if (m_selection.empty() && m_focus && m_keyboard)
            setSelection({*m_focus});
        removeSelection();
        return true;
    case Qt::Key_Insert: m_add->showMenu(); return true;
    case Qt::Key_F2:
        if (m_focus && m_keyboard)
            edit(*m_focus);
        else
            editSelection();
        return true;
    default: return false;
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
    setFocus(Qt::MouseFocusReason);        // so that Esc reaches the map
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
    m_hoverHit = hitTest(m_layout, at);
    const GrabUnit unit = grabUnit(m_scene, m_layout, modifiers);
    const MapSelection items = itemsAt(m_scene, m_hoverHit, unit);
    const bool island = m_hoverHit.kind == MapHit::Kind::Island;
    m_hover = items.empty() || island ? std::nullopt : std::optional(items.front());
    const bool movable = m_hoverHit.kind == MapHit::Kind::Gpu || m_hoverHit.kind == MapHit::Kind::Node || m_hoverHit.kind == MapHit::Kind::Pool;
    setCursor(m_hoverHit.kind == MapHit::Kind::Handle ? Qt::CrossCursor : movable ? Qt::OpenHandCursor : m_hoverHit.kind == MapHit::Kind::Title ? Qt::SizeAllCursor : Qt::ArrowCursor);
    update();
}

/// A datacenter of known place goes to another one and its round trips follow; with Shift, or without a place, only the
/// picture changes.
void ClusterMap::nudgeIsland(Qt::KeyboardModifiers modifiers)
{
    const int island = m_gesture.origin().island;
    if (island < 0 || island >= int(m_layout.islands.size()))
        return;
    const QRectF area = m_layout.area;
    const QString &id = m_scene.islands[std::size_t(island)].id;
    if (!m_nudgeStart) {
        m_nudgeStart = m_layout.islands[std::size_t(island)].frame.center();
        m_nudgePin = m_pins.contains(id) ? std::optional(m_pins.value(id)) : std::nullopt;
    }
    const QPointF centre = *m_nudgeStart + m_gesture.at() - m_gesture.pressedAt();
    m_pins[id] = {std::clamp((centre.x() - area.left()) / area.width(), 0.0, 1.0), std::clamp((centre.y() - area.top()) / area.height(), 0.0, 1.0)};
    const auto place = placeOf(m_plan->cluster.datacenters[std::size_t(island)]);
    std::optional<MapEdit> edit;
    if (place && !modifiers.testFlag(Qt::ShiftModifier)) {
        const QPointF from((m_nudgeStart->x() - area.left()) / area.width(), (m_nudgeStart->y() - area.top()) / area.height());
        if (!m_projection)
            m_projection.emplace(m_plan->cluster, m_layout);
        edit = placeEdit(m_plan, island, m_projection->moved(*place, m_pins.value(id) - from));
    }
    announce(m_preview.set(std::move(edit)));
    relayout();
}

/// The island is let go: where that changes the plan, its coordinates say from now on where it lies.
void ClusterMap::dropIsland()
{
    const int island = m_gesture.origin().island;
    const std::optional<MapEdit> edit = m_preview.edit();
    m_gesture.reset();
    m_nudgeStart.reset();
    if (!edit)
        return;
    const Datacenter &moved = edit->next->cluster.datacenters[std::size_t(island)];
    const QString id = QString::fromStdString(moved.id);
    m_projection->anchor(moved.id, *placeOf(moved), m_pins.take(id));
    emit editCommitted(edit->next, edit->text);
    m_preview.clear();                     // as drop(): setPlan() has taken its evaluation over
    relayout();
}

void ClusterMap::putNudgedBack()
{
    if (!m_nudgeStart)
        return;
    m_nudgeStart.reset();
    const int island = m_gesture.origin().island;
    if (island < 0 || island >= int(m_scene.islands.size()))
        return;
    const QString &id = m_scene.islands[std::size_t(island)].id;
    if (m_nudgePin)
        m_pins[id] = *m_nudgePin;
    else
        m_pins.remove(id);
    relayout();
}

void ClusterMap::finish(MapGesture::Outcome outcome, Qt::KeyboardModifiers modifiers)
{
    switch (outcome) {
    case MapGesture::Outcome::Nothing: return;
    case MapGesture::Outcome::Click: {
        MapSelection items = itemsAt(m_scene, m_gesture.origin(), grabUnit(m_scene, m_layout, modifiers & ~Qt::ControlModifier));
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
    case MapGesture::Outcome::Drop: syncPreview(); drop(); break;
    case MapGesture::Outcome::Nudged: dropIsland(); break;
    case MapGesture::Outcome::Linked: {
        const int from = m_gesture.origin().island, to = m_gesture.target();
        m_gesture.reset();
        addLink(from, to);
        break;
    }
    default: m_gesture.reset(); break;
    }
    m_nudgeStart.reset();
    update();
}

} // namespace trainyard

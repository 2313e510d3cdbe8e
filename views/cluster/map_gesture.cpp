// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/map_gesture.h"

namespace trainyard {

void MapGesture::press(const MapHit &hit, QPointF at, Carry grab, double dragDistance)
{
    reset();
    m_mode = Mode::Pressed;
    m_origin = hit;
    m_pressedAt = m_at = at;
    m_carry = std::move(grab);
    m_dragDistance = dragDistance;
}

bool MapGesture::move(const MapHit &hit, QPointF at)
{
    m_at = at;
    if (m_mode == Mode::Pressed) {
        if ((at - m_pressedAt).manhattanLength() < m_dragDistance)
            return false;
        m_mode = dragMode();
    }
    if (m_mode == Mode::Carrying || m_mode == Mode::Linking)
        m_target = hit.island;
    return isActive() && m_mode != Mode::Asking;
}

MapGesture::Outcome MapGesture::release(const MapHit &hit, QPointF at)
{
    if (m_mode == Mode::KeyCarrying || m_mode == Mode::Asking || m_mode == Mode::Idle)
        return Outcome::Nothing;
    m_at = at;
    if (m_mode == Mode::Carrying || m_mode == Mode::Linking)
        m_target = hit.island;
    switch (m_mode) {
    case Mode::Pressed:
        return Outcome::Click;
    case Mode::Carrying:
        return Outcome::Drop;
    case Mode::Nudging:
        return Outcome::Nudged;
    case Mode::Banding:
        return Outcome::Banded;
    case Mode::Linking:
        return m_target >= 0 && m_target != m_origin.island ? Outcome::Linked : Outcome::Cancelled;
    default:
        return Outcome::Nothing;
    }
}

MapGesture::Outcome MapGesture::cancel()
{
    const bool was = m_mode != Mode::Idle;
    reset();
    return was ? Outcome::Cancelled : Outcome::Nothing;
}

void MapGesture::pickUp(Carry carry, int target)
{
    reset();
    m_mode = Mode::KeyCarrying;
    m_carry = std::move(carry);
    m_target = target;
}

void MapGesture::aim(int island)
{
    m_target = island;
}

void MapGesture::reset()
{
    *this = MapGesture();
}

MapGesture::Mode MapGesture::dragMode() const
{
    switch (m_origin.kind) {
    case MapHit::Kind::Handle:
        return Mode::Linking;
    case MapHit::Kind::Title:
        return Mode::Nudging;
    case MapHit::Kind::Pool:
    case MapHit::Kind::Node:
    case MapHit::Kind::Gpu:
        return m_carry.isEmpty() ? Mode::Banding : Mode::Carrying;
    default:
        return Mode::Banding;
    }
}

} // namespace trainyard

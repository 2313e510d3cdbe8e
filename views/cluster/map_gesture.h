#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The state machine of the mouse (and of carrying by keyboard): from press, move, release to "carrying 8 GPUs, over
// Iowa". Knows neither widget nor plan; the widget reads the state after each step and acts on the outcome.

#include "views/cluster/map_layout.h"
#include "views/cluster/map_selection.h"

#include <QPointF>
#include <QRectF>

namespace trainyard {

class MapGesture {
public:
    enum class Mode { Idle, Pressed, Carrying, Nudging, Banding, Linking, KeyCarrying, Asking };
    /// What a release (or a cancel) brought about.
    enum class Outcome { Nothing, Click, Drop, Nudged, Banded, Linked, Cancelled };

    /// `grab`: what a drag from here would carry; `dragDistance` in pixels.
    void press(const MapHit &hit, QPointF at, Carry grab, double dragDistance);
    /// True where something visible changed.
    bool move(const MapHit &hit, QPointF at);
    Outcome release(const MapHit &hit, QPointF at);
    Outcome cancel();

    /// by keyboard
    void pickUp(Carry carry, int target);
    void aim(int island);
    void setCarry(Carry carry) { m_carry = std::move(carry); }
    void ask() { m_mode = Mode::Asking; } // how many: the target stays while a popup asks
    void reset();

    [[nodiscard]] Mode mode() const { return m_mode; }
    [[nodiscard]] bool isActive() const { return m_mode != Mode::Idle && m_mode != Mode::Pressed; }
    [[nodiscard]] bool isCarrying() const
    {
        return m_mode == Mode::Carrying || m_mode == Mode::KeyCarrying || m_mode == Mode::Asking;
    }
    /// Lasts only while the mouse button is down.
    [[nodiscard]] bool holdsButton() const
    {
        return m_mode != Mode::Idle && m_mode != Mode::KeyCarrying && m_mode != Mode::Asking;
    }
    [[nodiscard]] const Carry &carry() const { return m_carry; }
    [[nodiscard]] int target() const { return m_target; } // island under the carry or the new link; -1 = none
    [[nodiscard]] const MapHit &origin() const { return m_origin; }
    [[nodiscard]] QPointF pressedAt() const { return m_pressedAt; }
    [[nodiscard]] QPointF at() const { return m_at; }
    [[nodiscard]] QRectF band() const { return QRectF(m_pressedAt, m_at).normalized(); }

private:
    [[nodiscard]] Mode dragMode() const;

    Mode m_mode = Mode::Idle;
    MapHit m_origin;
    QPointF m_pressedAt, m_at;
    Carry m_carry;
    int m_target = -1;
    double m_dragDistance = 8;
};

} // namespace trainyard

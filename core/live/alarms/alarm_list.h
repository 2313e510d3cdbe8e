#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The alarms of a session: those that hold, by place, and those that are over, 1,000 together at most.

#include "core/live/alarms/watchman.h"

namespace trainyard::watch {

class AlarmList {
public:
    /// The one that holds; nullptr: none does.
    [[nodiscard]] Alarm *holding(AlarmKind kind, const std::string &place);
    /// Told anew, or in place of the one that holds; keeps when that began and its sentence's beginning.
    void tell(Alarm alarm);
    void end(AlarmKind kind, const std::string &place, Moment at, std::int64_t lastStep);
    /// Of a plan that is not asked any more: those that hold, and those that began in or after `firstStep`.
    void forget(AlarmKind kind, std::int64_t firstStep);
    [[nodiscard]] std::vector<Alarm> &all() { return m_all; }
    /// In the order of Watchman::alarms().
    void sort();
    [[nodiscard]] const std::vector<Alarm> &alarms() const { return m_all; }

private:
    std::vector<Alarm> m_all;
};

} // namespace trainyard::watch

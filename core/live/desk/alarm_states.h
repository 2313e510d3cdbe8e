#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How each alarm stands after all that its log tells: holds or is over, acknowledged by whom, muted until when. Pure;
// of alarms that are over the newest 1,000 stay.

#include "core/live/desk/alarm_entry.h"

#include <map>
#include <vector>

namespace trainyard::desk {

struct AlarmState {
    std::int64_t number = 0;
    std::string rule, place, sentence;
    /// Unix ns of the machine that watches
    Moment raised = 0, cleared = 0;
    /// Unix ns, sender's clock
    Moment since = 0, until = 0;
    Moment acknowledged = 0;
    std::string acknowledgedBy, note;
    /// Unix ns; 0: it is not
    Moment mutedUntil = 0;
    std::string mutedBy;
    /// the last that says so
    std::string undelivered;
    [[nodiscard]] bool holds() const { return cleared == 0; }
    bool operator==(const AlarmState &) const = default;
};

struct RuleMute {
    std::string rule, by, note;
    Moment until = 0;
    bool operator==(const RuleMute &) const = default;
};

class AlarmStates {
public:
    /// What is about an alarm that nobody knows (any more) changes nothing.
    void apply(const AlarmEntry &entry);
    /// by number
    [[nodiscard]] const std::map<std::int64_t, AlarmState> &all() const { return m_all; }
    [[nodiscard]] const AlarmState *of(std::int64_t number) const;
    /// those that hold first, then those that are over, each newest first
    [[nodiscard]] std::vector<AlarmState> listed() const;
    /// of rules, those that ended as well
    [[nodiscard]] const std::map<std::string, RuleMute> &mutes() const { return m_mutes; }
    /// It, or its rule.
    [[nodiscard]] bool isMuted(const AlarmState &alarm, Moment now) const;
    /// that a next alarm gets
    [[nodiscard]] std::int64_t next() const { return m_latest + 1; }

private:
    std::map<std::int64_t, AlarmState> m_all;
    std::map<std::string, RuleMute> m_mutes;
    std::int64_t m_latest = 0;
    std::size_t m_over = 0;
};

} // namespace trainyard::desk

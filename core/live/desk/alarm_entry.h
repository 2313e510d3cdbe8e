#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One line of the log of alarms: what happened to an alarm, when and by whom. The log grows at its end alone; the state
// of all alarms is what its lines add up to (alarm_states.h). Value types, any thread.

#include "core/base/error.h"
#include "core/runs/telemetry/recording.h"

#include <string_view>

namespace trainyard::desk {

enum class AlarmAct : std::uint8_t {
    Raised,
    Cleared,
    Acknowledged,
    /// until a time: it is listed, and nobody is notified
    Muted,
    Unmuted,
    /// a command or a webhook did not take the notice, however often it was tried
    Undelivered
};
/// "raised"
[[nodiscard]] const char *nameOf(AlarmAct act);

struct AlarmEntry {
    /// Unix ns of the machine that wrote it
    Moment at = 0;
    AlarmAct act = AlarmAct::Raised;
    /// of the alarm, counted in its log from 1; 0: of a rule (muted, unmuted)
    std::int64_t number = 0;
    /// of Raised, and of what is about a rule: "clock"
    std::string rule;
    /// of Raised
    std::string place, sentence;
    /// Unix ns, sender's clock, of Raised: the first that showed it; of Cleared: the last; of Muted: its end, ours
    Moment since = 0, until = 0;
    /// who acknowledged or muted; empty: the program itself
    std::string by;
    /// of a person, or why a notice was not taken
    std::string note;
    bool operator==(const AlarmEntry &) const = default;
};

/// JSON without a line break.
[[nodiscard]] std::string lineOf(const AlarmEntry &entry);
/// Errors: BadSyntax, BadValue; `where` names the line.
[[nodiscard]] Expected<AlarmEntry> entryIn(std::string_view line, const std::string &where);

/// Of whom this program runs for, as this machine calls them.
[[nodiscard]] std::string userName();

/// "2026-11-30T02:41:07.250Z"; empty for 0.
[[nodiscard]] std::string isoText(Moment at);
/// Errors: BadValue.
[[nodiscard]] Expected<Moment> momentIn(std::string_view iso, const std::string &where);

} // namespace trainyard::desk

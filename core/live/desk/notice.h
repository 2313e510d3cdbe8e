#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What is told of an alarm to a command or a webhook: that it is raised or over, as an object of JSON. Pure.

#include "core/live/desk/alarm_states.h"

namespace trainyard::desk {

struct Notice {
    /// Raised or Cleared
    AlarmAct act = AlarmAct::Raised;
    AlarmState alarm;
    /// Unix ns
    Moment at = 0;
    /// of the run that is watched: its sources, as their addresses read
    std::string run;
};
/// One line: "format", "version", "event", "number", "rule", "place", "sentence", "since", "until", "at", "run".
[[nodiscard]] std::string messageOf(const Notice &notice);

} // namespace trainyard::desk

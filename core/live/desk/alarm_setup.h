#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a user asks of alarms, as a file says it: rules with thresholds and hold times, and who is notified.
//
//   { "format": "trainyard.alarms", "version": 1,
//     "rules": { "clock": { "threshold": 0.8, "hold_s": 60 }, "waiting": { "on": false }, "xid": { "ignore": [13] } },
//     "notify": [ { "command": ["/usr/local/bin/page", "ops"] }, { "webhook": "http://127.0.0.1:9000/alarm" } ] }
//
// What a file does not name is as usual. Pure but for readAlarmSetup().

#include "core/live/address.h"
#include "core/live/alarms/alarm_rules.h"

#include <vector>

namespace trainyard::desk {

/// Who is notified: a command, or a webhook.
struct NotifyTarget {
    /// program and arguments, run without a shell; empty: a webhook
    std::vector<std::string> command;
    live::Address webhook;
    /// file with a token, shown as Authorization: Bearer
    std::string tokenFile;
    /// of a try
    double timeoutSeconds = 30;
    /// also where an alarm is over
    bool tellsCleared = true;
    /// "/usr/local/bin/page", "http://127.0.0.1:9000": without arguments and path, which may be secrets
    [[nodiscard]] std::string name() const;
    bool operator==(const NotifyTarget &) const = default;
};

struct AlarmSetup {
    watch::AlarmRules rules;
    std::vector<NotifyTarget> targets;
    bool operator==(const AlarmSetup &) const = default;
};

/// Errors: all of them, each with file and JSON pointer or line:column.
[[nodiscard]] ExpectedAll<AlarmSetup> alarmSetupIn(std::string_view text, const std::string &fileName);
[[nodiscard]] ExpectedAll<AlarmSetup> readAlarmSetup(const std::string &path);
/// The file that gives this again.
[[nodiscard]] std::string textOf(const AlarmSetup &setup);

/// "http://127.0.0.1:9000/alarm", "https://…". Errors: BadValue.
[[nodiscard]] Expected<live::Address> webhookNamed(std::string_view url, const std::string &where);
/// Webhooks beyond this machine, which have to be allowed. Errors: BadValue with how.
[[nodiscard]] Errors webhooksElsewhere(const std::vector<NotifyTarget> &targets);

} // namespace trainyard::desk

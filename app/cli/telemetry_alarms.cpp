// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry alarms`: how the alarms of a log stand, and what a person says to them. Whoever watches reads it at once.
#include "app/cli/command.h"
#include "app/cli/json_values_internal.h"

#include "core/base/printable.h"
#include "core/base/text_table.h"
#include "core/base/words.h"
#include "core/live/alarms/alarm_rules.h"
#include "core/live/batch.h"
#include "core/live/desk/alarm_log.h"
#include "core/live/desk/alarm_states.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace trainyard::cli {

namespace {

constexpr double kMostMuteSeconds = 30 * 86'400.0;

struct TelemetryAlarmsOptions {
    std::string log, by, note, length = "1h", format;
    std::vector<std::string> acknowledged, muted, unmuted;
    bool areAll = false;
};

/// "90s", "30m", "8h", "2d". Seconds; empty: it is none.
std::optional<double> lengthIn(std::string_view text)
{
    double value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    const double factor = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : unit == "d" ? 86'400 : 0;
    const double seconds = value * factor;
    return fault == std::errc() && seconds > 0 && seconds <= kMostMuteSeconds ? std::optional(seconds) : std::nullopt;
}

std::optional<std::int64_t> numberIn(std::string_view text)
{
    std::int64_t number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    return fault == std::errc() && end == text.data() + text.size() && number > 0 ? std::optional(number)
                                                                                  : std::nullopt;
}

/// What the options say, each as an entry.
ExpectedAll<std::vector<desk::AlarmEntry>> answersOf(
    const TelemetryAlarmsOptions &options, const desk::AlarmStates &states, Moment now)
{
    std::vector<desk::AlarmEntry> entries;
    Errors faults;
    const std::string by = options.by.empty() ? desk::userName() : options.by;
    const auto length = lengthIn(options.length);
    if (!length)
        faults.push_back(
            { ErrorCode::BadValue, "--for " + options.length, "is no time", "90s, 30m, 8h or 2d; 30 days at most" });
    const auto add = [&](const std::vector<std::string> &whom, const char *option, desk::AlarmAct act) {
        for (const std::string &text : whom) {
            desk::AlarmEntry entry { .at = now, .act = act, .by = by, .note = options.note };
            if (act == desk::AlarmAct::Muted)
                entry.until = now + static_cast<Moment>(length.value_or(0) * 1e9);
            if (const auto number = numberIn(text); number && states.of(*number))
                entry.number = *number;
            else if (act != desk::AlarmAct::Acknowledged && !number && watch::ruleNamed(text))
                entry.rule = text;
            else
                faults.push_back({ ErrorCode::BadValue, std::string(option) + " " + text, "is no alarm of this log",
                    act == desk::AlarmAct::Acknowledged ? "the number of one" : "the number of one, or a rule" });
            entries.push_back(std::move(entry));
        }
    };
    add(options.acknowledged, "--acknowledge", desk::AlarmAct::Acknowledged);
    add(options.muted, "--mute", desk::AlarmAct::Muted);
    add(options.unmuted, "--unmute", desk::AlarmAct::Unmuted);
    if (!faults.empty())
        return std::unexpected(std::move(faults));
    return entries;
}

std::string stateOf(const desk::AlarmState &alarm, const desk::AlarmStates &states, Moment now)
{
    std::string text = alarm.holds() ? "holds" : "over";
    if (alarm.acknowledged != 0)
        text += ", acknowledged by " + printable(alarm.acknowledgedBy);
    if (states.isMuted(alarm, now))
        text += ", muted";
    return text;
}

std::string alarmsTable(const desk::AlarmStates &states, bool areAll, Moment now)
{
    using enum TextTable::Align;
    TextTable table({ Right, Left, Left, Left, Left }, { "number", "rule", "raised", "state", "alarm" });
    int shown = 0;
    for (const desk::AlarmState &alarm : states.listed())
        if (areAll || alarm.holds()) {
            table.add({ std::to_string(alarm.number), alarm.rule, desk::isoText(alarm.raised),
                stateOf(alarm, states, now), printable(alarm.sentence) });
            ++shown;
        }
    std::string text = shown > 0 ? table.text() : areAll ? "No alarm.\n" : "No alarm holds.\n";
    for (const auto &[rule, mute] : states.mutes())
        if (mute.until > now)
            text += "muted until " + desk::isoText(mute.until) + " by " + printable(mute.by) + ": " + rule + "\n";
    return text;
}

std::string alarmsJson(const desk::AlarmStates &states, bool areAll, Moment now)
{
    const auto textOrNull = [](const std::string &text) { return text.empty() ? Json(nullptr) : Json(text); };
    Json json { { "alarms", Json::array() }, { "muted", Json::array() } };
    for (const desk::AlarmState &alarm : states.listed())
        if (areAll || alarm.holds())
            json["alarms"].push_back({ { "number", alarm.number }, { "rule", alarm.rule }, { "place", alarm.place },
                { "sentence", alarm.sentence }, { "holds", alarm.holds() },
                { "raised", textOrNull(desk::isoText(alarm.raised)) },
                { "cleared", textOrNull(desk::isoText(alarm.cleared)) },
                { "since", textOrNull(desk::isoText(alarm.since)) },
                { "until", textOrNull(desk::isoText(alarm.until)) },
                { "acknowledged", textOrNull(desk::isoText(alarm.acknowledged)) },
                { "acknowledged_by", textOrNull(alarm.acknowledgedBy) }, { "note", textOrNull(alarm.note) },
                { "muted", states.isMuted(alarm, now) }, { "undelivered", textOrNull(alarm.undelivered) } });
    for (const auto &[rule, mute] : states.mutes())
        if (mute.until > now)
            json["muted"].push_back({ { "rule", rule }, { "until", desk::isoText(mute.until) }, { "by", mute.by } });
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int runAlarms(const TelemetryAlarmsOptions &options)
{
    auto log = desk::AlarmLog::open(options.log, desk::LogUse::Answer);
    if (!log)
        return fail({ log.error() });
    desk::AlarmStates states;
    for (const desk::AlarmEntry &entry : (*log)->readNew())
        states.apply(entry);
    if ((*log)->unread() > 0)
        return fail({ { ErrorCode::BadSyntax, options.log, counted((*log)->unread(), "line") + " of it cannot be read",
            "a log of alarms" } });
    const Moment now = live::unixNow();
    const auto answers = answersOf(options, states, now);
    if (!answers)
        return fail(answers.error());
    for (const desk::AlarmEntry &entry : *answers) {
        if (const auto written = (*log)->append(entry); !written)
            return fail({ written.error() });
        states.apply(entry);
    }
    return print(
        options.format == "json" ? alarmsJson(states, options.areAll, now) : alarmsTable(states, options.areAll, now),
        options.format);
}

} // namespace

void addTelemetryAlarms(const Subcommand &telemetry, int &exitCode)
{
    const auto options = std::make_shared<TelemetryAlarmsOptions>();
    const Subcommand command(
        telemetry, "alarms", "How the alarms of a log stand; acknowledges and mutes them, also while they are watched");
    command.text("LOG", options->log, "Log of alarms, as `telemetry watch --log` writes it").required();
    command.texts("--acknowledge", options->acknowledged, "Alarm, by its number").shownAs("N").oneEach();
    command.texts("--mute", options->muted, "Alarm by its number, or rule: nobody is notified")
        .shownAs("N|RULE")
        .oneEach();
    command.text("--for", options->length, "How long a mute holds: 90s, 30m, 8h, 2d").shownAs("T").showingDefault();
    command.texts("--unmute", options->unmuted, "Alarm or rule").shownAs("N|RULE").oneEach();
    command.text("--by", options->by, "Who says so, in place of the user's name").shownAs("NAME");
    command.text("--note", options->note, "What is to be known of it").shownAs("TEXT");
    command.flag("--all", options->areAll, "Also those that are over");
    addFormatOption(command, options->format, { "table", "json" });
    command.callback([options, &exitCode] { exitCode = runAlarms(*options); });
}

} // namespace trainyard::cli

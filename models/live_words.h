#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of live sources, of what was lost, of alarms and what-ifs, as sentences. Pure functions.

#include "models/live_document.h"

namespace trainyard {

/// "Live", "Trying again in 4 s: connection refused by 127.0.0.1:9090", "Stale, silent for 34 s". `now`: Unix ns.
[[nodiscard]] QString stateText(const live::SourceStatus &status, Moment now);
/// The state without its reason: "Trying again in 4 s".
[[nodiscard]] QString stateName(const live::SourceStatus &status, Moment now);
/// "127.0.0.1:9090", "train.log", "replay of march-run": short, for strips.
[[nodiscard]] QString shortName(const live::Address &address);
/// "1,204 batches, 31 MB; 3 connected".
[[nodiscard]] QString amountText(const live::SourceStatus &status);
/// "2.1 MB came too fast or while paused; 41 samples later than 30 s; 2 clients were refused." Empty: nothing was.
[[nodiscard]] QString droppedSentence(const std::vector<LiveSourceRow> &rows, const live::StoreCounts &counts);
/// "14:02:31" of a Unix time, by this machine's clock.
[[nodiscard]] QString clockText(Moment at);
/// "Slow link, since step 1,240", "Silent, over: steps 12 to 40".
[[nodiscard]] QString alarmNote(const watch::Alarm &alarm);
/// "acknowledged by ada at 14:02:31: being looked at", "muted until 15:02:31 by ada". `now`: Unix ns. Empty: nothing.
[[nodiscard]] QString alarmAnswers(const desk::AlarmState &state, Moment now);
/// What a rule is called, its threshold with unit, and its hold time: "Clock", "0.8 share", "60 s"; "off" for both.
[[nodiscard]] QStringList ruleRow(const watch::RuleTraits &traits, const watch::AlarmRules &rules);
/// A step and its time against the plan's: "12.4 s, plan 11.9 s (+4.2 %)".
[[nodiscard]] QString againstPlan(double measured, double predicted);
/// The answer of a what-if, or why there is none.
[[nodiscard]] QString answerText(const LiveWhatIf &one);

/// With tabs between the columns and a line of titles.
[[nodiscard]] QString alarmsTsv(const LiveDocument &live);
[[nodiscard]] QString whatIfsTsv(const std::vector<LiveWhatIf> &all);

} // namespace trainyard

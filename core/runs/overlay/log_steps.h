#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Steps as logs tell them: how long each took, by their numbers, and when they ended, by the log's clock. And how a
// profiler's steps are found among them: both count from a start of their own, and clocks of logs name no zone.

#include "core/runs/overlay/run_steps.h"

#include <map>
#include <set>

namespace trainyard {

struct LogSteps {
    /// by number
    std::map<std::int64_t, double> seconds;
    /// by number, of the last attempt
    std::map<std::int64_t, Moment> ended;
    /// of attempts
    std::set<std::int64_t> firsts;
    std::set<std::int64_t>
        untimed; // whose time is told and is none: not a number, not above 0, or longer than any step
    std::vector<std::string> notes;
};
[[nodiscard]] LogSteps logSteps(const Recording &recording);
/// "7 steps tell no usable time and do not count".
[[nodiscard]] std::string untimedText(const LogSteps &log);

/// How a profiler's numbers become the log's.
struct StepJoin {
    bool isJoined = false;
    /// to the profiler's numbers
    std::int64_t added = 0;
    /// of the log's clock beyond the profiler's, ns
    std::optional<Moment> clockOffset;
    std::string note;
};
/// By the ends of steps, where both tell them: the offset of the clocks has to be near nothing, or near the quarters of
/// an hour by which zones differ. Without ends by their numbers, where the times of equal numbers agree within a
/// quarter; else they are not joined. `windows`: by number, all with spans.
[[nodiscard]] StepJoin joinSteps(const std::vector<RunStep> &windows, bool areAnnotated, const LogSteps &log);

} // namespace trainyard

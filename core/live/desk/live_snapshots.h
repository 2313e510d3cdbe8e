#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A snapshot of a live session made into a run, and what is picked from it. Pure but for the feed; beside the GUI
// thread.

#include "core/live/alarms/watchman.h"
#include "core/live/desk/live_feed.h"

namespace trainyard {

struct LiveSnapshotAsked {
    /// the step that is looked at; empty: the newest
    std::optional<std::int64_t> until;
    /// beside `until`, for the watchman
    bool wantsNewest = false;
    /// told before: those since then come with their spans, so that all are watched
    std::int64_t stepsKnown = 0;
    /// as the last state had them; 0: nobody knows
    std::int64_t spansPerStep = 0;
    /// revision of the last state
    Moment lastKnown = 0;
};

struct LiveState {
    bool hasNews = false;
    /// as asked for; null: nothing is there to show yet
    RunPtr run;
    /// null: not asked for, or `run` is it
    RunPtr newest;
    std::vector<watch::Heard> heard;
    live::StoreCounts counts;
    Moment revision = 0;
    std::int64_t stepsTold = 0, spansPerStep = 0;
};
/// How many of the latest steps are asked for with their spans: all new ones, some more to compare with, and no more
/// spans than can be laid under a plan in a moment.
[[nodiscard]] int stepsWithSpans(std::int64_t fresh, std::int64_t spansPerStep);
[[nodiscard]] LiveState liveState(const LiveFeed &feed, const LiveSnapshotAsked &asked);

/// The newest step that as many ranks have told as those before it; of steps that logs tell the last. Empty: none.
[[nodiscard]] std::optional<std::int64_t> newestWholeStep(const Run &run);

} // namespace trainyard

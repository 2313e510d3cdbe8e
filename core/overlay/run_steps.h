#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a recorded run did, step by step, before any plan is asked: its clocks made one, its collectives matched, its
// steps with their times, and for each rank and step where its time went. Made once for a recording, then only read.

#include "core/telemetry/align.h"
#include "core/telemetry/recording.h"

#include <memory>
#include <optional>
#include <span>
#include <stop_token>

namespace trainyard {

using RecordingPtr = std::shared_ptr<const Recording>;

/// One training step of the whole job. From profiler spans: from the first start to the last end over its ranks, on the
/// aligned clock; from logs alone: only its seconds.
struct RunStep {
    std::int64_t number = 0;
    Moment start = kNoMoment, end = kNoMoment; // kNoMoment: no spans show it
    double seconds = 0; // what it took: a log's figure where there is one, else end - start
    bool isWarmUp = false; // the first of the recording, or one that compiles: left out of medians
    bool isOutlier = false; // checkpoint, evaluation, restart: over 1.5 × the median; left out too
    bool operator==(const RunStep &) const = default;
};

/// Where the seconds of one rank's step went; the parts add up to `total`.
struct TimeShares {
    double compute = 0; // some kernel computed
    double communication = 0; // exposed: only communication ran, and it moved data (least duration over its ranks);
                              // copies to and from the host count here too
    double stragglers = 0; // exposed, in a collective beyond its least duration: waiting for the last rank
    double bubble = 0; // nothing ran, or waiting in a receive, for another stage
    double host = 0; // nothing ran because the host had not launched the next kernel yet
    [[nodiscard]] double total() const { return compute + communication + stragglers + bubble + host; }
    bool operator==(const TimeShares &) const = default;
};

struct RankStep {
    std::uint32_t rank = 0; // of Recording::ranks
    TimeShares shares;
};

/// A recording made ready to be compared. Immutable behind its pointer.
struct Run {
    RecordingPtr recording; // aligned
    ClockAlignment alignment;
    std::vector<MatchedCollective> collectives;
    std::vector<RunStep> steps; // by number; of attempts that repeat one the last
    std::vector<std::string> notes; // sentences: what was refused, guessed or left out
    /// Of the steps that count: neither warm-up nor outlier; all where none is left. 0: there are no steps.
    double medianSeconds = 0;
    /// Index of the step with spans nearest to the median; else of the step nearest to it; -1: there are none.
    int typicalStep = -1;
};
using RunPtr = std::shared_ptr<const Run>;

/// Aligns clocks, matches collectives and finds the steps. A recording without profiler steps but with spans is one
/// step, number 0, with a note that says so.
[[nodiscard]] RunPtr makeRun(Recording recording, std::stop_token stop = {});
/// Of each rank that shows spans in the step, in their order. Empty for a step without spans.
[[nodiscard]] std::vector<RankStep> sharesOf(const Run &run, const RunStep &step);

} // namespace trainyard

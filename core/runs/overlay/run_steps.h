#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a recorded run did, step by step, before any plan is asked: its clocks made one, its collectives matched, its
// steps with their times, and for each rank and step where its time went. Made once for a recording, then only read.

#include "core/runs/telemetry/align.h"
#include "core/runs/telemetry/recording.h"

#include <memory>
#include <optional>
#include <span>
#include <stop_token>

namespace trainyard {

/// span_index.h
class SpanIndex;

using RecordingPtr = std::shared_ptr<const Recording>;

/// A step as one rank shows it, on the job's clock (Run::clockShift added to the rank's moments). Its host annotates
/// where the step begins and ends; on its GPU the boundary lies after the work that was launched before it, and not
/// after the first work launched behind it, so that steps of a rank follow each other without overlap.
struct RankWindow {
    /// of Recording::ranks
    std::uint32_t rank = 0;
    Moment start = 0, end = 0;
    bool operator==(const RankWindow &) const = default;
};

/// One training step of the whole job. From profiler spans: from the first start to the last end over its ranks, on the
/// aligned clock; from logs alone: only its seconds.
struct RunStep {
    std::int64_t number = 0;
    /// kNoMoment: no spans show it
    Moment start = kNoMoment, end = kNoMoment;
    /// what it took: a log's figure where there is one, else end - start, or its period
    double seconds = 0;
    /// Its neighbours lie over it, since ranks do not wait for each other at its ends: its seconds are the period, the
    /// mean of its windows over the ranks.
    bool overlaps = false;
    /// seconds are a log's
    bool isOfLog = false;
    /// that show it, in their order; of several files of one rank the first
    std::vector<RankWindow> ranks;
    /// the first of the recording, or one that compiles: left out of medians
    bool isWarmUp = false;
    /// checkpoint, evaluation, restart: over 1.5 × the median; left out too
    bool isOutlier = false;
    [[nodiscard]] bool hasSpans() const { return start != kNoMoment; }
    bool operator==(const RunStep &) const = default;
};

/// Where the seconds of one rank's step went; the parts add up to `total`.
struct TimeShares {
    /// some kernel computed
    double compute = 0;
    /// exposed: only communication ran, and it moved data (least duration over its ranks); copies to and from the host
    /// count here too
    double communication = 0;
    /// exposed, in a collective beyond its least duration: waiting for the last rank
    double stragglers = 0;
    /// nothing ran, or waiting in a receive, for another stage
    double bubble = 0;
    /// nothing ran because the host had not launched the next kernel yet
    double host = 0;
    [[nodiscard]] double total() const { return compute + communication + stragglers + bubble + host; }
    bool operator==(const TimeShares &) const = default;
};

/// Exposed communication of one kind: of a group and an operation.
struct ExposedPart {
    /// Recording::groups; kNoIndex: not told
    std::uint32_t group = kNoIndex;
    /// Recording::names; kNoIndex: not told
    std::uint32_t operation = kNoIndex;
    /// memory copies and sets; group and operation are kNoIndex
    bool isCopy = false;
    double seconds = 0;
    bool operator==(const ExposedPart &) const = default;
};

struct RankStep {
    /// of Recording::ranks
    std::uint32_t rank = 0;
    TimeShares shares;
    /// adds up to shares.communication
    std::vector<ExposedPart> exposed;
};

/// A recording made ready to be compared. Immutable behind its pointer.
struct Run {
    /// aligned
    RecordingPtr recording;
    ClockAlignment alignment;
    std::vector<MatchedCollective> collectives;
    /// by number; of attempts that repeat one the last
    std::vector<RunStep> steps;
    /// sentences: what was refused, guessed or left out
    std::vector<std::string> notes;
    /// Of the steps that count: neither warm-up nor outlier; all where none is left. 0: there are no steps.
    double medianSeconds = 0;
    /// Index of the step with spans nearest to the median; else of the step nearest to it; -1: there are none.
    int typicalStep = -1;
    /// Of each rank, added to its moments to lay its steps over the job's: 0 but for those whose clock was refused and
    /// is far off.
    std::vector<Moment> clockShift;
    /// of its pipelines; 2 may be more where only transfers tell it; 0: unknown
    int stages = 0;
    /// by its arguments; false: concluded from what is recorded
    bool areStagesTold = false;
    /// Added to Recording::zero + a moment to read a log's clock; empty where no step tells both.
    std::optional<Moment> logOffset;
    /// where the spans of a step begin; null: there are none
    std::shared_ptr<const SpanIndex> spans;
};
using RunPtr = std::shared_ptr<const Run>;

/// Index of the step of that number; -1: there is none.
[[nodiscard]] int stepIndex(const Run &run, std::int64_t number);

/// Aligns clocks, matches collectives and finds the steps. A recording without profiler steps but with spans is one
/// step, number 0, with a note that says so.
[[nodiscard]] RunPtr makeRun(Recording recording, std::stop_token stop = {});
/// Of each rank that shows spans of its GPU in the step, in their order; each adds up to end - start of the step. Empty
/// for a step without spans. At each moment the first of these that holds takes it:
///  1. some kernel computes, on any stream: compute;
///  2. a collective moves data, or a copy runs: communication. Of a collective that is matched over ranks its last part
///     moves data, as long as its shortest on any rank; of transfers between stages that are not matched, as long as
///     the shortest of equal size on this rank; of others all of it, since one rank alone does not tell waiting;
///  3. a collective waits for its last rank: stragglers;
///  4. a transfer between stages waits for the other stage: bubble;
///  5. nothing runs. Up to the moment at which the host launches what runs next: host. From there on, bubble where the
///     job has stages or may have, else host. Where nobody tells the launch: bubble where it has stages, else host.
/// `planStages`: of the plan that the run lies under, for a run whose arguments tell no stages; 0: no plan.
[[nodiscard]] std::vector<RankStep> sharesOf(const Run &run, const RunStep &step, int planStages = 0);

} // namespace trainyard

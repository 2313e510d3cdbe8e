#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Front door of the room: a run laid under a plan. Rows of the measured step for the timeline's tracks, identified so
// that they stay with their place when the schedule changes; the difference table; curves over the steps with what the
// plan says; stragglers, slow links, ranks that nobody recorded. An immutable value, made beside the GUI thread; views
// draw it and change nothing.

#include "core/engine/timeline/timeline.h"
#include "core/runs/overlay/differences.h"
#include "core/runs/overlay/suspects.h"

namespace trainyard {

/// Identity of a row across plans, schedules and recordings: what work of which place, not which index.
struct TrackKey {
    int firstReplica = 0, replicas = 1; // of the class of pipelines
    int stage = 0;
    Stream stream = Stream::Compute;
    int peer = -1; // stage at the other end, of transfers
    bool operator==(const TrackKey &) const = default;
    auto operator<=>(const TrackKey &) const = default;
};
[[nodiscard]] TrackKey keyOf(const Evaluation &evaluation, const Track &track);

/// What was measured for one row of the chart, of one rank of the ranks that the row stands for. What a rank does is on
/// one of the rows of its place: transfers between stages on that to the other stage, exchanges between replicas on the
/// collectives', copies on those of what leaves the GPU; on the compute row what computes, and what has no row of its
/// own. Without a plan a row is a stream of a rank: key {rank, 1, number among its streams, its stream, -1}.
struct MeasuredRow {
    TrackKey key;
    std::string label; // "rank 3, stream 7", of rows without a plan; else empty
    std::vector<int> ranks; // of the job that this row stands for, ascending
    std::vector<int> missing; // of those, nobody recorded them: hatched where all are
    int shown = -1; // the rank whose spans these are: the slowest of those recorded; -1: none is
    // Spans in order of start, nanoseconds since the start of the step (may be negative, may reach over its end)
    std::vector<Nanoseconds> start, end;
    std::vector<RecordedWork> work;
    std::vector<std::uint32_t> name; // Recording::names
    [[nodiscard]] std::size_t size() const { return start.size(); }
};

/// One quantity over the steps, with what the plan says of it.
struct RunCurve {
    std::string name, title, unit; // samples::…; "Step time"; SI or "1"
    std::string where; // rank, host or link; empty: the job
    std::vector<double> step, value; // value NaN: a gap
    bool isOverTime = false; // no step tells when its samples were taken: `step` is seconds since the first of them
    std::optional<double> predicted;
};

struct OverlayOptions {
    std::optional<std::int64_t> step; // by number; empty: the typical one
    std::optional<int> rank; // shown wherever its row has it; empty: the slowest of each row
    std::optional<RankOrder> order; // empty: as the run's arguments tell, else data before pipeline
};

struct RunOverlay {
    EvaluationPtr evaluation; // the plan it lies under; null: a run alone
    RunPtr run, reference; // reference: another run that it is compared with; may be null
    RankOrder order = RankOrder::DataBeforePipeline; // of its ranks under the plan
    int step = -1; // index into run->steps
    Nanoseconds duration = 0; // of the step; 0 where no spans show it
    std::vector<MeasuredRow>
        rows; // of every track of the plan that a run can show; without a plan one a rank and stream
    DifferenceTable differences;
    std::vector<RunCurve> curves; // step time first
    Suspects suspects;
    std::vector<int> missingRanks; // of the plan's world
    // First where both are of different jobs: "The run has 8 ranks, the plan 16: rows of ranks 8 to 15 stay empty"
    std::vector<std::string> notes;
    std::vector<std::string> curveNotes; // those of `notes` that are about the curves, and depend on no step
    [[nodiscard]] const MeasuredRow *rowOf(const TrackKey &key) const; // nullptr: none
};
using RunOverlayPtr = std::shared_ptr<const RunOverlay>;

/// A run under a plan. A plan without an iteration (jobs alone, infeasible) gives the run alone, with a note; so does
/// no plan, without one. `previous`: an overlay of the same plan and run, for another step or rank: what does not
/// depend on these is taken from it.
[[nodiscard]] RunOverlayPtr overlayRun(const EvaluationPtr &evaluation, const RunPtr &run,
    const OverlayOptions &options, const RunOverlayPtr &previous = nullptr);
/// A run against another: typical step against chosen step; rows are those of `run`.
[[nodiscard]] RunOverlayPtr overlayRuns(
    const RunPtr &reference, const RunPtr &run, const OverlayOptions &options, const RunOverlayPtr &previous = nullptr);

} // namespace trainyard

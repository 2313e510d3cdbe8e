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
    /// of the class of pipelines
    int firstReplica = 0, replicas = 1;
    int stage = 0;
    Stream stream = Stream::Compute;
    /// stage at the other end, of transfers
    int peer = -1;
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
    /// "rank 3, stream 7", of rows without a plan; else empty
    std::string label;
    /// of the job that this row stands for, ascending
    std::vector<int> ranks;
    /// of those, nobody recorded them: hatched where all are
    std::vector<int> missing;
    /// the rank whose spans these are: the slowest of those recorded; -1: none is
    int shown = -1;
    // Spans in order of start, nanoseconds since the start of the step (may be negative, may reach over its end)
    std::vector<Nanoseconds> start, end;
    std::vector<RecordedWork> work;
    /// Recording::names
    std::vector<std::uint32_t> name;
    [[nodiscard]] std::size_t size() const { return start.size(); }
};

/// One quantity over the steps, with what the plan says of it.
struct RunCurve {
    /// samples::…; "Step time"; SI or "1"
    std::string name, title, unit;
    /// rank, host or link; empty: the job
    std::string where;
    /// value NaN: a gap
    std::vector<double> step, value;
    /// no step tells when its samples were taken: `step` is seconds since the first of them
    bool isOverTime = false;
    std::optional<double> predicted;
};

struct OverlayOptions {
    /// by number; empty: the typical one
    std::optional<std::int64_t> step;
    /// shown wherever its row has it; empty: the slowest of each row
    std::optional<int> rank;
    /// empty: as the run's arguments tell, else data before pipeline
    std::optional<RankOrder> order;
};

struct RunOverlay {
    /// the plan it lies under; null: a run alone
    EvaluationPtr evaluation;
    /// reference: another run that it is compared with; may be null
    RunPtr run, reference;
    /// of its ranks under the plan
    RankOrder order = RankOrder::DataBeforePipeline;
    /// index into run->steps
    int step = -1;
    /// of the step; 0 where no spans show it
    Nanoseconds duration = 0;
    std::vector<MeasuredRow>
        rows; // of every track of the plan that a run can show; without a plan one a rank and stream
    DifferenceTable differences;
    /// step time first
    std::vector<RunCurve> curves;
    Suspects suspects;
    /// of the plan's world
    std::vector<int> missingRanks;
    // First where both are of different jobs: "The run has 8 ranks, the plan 16: rows of ranks 8 to 15 stay empty"
    std::vector<std::string> notes;
    /// those of `notes` that are about the curves, and depend on no step
    std::vector<std::string> curveNotes;
    /// nullptr: none
    [[nodiscard]] const MeasuredRow *rowOf(const TrackKey &key) const;
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

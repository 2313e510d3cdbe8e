#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where the time went that plan and run disagree about: a step of each taken apart into the same kinds of work, so that
// the differences add up to the difference of the steps.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/runs/overlay/run_steps.h"

#include <array>

namespace trainyard {

enum class DifferenceKind : std::uint8_t {
    /// plan: compute and optimizer
    Compute,
    /// plan: tensor, context, expert, data parallel, pipeline, WAN, offload stall
    ExposedCommunication,
    Bubble,
    /// plan: 0, its replicas are as fast as their hardware
    Stragglers,
    /// plan: overhead
    Host,
    /// a run that shows no spans: its step as one piece. Last; 0 with spans
    Untold,
};
inline constexpr int kDifferenceKindCount = 6;
/// "Exposed communication"
[[nodiscard]] const char *nameOf(DifferenceKind kind);

struct DifferenceRow {
    DifferenceKind kind = DifferenceKind::Compute;
    /// seconds of a step, mean over the ranks
    double reference = 0, measured = 0;
    /// False: that side does not tell this kind apart; what there is of it is in Untold.
    bool isReferenceTold = true, isMeasuredTold = true;
    [[nodiscard]] double difference() const { return measured - reference; }
    bool operator==(const DifferenceRow &) const = default;
};

[[nodiscard]] constexpr std::array<DifferenceRow, kDifferenceKindCount> emptyDifferences()
{
    std::array<DifferenceRow, kDifferenceKindCount> rows;
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i].kind = static_cast<DifferenceKind>(i);
    return rows;
}

struct DifferenceTable {
    /// in the order of the enum
    std::array<DifferenceRow, kDifferenceKindCount> rows = emptyDifferences();
    /// of the step: the sums of the columns
    double referenceSeconds = 0, measuredSeconds = 0;
    /// that the measured column is the mean of
    int ranks = 0;
    /// "plan", "step 12 of run.json"
    std::string referenceName, measuredName;
    /// where both are of different jobs; what the kinds leave out; a sentence each
    std::vector<std::string> notes;
    /// What tells that the run is another job than the plan, "sequences per step 64, plan 128": nothing is to be held
    /// against each other. Empty: nothing tells so.
    std::string otherJob = {};
    bool operator==(const DifferenceTable &) const = default;
};

/// [DifferenceKind]
using SecondsByKind = std::array<double, kDifferenceKindCount>;
/// Each part of a plan's iteration, and of a rank's step, is of one of the kinds.
[[nodiscard]] SecondsByKind secondsByKind(const Breakdown &parts);
[[nodiscard]] SecondsByKind secondsByKind(const TimeShares &shares);

/// What differences() take apart, for callers who have taken the step apart already: sharesOf() with planStages().
/// of its pipelines; 0: nothing is placed
[[nodiscard]] int planStages(const Evaluation &plan);
[[nodiscard]] DifferenceTable differences(
    const Evaluation *plan, const Run &run, const RunStep &step, const std::vector<RankStep> &shares);

/// Plan against one step of a run.
[[nodiscard]] DifferenceTable differences(const Evaluation &plan, const Run &run, const RunStep &step);
/// A step alone: nothing is told of a reference.
[[nodiscard]] DifferenceTable differences(const Run &run, const RunStep &step);
/// A step of one run against a step of another.
[[nodiscard]] DifferenceTable differences(
    const Run &reference, const RunStep &referenceStep, const Run &run, const RunStep &step);

} // namespace trainyard

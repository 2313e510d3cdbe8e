#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where the time of a step goes, place by place: the kinds of work of differences.h on each stage of a plan beside the
// ranks that ran it, or on each rank of two runs. The kinds of a place add up to its step, so that time is compared
// where no span of the one is a span of the other. Pure functions.

#include "core/iteration/placement/rank_map.h"
#include "core/runs/overlay/differences.h"

namespace trainyard {

/// Time of one kind at one place.
struct PlaceDifference {
    /// "stage 3", "pipelines 1–4, stage 3"; of two runs "rank 5"; of all together empty
    std::string place;
    DifferenceKind kind = DifferenceKind::Compute;
    /// seconds of one GPU, mean over those of the place
    double reference = 0, measured = 0;
    /// false: nobody recorded the place there
    bool isReferenceTold = true, isMeasuredTold = true;
    /// of the place
    int gpus = 1;
    [[nodiscard]] bool isTold() const { return isReferenceTold && isMeasuredTold; }
    [[nodiscard]] double difference() const { return measured - reference; }
    bool operator==(const PlaceDifference &) const = default;
};

/// By stage, in the order of replicas and stages, then of the kinds; kinds that take no time on either side are left
/// out. A plan has nobody wait in a collective: there, and where stages wait for each other in the last collectives of
/// a step, all waiting is of the kind Bubble on both sides. Empty where the plan has no iteration or the step shows no
/// spans. `order`: of the run's ranks under the plan.
[[nodiscard]] std::vector<PlaceDifference> placeDifferences(
    const Evaluation &plan, const Run &run, const RunStep &step, RankOrder order);
/// By rank, of a step of each; ranks without a number are left out. Empty where either step shows no spans.
[[nodiscard]] std::vector<PlaceDifference> placeDifferences(
    const Run &reference, const RunStep &referenceStep, const Run &run, const RunStep &step);

/// A row for each kind, mean over the GPUs of the places that both sides tell.
[[nodiscard]] std::vector<PlaceDifference> kindDifferences(const std::vector<PlaceDifference> &places);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the curves show, taken from an evaluation as plain vectors: pure functions of values, so that tests can compare
// them with the core's. Time is cut into equal buckets of the whole iteration.

#include "core/evaluation/evaluate/evaluation.h"

#include <string>
#include <vector>

namespace trainyard {

/// Share of each bucket that a stage's GPUs spend in training computation, mean over all its pipelines; 0..1.
[[nodiscard]] std::vector<double> stageUtilization(const Evaluation &evaluation, int stage, int buckets);
/// The same over all stages: every pipeline and stage counts once.
[[nodiscard]] std::vector<double> fleetUtilization(const Evaluation &evaluation, int buckets);
/// The same with prefill in the bubbles, as the timeline has it: that of each class's first pipeline for all of them.
/// Empty where nothing is served.
[[nodiscard]] std::vector<double> filledUtilization(const Evaluation &evaluation, int buckets);
/// Stages that have a compute track: 0 .. count - 1.
[[nodiscard]] int stageCount(const Evaluation &evaluation);

struct WanFlow { // one direction of one link
    int link = 0;
    /// 0: between[0] → between[1]
    int direction = 0;
    /// "Oregon → Iowa"
    std::string name;
    double capacityGbps = 0;
    /// mean of each bucket; times the bucket it adds up to the bytes of the metrics
    std::vector<double> gbps;
    struct Turn {
        int member = 0;
        std::vector<double> gbps;
    }; // of a cell
    /// where pipelines take turns: the part of each, which add up to the above
    std::vector<Turn> turns;
};
/// Directions that carry anything. The bytes of a direction are spread evenly over the time of its transfers: spans of
/// WAN tracks, or where there are none (data parallel across datacenters) the gradient reductions.
[[nodiscard]] std::vector<WanFlow> wanFlows(const Evaluation &evaluation, int buckets);

struct MemoryPoint {
    double seconds = 0;
    double bytes = 0;
};
/// A stage's memory curve, thinned to the highest point of each of at most `buckets` slices: peaks are never lost.
[[nodiscard]] std::vector<MemoryPoint> memoryCurve(const Evaluation &evaluation, int stage, int buckets);
/// Bytes at a time of the iteration, exactly as the steps say; 0 before the first.
[[nodiscard]] double memoryAt(const std::vector<Evaluation::MemoryStep> &steps, double seconds);
/// The same as if every activation stayed on the GPU; empty where they do.
[[nodiscard]] std::vector<MemoryPoint> memoryCurveKept(const Evaluation &evaluation, int stage, int buckets);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Recompute, offload, keep (the ROK curve of SSDTrain, arXiv 2408.10013): what each way of treating activations reaches
// over micro-batch sizes, the activation peak of the fullest GPU against the model throughput. The peak is the
// authors': the most that is allocated in an iteration less what was before it, so that a layer which is recomputed
// counts, as do gradients and logits at work. Every point is an evaluated plan. Pure functions, any thread.

#include "core/evaluation/advice/evaluate.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

enum class ActivationWay : std::uint8_t { Recompute, Offload, Keep };
inline constexpr int kActivationWays = 3;
/// "recompute", "offload", "keep".
[[nodiscard]] const char *toString(ActivationWay);

struct RokPoint {
    ActivationWay way = ActivationWay::Keep;
    int microBatch = 1;
    PlanPtr plan;
    /// for undo: "Recompute with micro-batch 4"
    std::string sentence;
    /// bytes on the GPU that holds most for its micro-batches: what they keep, and what comes and goes beside that
    double activationPeak = 0;
    /// bytes of it that are kept from forward to backward
    double kept = 0;
    /// model FLOPs, recomputation not counted, over the iteration
    double tflopsPerGpu = 0;
    /// seconds
    double iterationTime = 0;
    /// seconds of it in which compute waits for activations to return
    double stall = 0;
    /// bytes of the fullest GPU
    std::int64_t device = 0, capacity = 0;
    bool fits = false;
    /// the plan itself
    bool isCurrent = false;
};

/// Plans of one way, micro-batches 1, 2, 4 … and the present one, as far as the global batch divides by them. All else
/// stays; offload goes where the plan has it, otherwise to drives where every pool has some, otherwise to host memory.
[[nodiscard]] std::vector<RokPoint> rokPlans(const PlanPtr &plan, ActivationWay way);

/// Fills in what an evaluation says. False where memory or throughput is not modelled.
[[nodiscard]] bool readRokPoint(RokPoint &point, const Evaluation &evaluation);

/// A point that is missing, and why.
struct RokGap {
    ActivationWay way = ActivationWay::Keep;
    int microBatch = 1;
    std::string why;
};

struct RokCurve {
    /// way by way, by growing micro-batch
    std::vector<RokPoint> points;
    /// plans without memory or throughput, and those that cannot be evaluated
    std::vector<RokGap> gaps;
    /// before all points were there
    bool isStopped = false;
};
[[nodiscard]] RokCurve rokCurve(
    const PlanPtr &plan, const Catalogue &catalogue, EvaluationWorkspace &workspace, const std::stop_token &stop = {});

/// Why there is no such curve, in one sentence; empty where there is.
[[nodiscard]] std::string whyNoRok(const Plan &plan);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Recompute, offload, keep (the ROK curve of SSDTrain, arXiv 2408.10013): what each way of treating activations reaches
// over micro-batch sizes, the activation peak of the fullest GPU against the model throughput. Every point is an
// evaluated plan. Pure functions, any thread.

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
    std::string sentence; // for undo: "Recompute with micro-batch 4"
    double activationPeak = 0; // bytes of activations on the GPU that holds most of them
    double tflopsPerGpu = 0; // model FLOPs, recomputation not counted, over the iteration
    double iterationTime = 0; // seconds
    double stall = 0; // seconds of it in which compute waits for activations to return
    std::int64_t device = 0, capacity = 0; // bytes of the fullest GPU
    bool fits = false;
    bool isCurrent = false; // the plan itself
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
    std::vector<RokPoint> points; // way by way, by growing micro-batch
    std::vector<RokGap> gaps; // plans without memory or throughput, and those that cannot be evaluated
    bool isStopped = false; // before all points were there
};
[[nodiscard]] RokCurve rokCurve(
    const PlanPtr &plan, const Catalogue &catalogue, EvaluationWorkspace &workspace, const std::stop_token &stop = {});

/// Why there is no such curve, in one sentence; empty where there is.
[[nodiscard]] std::string whyNoRok(const Plan &plan);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where the figures of a plan's stages come from, chosen once. The layers of a model are one source: they make times,
// bytes and FLOPs. Measured stage times are another: they say how long a stage takes, and nothing of what it is made
// of. Everybody else asks what is known, never which source it is.

#include "core/base/units.h"
#include "core/facts/plan/plan.h"

#include <vector>

namespace trainyard {

struct StageFacts {
    /// what stages consist of is known: FLOPs, kernels, and what another shape would take
    bool hasLayers = true;
    /// bytes of parameters, states and activations on a GPU
    bool hasMemory = true;
    /// a boundary's bytes are of a whole pipeline, not of one context rank
    bool sendsWhole = false;
    /// times include what stages exchange inside a datacenter, and what the framework adds
    bool includesFabric = false;
    /// layers were measured: what lies beside them takes no time
    bool layersOnly = false;
};
[[nodiscard]] StageFacts stageFacts(const Plan &plan);
/// What the plan moves off the GPU: nothing where nobody knows what lies on it.
[[nodiscard]] const MemoryStrategy &movedOffGpu(const Plan &plan);

/// Of one stage and one micro-batch.
struct MeasuredStage {
    Seconds forward, inputGrad, weightGrad, recompute;
};

struct StageSource : StageFacts {
    /// per stage, one for all if they are alike; empty where layers make the times
    std::vector<MeasuredStage> measured;
    /// across a boundary, measured
    Bytes activation, gradient;
    /// of a stage's gradients, measured
    Bytes parameters;
    /// the most micro-batches that may be, likewise; empty: nothing is said of it
    std::vector<int> inFlight;
    /// The plan's keys that state them, for faults; nothing: no key does.
    struct Keys {
        const char *forward = "workload", *backward = forward, *recompute = forward, *weightGrad = forward;
        const char *activation = nullptr, *gradient = nullptr, *parameters = nullptr;
    } keys;

    [[nodiscard]] const MeasuredStage &measuredAt(int stage) const
    {
        return measured[measured.size() == 1 ? 0 : std::size_t(stage)];
    }
    [[nodiscard]] int inFlightAt(int stage) const { return inFlight[inFlight.size() == 1 ? 0 : std::size_t(stage)]; }
    /// Whether replicas have gradients to exchange.
    [[nodiscard]] bool hasGradients() const { return hasLayers || parameters.value > 0; }
};
[[nodiscard]] StageSource stageSource(const Plan &plan);
/// Says of a plan with measured stage times how large a stage's gradients are; 10^6 bytes.
void stateGradients(Plan &plan, double megabytes);

} // namespace trainyard

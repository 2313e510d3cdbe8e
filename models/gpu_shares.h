#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What each set of equal GPUs got of the work and of the states, read off an evaluation: also where everything is
// even, since unequal GPUs then wait for each other. And the plans in which a share is pinned. Pure functions.

#include "core/evaluation/evaluate/evaluation.h"

#include <QString>

#include <optional>
#include <vector>

namespace trainyard {

/// Consecutive GPUs of a pool.
struct PoolGpus {
    StageLocation at;
    int first = 0, count = 0;
    bool operator==(const PoolGpus &) const = default;
};

struct GpuShare {
    PoolGpus gpus; // that serve its stage
    PoolGpus replica; // as a pin counts them: replica after replica, each with all its stages. None where those lie in
                      // several pools: no pin is about such a replica
    QString name; // "RTX A6000"
    QString place; // "Lab"
    QString poolName;
    int stage = 0;
    int replicas = 1; // that share these GPUs
    int firstPipeline = 0;
    int layers = 0; // of the stage
    int microBatch = 1, microBatches = 1;
    int largestMicroBatch = 0; // that its memory takes without states; 0: unknown
    double stateShare = 0; // of what ZeRO divides, on each replica; 0: nothing is divided
    double time = 0, wait = 0; // seconds of the iteration in which it computes, and in which it stands still
    double states = 0, work = 0, capacity = 0; // bytes of one GPU; capacity 0: unknown
    QString why; // "Slow, but its memory is free"
    bool isSlowest = false; // all others wait for it
    bool isWorkPinned = false, isStatePinned = false;

    [[nodiscard]] int samples() const { return microBatch * microBatches; }
    [[nodiscard]] bool canBePinned() const { return stage == 0 && replica.count > 0; }
    bool operator==(const GpuShare &) const = default;
};

struct GpuShares {
    std::vector<GpuShare> sets; // by pipeline, then by stage
    int batch = 0; // samples of one iteration
    int stages = 1;
    int replicas = 1; // of the model; one has nobody to share with
    int statesPerReplica = 1; // GPUs of a replica of a stage that hold parts of the same states: its context ranks
    double duration = 0; // seconds of the iteration
    double gain = 0; // layer time with even shares / with these; 0: unknown
    bool areAlike = true; // all GPUs are
    bool isShared = false; // the plan asks for anything but even shares
    bool isLayered = false;
    QString refusal; // they could not be dealt as asked
};
[[nodiscard]] GpuShares gpuShares(const Evaluation &evaluation);

/// The sentence that the pool's details say: "5 of 64 samples, 26 % of the states".
[[nodiscard]] QString shareText(const GpuShare &share, int batch);

/// Splits b samples of a replica in micro-batches, near the size that there is now and not above the largest that its
/// memory takes.
struct MicroBatches {
    int size = 1, count = 1;
};
[[nodiscard]] MicroBatches microBatchesFor(int samples, const GpuShare &share, bool mayResize);

/// What is pinned of some GPUs.
struct SharePin {
    std::optional<MicroBatches> work;
    bool setsSize = true; // false: the size stays the plan's
    std::optional<double> stateShare; // of each GPU
};
/// The plan in which these GPUs get what `pin` says, and all others what they have: other pins stay.
[[nodiscard]] PlanPtr withPin(const Plan &plan, const PoolGpus &gpus, const SharePin &pin);
/// Without whatever is pinned of these GPUs: work, states, or both.
[[nodiscard]] PlanPtr withoutPin(const Plan &plan, const PoolGpus &gpus, bool ofWork = true, bool ofStates = true);
/// Without any pinned share. Tensor parallel degrees, which say how GPUs are divided, stay.
[[nodiscard]] PlanPtr withoutPins(const Plan &plan);
[[nodiscard]] bool hasPinnedShares(const Plan &plan);
/// The plan in which unequal GPUs get what they can do.
[[nodiscard]] PlanPtr withBalancedShares(const Plan &plan);

} // namespace trainyard

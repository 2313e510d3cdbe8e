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
    /// that serve its stage
    PoolGpus gpus;
    /// as a pin counts them: replica after replica, each with all its stages. None where those lie in several pools: no
    /// pin is about such a replica
    PoolGpus replica;
    /// "RTX A6000"
    QString name;
    /// "Lab"
    QString place;
    QString poolName;
    int stage = 0;
    /// that share these GPUs
    int replicas = 1;
    int firstPipeline = 0;
    /// of the stage
    int layers = 0;
    int microBatch = 1, microBatches = 1;
    /// that its memory takes without states; 0: unknown
    int largestMicroBatch = 0;
    /// of what ZeRO divides, on each replica; 0: nothing is divided
    double stateShare = 0;
    /// seconds of the iteration in which it computes, and in which it stands still
    double time = 0, wait = 0;
    /// bytes of one GPU; capacity 0: unknown
    double states = 0, work = 0, capacity = 0;
    /// "Slow, but its memory is free"
    QString why;
    /// all others wait for it
    bool isSlowest = false;
    bool isWorkPinned = false, isStatePinned = false;

    [[nodiscard]] int samples() const { return microBatch * microBatches; }
    [[nodiscard]] bool canBePinned() const { return stage == 0 && replica.count > 0; }
    bool operator==(const GpuShare &) const = default;
};

struct GpuShares {
    /// by pipeline, then by stage
    std::vector<GpuShare> sets;
    /// samples of one iteration
    int batch = 0;
    int stages = 1;
    /// of the model; one has nobody to share with
    int replicas = 1;
    /// GPUs of a replica of a stage that hold parts of the same states: its context ranks
    int statesPerReplica = 1;
    /// seconds of the iteration
    double duration = 0;
    /// layer time with even shares / with these; 0: unknown
    double gain = 0;
    /// all GPUs are
    bool areAlike = true;
    /// the plan asks for anything but even shares
    bool isShared = false;
    bool isLayered = false;
    /// they could not be dealt as asked
    QString refusal;
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
    /// false: the size stays the plan's
    bool setsSize = true;
    /// of each GPU
    std::optional<double> stateShare;
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

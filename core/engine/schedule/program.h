#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The order of work on each device of a pipeline: every schedule generator returns one. It depends on the shape alone
// or, for list schedulers, on the shape and the times of the operations. A device holds `chunks` virtual stages; the
// placement says which.

#include "core/base/error.h"
#include "core/engine/schedule/chunks.h"
#include "core/facts/plan/plan.h"

#include <cstdint>
#include <vector>

namespace trainyard {

/// A paired forward runs together with the backward that follows it in the order, kernel by kernel: they start when
/// both can and end together. A recomputation of its own needs nothing but its forward; the backward after it is then
/// not marked `recomputes`.
enum class OpKind : std::uint8_t { Forward, Backward, InputGrad, WeightGrad, Recompute, PairedForward };

[[nodiscard]] constexpr bool isForward(OpKind kind)
{
    return kind == OpKind::Forward || kind == OpKind::PairedForward;
}
/// Work whose result the stage before waits for.
[[nodiscard]] constexpr bool makesGradient(OpKind kind)
{
    return kind == OpKind::Backward || kind == OpKind::InputGrad;
}

/// Eight bytes without padding: programs are hashed and compared as words.
struct Op {
    OpKind kind = OpKind::Forward;
    /// a backward whose activations are recomputed first, where the costs have recompute
    bool recomputes = false;
    std::int16_t chunk = 0;
    std::int32_t microBatch = 0;
    bool operator==(const Op &) const = default;
};

struct ScheduleShape {
    /// pipeline stages p
    int devices = 1;
    /// m
    int microBatches = 1;
    /// virtual stages a device, v
    int chunks = 1;
    /// Per device, in micro-batches; size 1: for every device; empty: the schedule's own. 1f1b shortens its warm-up;
    /// the others cannot run with less than they need and say what that is.
    std::vector<int> inFlightLimit;
    bool operator==(const ScheduleShape &) const = default;
};

/// What list schedulers decide by; times in any one unit. They look at three digits only, so that a small change of a
/// time mostly leaves the order, and with it the timeline's topology, as it was. Empty: every operation takes equally
/// long and nothing is sent.
struct ScheduleTimes {
    struct Stage { // of one virtual stage and one micro-batch
        std::int64_t forward = 0, inputGrad = 0, weightGrad = 0;
        /// part of inputGrad: the recomputation, which is spared where the gradient directly follows its own forward
        std::int64_t recompute = 0;
        bool operator==(const Stage &) const = default;
    };
    /// per virtual stage
    std::vector<Stage> stages;
    std::vector<std::int64_t>
        boundaries; // [q]: a transfer from virtual stage q to q + 1, in the slower direction; not used where both are
    // on one device
    /// per device, what follows its last operation; empty: nothing
    std::vector<std::int64_t> tails;
    /// The share of a chunk's activations that stays between its input gradient and its weight gradient. Shares above 1
    /// (recomputed ones) count as 1 here: a limit on micro-batches in flight is one on what their forwards leave.
    double keptForWeightGrad = 1;
    /// every device waits for the last one, so the makespan counts, not the longest span
    bool endsTogether = false;
    bool operator==(const ScheduleTimes &) const = default;
};

/// How a device follows its order. Strict: whatever comes next is waited for. OpportunisticForward: while the operation
/// at the head waits for a gradient, the next forward takes its place, and is then waited for. WorkConserving: whenever
/// the device is free, it takes the first of these that is possible: the next backward whose gradient is here; the next
/// forward whose input is here, while fewer than the limit are in flight; the recomputation of the oldest micro-batch,
/// once there is no forward left to issue. The order then says which operation of a kind comes next, and is one in
/// which they could run.
enum class OrderRule : std::uint8_t { Strict, OpportunisticForward, WorkConserving };

struct FixedOrder {
    ScheduleShape shape;
    ChunkPlacement placement = ChunkPlacement::Loop;
    /// per device
    std::vector<std::vector<Op>> order;
    OrderRule rule = OrderRule::Strict;
    bool operator==(const FixedOrder &) const = default;

    [[nodiscard]] int virtualStages() const { return shape.devices * shape.chunks; }
    [[nodiscard]] int virtualStage(int device, int chunk) const
    {
        return virtualStageAt(placement, shape.devices, device, chunk);
    }
    [[nodiscard]] int deviceOf(int virtualStage) const { return deviceAt(placement, shape.devices, virtualStage); }
    [[nodiscard]] int chunkOf(int virtualStage) const { return virtualStage / shape.devices; }
    [[nodiscard]] int stagesInChain() const { return trainyard::stagesInChain(placement, shape.devices, shape.chunks); }
    [[nodiscard]] bool beginsChain(int virtualStage) const { return virtualStage % stagesInChain() == 0; }
    [[nodiscard]] bool endsChain(int virtualStage) const { return (virtualStage + 1) % stagesInChain() == 0; }
};

using Program = FixedOrder;

/// Whether input and weight gradients are operations of their own.
[[nodiscard]] bool splitsBackward(const Program &program);

/// The program of a schedule. Backwards are marked `recomputes`, except one on the last virtual stage that directly
/// follows its own forward: those activations are still there (so 1f1b never recomputes on its last stage, and gpipe
/// spares its first backward there). Errors: BadValue where the shape breaks the schedule's rule (interleaved needs m %
/// p == 0 and v > 1 …); `right` says what would do.
[[nodiscard]] Expected<Program> makeProgram(
    ScheduleKind kind, const ScheduleShape &shape, const ScheduleTimes &times = {});
struct ScheduleTraits;
[[nodiscard]] Expected<Program> makeProgram(
    const ScheduleTraits &schedule, const ScheduleShape &shape, const ScheduleTimes &times = {});

/// Most activations alive at once on each device, in units of one micro-batch of the whole device (chunks count 1/v).
/// A forward adds one chunk, its backward takes it away. Where the backward is split, the input gradient leaves the
/// share `keptForWeightGrad` of the chunk until the weight gradient (more than 1 where it recomputed what had been
/// discarded).
[[nodiscard]] std::vector<double> peakInFlight(const Program &program, double keptForWeightGrad = 1);

} // namespace trainyard

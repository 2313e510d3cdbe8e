#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The order of work on each device of a pipeline: what a schedule generator returns. Durations play no part here.
// A device holds `chunks` virtual stages; the placement says which: loop  q = chunk * devices + device,
// V  q = device (chunk 0) or 2 * devices - 1 - device (chunk 1), as in docs/model.md "Schedules".

#include "core/base/error.h"
#include "core/plan/plan.h"

#include <cstdint>
#include <vector>

namespace trainyard {

enum class OpKind : std::uint8_t { Forward, Backward, InputGrad, WeightGrad, Recompute };

/// Eight bytes without padding: programs are hashed and compared as words.
struct Op {
    OpKind kind = OpKind::Forward;
    bool recomputes = false;       // a backward whose activations are made anew first, where the costs have recompute
    std::int16_t chunk = 0;
    std::int32_t microBatch = 0;
    bool operator==(const Op &) const = default;
};

enum class ChunkPlacement : std::uint8_t { Loop, V };

struct ScheduleShape {
    int devices = 1;               // pipeline stages p
    int microBatches = 1;          // m
    int chunks = 1;                // virtual stages a device, v
    /// Per device, in micro-batches; size 1: for every device; empty: the schedule's own. 1f1b shortens its warm-up;
    /// the others cannot run with less than they need and say what that is.
    std::vector<int> inFlightLimit;
    bool operator==(const ScheduleShape &) const = default;
};

/// Order fixed before the run. Later kinds of program (an order that may be bypassed, a policy that decides at run
/// time) join as further alternatives of a variant; see ARCHITECTURE.md, "Rooms of the core".
struct FixedOrder {
    ScheduleShape shape;
    ChunkPlacement placement = ChunkPlacement::Loop;
    std::vector<std::vector<Op>> order;   // per device
    bool operator==(const FixedOrder &) const = default;

    [[nodiscard]] int virtualStages() const { return shape.devices * shape.chunks; }
    [[nodiscard]] int virtualStage(int device, int chunk) const;
    [[nodiscard]] int deviceOf(int virtualStage) const;
    [[nodiscard]] int chunkOf(int virtualStage) const;
};

using Program = FixedOrder;

/// The program of a schedule. Backwards are marked `recomputes`, except one on the last virtual stage that directly
/// follows its own forward: those activations are still there (so 1f1b never recomputes on its last stage, and gpipe
/// spares its first backward there). Errors: BadValue where the shape breaks the schedule's rule (interleaved needs m % p == 0
/// and v > 1 …) or where this version has no generator for the kind; `right` says what would do.
[[nodiscard]] Expected<Program> makeProgram(ScheduleKind kind, const ScheduleShape &shape);

/// True where makeProgram knows the kind. The strategy panel offers only these.
[[nodiscard]] bool isScheduleAvailable(ScheduleKind kind);

/// Most activations alive at once on each device, in units of one micro-batch of the whole device (chunks count 1/v).
/// A forward adds one chunk, the backward (or the weight gradient, where split) of it takes it away.
[[nodiscard]] std::vector<double> peakInFlight(const Program &program);

} // namespace trainyard

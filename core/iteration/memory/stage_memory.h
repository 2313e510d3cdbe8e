#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What fills one GPU of a stage: model states, activations of the micro-batches in flight, logits, buffers, and what
// allocator and driver add. Equations and sources in docs/model.md, "Memory".

#include "core/iteration/memory/op_memory.h"
#include "core/iteration/memory/stage_bytes.h"
#include "core/iteration/placement/ranks.h"

namespace trainyard {

/// Of such ranks, at the moment when their micro-batches hold `live`. `isNamed`: with the names of its parts, which
/// take most of the time.
[[nodiscard]] StageMemory stageMemory(const Workload &workload, const RankSet &ranks, const LiveBytes &live,
    const std::vector<ChunkMemory> &chunks, bool isNamed = true);

/// Of what stageMemory() counted and named, bytes that are there for micro-batches alone: kept activations, and beside
/// them a layer that is recomputed, gradients, logits. What a framework measures as the peak of an iteration less what
/// it held before.
[[nodiscard]] std::int64_t bytesOfMicroBatches(const StageMemory &memory);

} // namespace trainyard

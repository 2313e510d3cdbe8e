#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What fills one GPU of each stage: model states, activations of the micro-batches in flight, logits, buffers, and what
// allocator and driver add. Equations and sources in docs/model.md, "Memory".

#include "core/cost/iteration_costs.h"
#include "core/evaluate/evaluation.h"
#include "core/memory/offload_replay.h"

namespace trainyard {

/// [class][stage] of an iteration whose activations leave the GPU; empty where they stay.
using OffloadedMemory = std::vector<std::vector<LiveOverTime>>;
[[nodiscard]] OffloadedMemory offloadedMemory(const Workload &workload, const Costs &costs, const Timeline &timeline);

/// Memory of every stage, as the fullest class of pipelines has it. Empty for a profile, which has no parameters.
[[nodiscard]] std::vector<StageMemory> stageMemory(const Workload &workload, const Costs &costs, const OffloadedMemory &offloaded);

/// Memory of each stage of the first class over the iteration, from the spans of the timeline. Its highest point is the
/// stage's device bytes where that class is the fullest.
[[nodiscard]] std::vector<std::vector<Evaluation::MemoryStep>> memoryCurves(const Workload &workload, const Costs &costs,
                                                                            const std::vector<StageMemory> &stages, const Timeline &timeline);

/// The same where activations leave: with that, and as if they stayed.
struct OffloadCurves { std::vector<std::vector<Evaluation::MemoryStep>> with, kept; };
[[nodiscard]] OffloadCurves memoryCurves(const std::vector<StageMemory> &stages, const OffloadedMemory &offloaded);

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/in_flight_room.h"

#include "core/schedule/traits.h"
#include "core/states/stage_states.h"

#include <algorithm>
#include <limits>

namespace trainyard {

double roomForMicroBatches(const Workload &workload, int stage, double share)
{
    const StackSpec &stack = workload.stack;
    double least = std::numeric_limits<double>::infinity();
    for (const RankSet &ranks : unlikeSets(workload, stage)) {
        double room = (double(workload.gpu(ranks.at).memoryBytes) * share - stack.contextBytes
                          - communicators(workload) * stack.communicatorBytes)
            / stack.fragmentation;
        const StageStates states = stageStates(workload, ranks);
        room -= states.weights + states.gradients + states.optimizer;
        for (const auto &[name, bytes] : states.buffers)
            room -= bytes;
        least = std::min(least, room);
    }
    return least;
}

LiveBound liveBound(std::span<const ChunkMemory> chunks, bool splitsBackward)
{
    LiveBound bound;
    for (const ChunkMemory &chunk : chunks) {
        bound.each += chunk.kept + chunk.ends;
        bound.forWeightGrads += splitsBackward ? chunk.forWeightGrads : 0;
        bound.loss += chunk.loss;
        bound.whole += std::max(0.0, chunk.whole - chunk.kept);
        bound.workspace =
            std::max({ bound.workspace, chunk.forward.total(), chunk.backward.total(), chunk.sparedBackward.total(),
                splitsBackward ? chunk.atLayers.total() + std::max(0.0, chunk.forWeightGrads - chunk.kept) : 0 });
    }
    return bound;
}

/// A loss stays no longer than its own backward takes to come; so does what one micro-batch keeps whole.
InFlightRoom inFlightRoom(const Workload &workload, double share)
{
    constexpr int kMost = 1 << 20;
    InFlightRoom result { {}, 0 };
    for (int stage = 0; stage < workload.degrees.pipeline; ++stage) {
        const std::vector<ChunkMemory> chunks = chunkMemory(workload, stage);
        double kept = 0, forWeightGrads = 0; // of a micro-batch
        double workspace = 0; // with the loss and the whole micro-batch of the operation's own chunk
        for (const ChunkMemory &chunk : chunks) {
            kept += chunk.kept + chunk.ends;
            forWeightGrads += traitsOf(*workload.plan).splitsBackward ? chunk.forWeightGrads : 0;
            workspace = std::max(workspace,
                chunk.loss + chunk.whole - chunk.kept
                    + std::max({ chunk.forward.total(), chunk.backward.total(), chunk.sparedBackward.total() }));
        }
        const double each = std::max(kept, forWeightGrads),
                     room = roomForMicroBatches(workload, stage, share) - workspace;
        result.microBatches.push_back(each > 0 ? int(std::clamp(room / each, 0.0, double(kMost))) : kMost);
        result.keptForWeightGrad = std::max(result.keptForWeightGrad, each > 0 ? forWeightGrads / each : 1);
    }
    return result;
}

} // namespace trainyard

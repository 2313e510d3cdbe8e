// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/in_flight_room.h"

#include "core/memory/chunk_memory.h"
#include "core/memory/stage_states.h"
#include "core/schedule/chunks.h"

#include <algorithm>
#include <limits>

namespace trainyard {

double roomForMicroBatches(const Workload &workload, int stage, double share)
{
    const StackSpec &stack = workload.stack;
    double least = std::numeric_limits<double>::infinity();
    for (const RankSet &ranks : unlikeSets(workload, stage)) {
        double room = (double(workload.gpu(ranks.at).memoryBytes) * share - stack.contextBytes - communicators(workload) * stack.communicatorBytes) / stack.fragmentation;
        const StageStates states = stageStates(workload, ranks);
        room -= states.weights + states.gradients + states.optimizer;
        for (const auto &[name, bytes] : states.buffers)
            room -= bytes;
        least = std::min(least, room);
    }
    return least;
}

InFlightRoom inFlightRoom(const Workload &workload, double share)
{
    constexpr int kMost = 1 << 20;
    InFlightRoom result{{}, 0};
    for (int stage = 0; stage < workload.degrees.pipeline; ++stage) {
        const bool hasWeightGrads = endsWithWeightGrads(workload.plan->schedule);   // operations of their own, before which something stays
        double kept = 0, forWeightGrads = 0, workspace = 0;   // of a micro-batch; beside them, at the worst operation
        for (const ChunkMemory &chunk : chunkMemory(workload, stage)) {
            kept += chunk.kept + chunk.ends;
            forWeightGrads += hasWeightGrads ? chunk.forWeightGrads : 0;
            workspace = std::max(workspace, chunk.loss + chunk.whole - chunk.kept
                                          + std::max({chunk.forward.total(), chunk.backward.total(), chunk.sparedBackward.total()}));
        }
        const double each = std::max(kept, forWeightGrads), room = roomForMicroBatches(workload, stage, share) - workspace;
        result.microBatches.push_back(each > 0 ? int(std::clamp(room / each, 0.0, double(kMost))) : kMost);
        result.keptForWeightGrad = std::max(result.keptForWeightGrad, each > 0 ? forWeightGrads / each : 1);
    }
    return result;
}

} // namespace trainyard

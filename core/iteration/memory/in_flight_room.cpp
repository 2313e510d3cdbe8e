// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/memory/in_flight_room.h"

#include "core/engine/schedule/traits.h"
#include "core/iteration/model_states/stage_states.h"
#include "core/iteration/placement/class_workload.h"

#include <algorithm>
#include <limits>
#include <map>

namespace trainyard {

namespace {

/// Bytes on a GPU of the set, seen with its own tensor groups.
double roomOn(const Workload &own, const RankSet &ranks, double share)
{
    const StackSpec &stack = own.stack;
    double room = (double(own.gpu(ranks.at).memoryBytes) * share - stack.contextBytes
                      - communicators(own) * stack.communicatorBytes)
        / stack.fragmentation;
    const StageStates states = stageStates(own, ranks);
    room -= states.weights + states.gradients + states.optimizer;
    for (const auto &[name, bytes] : states.buffers)
        room -= bytes;
    return room;
}

/// What one micro-batch takes of it, and an operation.
struct MicroBatchNeed {
    double each = 0, forWeightGrads = 0;
    double workspace = 0; // with the loss and the whole micro-batch of the operation's own chunk
};

MicroBatchNeed needOf(const Workload &own, int stage)
{
    MicroBatchNeed need;
    double kept = 0;
    for (const ChunkMemory &chunk : chunkMemory(own, stage)) {
        kept += chunk.kept + chunk.ends;
        need.forWeightGrads += traitsOf(*own.plan).splitsBackward ? chunk.forWeightGrads : 0;
        need.workspace = std::max(need.workspace,
            chunk.loss + chunk.whole - chunk.kept
                + std::max({ chunk.forward.total(), chunk.backward.total(), chunk.sparedBackward.total() }));
    }
    need.each = std::max(kept, need.forWeightGrads);
    return need;
}

} // namespace

double roomForMicroBatches(const Workload &workload, int stage, double share)
{
    ClassWorkloads views(workload);
    double least = std::numeric_limits<double>::infinity();
    for (const RankSet &ranks : unlikeSets(workload, stage))
        least = std::min(least, roomOn(views.ofTensor(ranks.degrees.tensor), ranks, share));
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
    ClassWorkloads views(workload);
    for (int stage = 0; stage < workload.degrees.pipeline; ++stage) {
        int fewest = kMost;
        std::map<int, MicroBatchNeed> needs; // by tensor parallel degree
        for (const RankSet &ranks : unlikeSets(workload, stage)) {
            const int tensor = ranks.degrees.tensor;
            const Workload &own = views.ofTensor(tensor);
            if (!needs.contains(tensor))
                needs[tensor] = needOf(own, stage);
            const MicroBatchNeed &need = needs[tensor];
            if (need.each > 0)
                fewest = std::min(fewest,
                    int(std::clamp((roomOn(own, ranks, share) - need.workspace) / need.each, 0.0, double(kMost))));
            result.keptForWeightGrad =
                std::max(result.keptForWeightGrad, need.each > 0 ? need.forWeightGrads / need.each : 1);
        }
        result.microBatches.push_back(fewest);
    }
    return result;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/memory/layered_memory.h"

#include "core/iteration/memory/in_flight_room.h"
#include "core/iteration/placement/activations_leave.h"
#include "core/iteration/placement/layer_facts.h"

#include <algorithm>

namespace trainyard {

namespace {

/// What enters a layer and leaves for the host, of one micro-batch.
double leavingBytes(const Workload &view)
{
    return boundariesLeave(*view.plan) ? keptInputBytes(view) : 0;
}

} // namespace

double layeredWork(const Workload &view)
{
    const double leaves = leavingBytes(view);
    double most = 0;
    const std::vector<ChunkMemory> chunks = chunkMemory(view, 0);
    for (const ChunkMemory &chunk : chunks)
        most = std::max(most,
            &chunk == &chunks.back() ? liveBound({ &chunk, 1 }, false).of(1, 1)
                                     : liveBound({ &chunk, 1 }, false).of(1, 0) - std::max(0.0, chunk.kept - leaves));
    return most + kInputsOnTheirWay * leaves;
}

double layeredKept(const Workload &view)
{
    const double leaves = leavingBytes(view);
    double kept = 0;
    const std::vector<ChunkMemory> chunks = chunkMemory(view, 0);
    for (std::size_t layer = 0; layer + 1 < chunks.size(); ++layer)
        kept += std::max(0.0, chunks[layer].kept - leaves);
    return kept;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/score/memory_parts.h"

#include "core/iteration/memory/bounded_memory.h"
#include "core/iteration/memory/chunk_memory.h"
#include "core/iteration/memory/stage_memory.h"
#include "core/iteration/placement/recompute.h"
#include "core/planner/score/parts.h"

#include <algorithm>
#include <vector>

namespace trainyard {

bool recomputesLast(const Workload &workload)
{
    return workload.stack.recomputesLastStage && !traitsOf(*workload.plan).recomputesApart();
}

HeldPart heldPart(const Workload &workload, const OrderPart &order)
{
    HeldPart part;
    for (const int stage : order.firstOfKind) {
        const RankSet ranks = rankSet(workload, workload.layout.classes.front(), stage);
        const StageMemory empty = stageMemory(workload, ranks, {}, {}, false);
        part.kinds.push_back(
            { empty.peak, empty.device - empty.reserved, double(std::max<std::int64_t>(1, empty.capacity)) });
    }
    return part;
}

double HeldPart::fill(const StackSpec &stack, const std::vector<double> &live) const
{
    double most = 0;
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        const std::int64_t peak = kinds[k].peak + (live.empty() ? 0 : wholeBytes(live[k]));
        most = std::max(most, double(deviceBytes(peak, kinds[k].beside, stack)) / kinds[k].capacity);
    }
    return most;
}

KeptPart keptPart(const Workload &workload, const OrderPart &order)
{
    KeptPart part;
    part.isRecomputing = recomputesAnything(*workload.plan);
    part.recomputesLast = recomputesLast(workload);
    for (const int stage : order.firstOfKind)
        part.kinds.emplace_back(chunkMemory(workload, stage), order.schedule->pairs);
    return part;
}

} // namespace trainyard

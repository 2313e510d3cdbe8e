// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/graph/class_tasks.h"

namespace trainyard {

ClassTasks::ClassTasks(const IterationCosts &iteration, int classIndex)
    : costs(iteration)
    , pipeline(iteration.classes[static_cast<std::size_t>(classIndex)])
    , program(pipeline.program)
    , index(classIndex)
    , devices(program.shape.devices)
    , chunks(program.shape.chunks)
    , microBatches(program.shape.microBatches)
    , splitsBackward(offloads() && trainyard::splitsBackward(program))
    , stageOf(static_cast<std::size_t>(program.virtualStages()))
    , stages(stageOf.size())
{
    for (int d = 0; d < devices; ++d)
        for (int c = 0; c < chunks; ++c) {
            const int q = program.virtualStage(d, c);
            stages[static_cast<std::size_t>(q)] = { d, c, program.beginsChain(q), program.endsChain(q), false };
            stageOf[slot(d, c)] = q;
        }
    for (std::size_t q = 0; q + 1 < stages.size(); ++q)
        stages[q].crosses = !stages[q].ends && stages[q].device != stages[q + 1].device;
}

const std::vector<OffloadSegment> *ClassTasks::segmentsOf(const Op &op, std::size_t at) const
{
    if (!offloads() || pipeline.offload.ops[at].empty())
        return nullptr;
    return mayBeCut(op.kind, splitsBackward) ? &pipeline.offload.ops[at] : nullptr;
}

} // namespace trainyard

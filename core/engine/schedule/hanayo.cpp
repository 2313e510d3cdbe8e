// SPDX-License-Identifier: GPL-3.0-or-later
// Hanayo (Liu et al. 2023, arXiv 2308.15762): W waves, each down the devices and back up, so v = 2W chunks in a V; one
// copy of the model and p micro-batches in flight. The bubble of m = p micro-batches is (p - 1) t_B / W where t_B = 2
// t_f.
#include "core/engine/schedule/generators.h"
#include "core/engine/schedule/slot_order.h"

#include <algorithm>

namespace trainyard::schedules {

namespace {

void layHanayo(Program &program)
{
    const int microBatches = program.shape.microBatches;
    orderInSlots(program,
        { { 0, 0, microBatches,
            std::vector<int>(std::size_t(program.virtualStages()), std::min(program.shape.devices, microBatches)) } });
}

} // namespace

constinit const ScheduleTraits hanayo {
    .kind = ScheduleKind::Hanayo,
    .label = "Hanayo",
    .text = "waves down the stages and back",
    .holds = "stages",
    .bubble = "2(p - 1)(b + w + (m/p - 1)(b + w - f))/v",
    .lay = layHanayo,
    .inFlight = asManyAsStages,
    .placement = ChunkPlacement::V,
    .chunks = { .least = 2, .step = 2, .why = "whose waves take two chunks each" },
    .beyondOneRound = "the order of hanayo is Trainyard's own: each further round waits for what its backwards take "
                      "longer than its forwards, so that "
                      "micro-batches beyond the first round shorten the bubble less than under 1f1b, or not at all",
};

} // namespace trainyard::schedules

// SPDX-License-Identifier: GPL-3.0-or-later
// GPipe (Huang et al. 2019): all forwards, then all backwards, last micro-batch first. Every micro-batch is in flight.
#include "core/engine/schedule/generators.h"

namespace trainyard::schedules {

void layForwardsFirst(Program &program)
{
    const ScheduleShape &shape = program.shape;
    std::vector<Op> order;
    order.reserve(2 * std::size_t(shape.microBatches) * std::size_t(shape.chunks));
    for (int k = 0; k < shape.microBatches; ++k)
        for (int slice = 0; slice < shape.chunks; ++slice)
            order.push_back(forward(slice, k));
    for (int k = shape.microBatches - 1; k >= 0; --k)
        for (int slice = shape.chunks - 1; slice >= 0; --slice)
            order.push_back(backward(slice, k));
    program.order.assign(std::size_t(shape.devices), order);
}

constinit const ScheduleTraits gpipe {
    .kind = ScheduleKind::GPipe,
    .label = "GPipe",
    .text = "all forwards, then all backwards",
    .holds = "all",
    .bubble = "(p - 1)(f + b + w)",
    .lay = layForwardsFirst,
    .inFlight = everyMicroBatch,
    .form = gpipeTime,
    .forwardsFirst = true,
};

} // namespace trainyard::schedules

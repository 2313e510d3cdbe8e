// SPDX-License-Identifier: GPL-3.0-or-later
// Breadth-first (Lamy-Poirier 2023): every micro-batch through a chunk before the next chunk, backwards with the chunks
// reversed. The memory of gpipe, the bubble of interleaved, and each chunk's weights are needed once a pass.
#include "core/engine/schedule/generators.h"

namespace trainyard::schedules {

namespace {

void layBreadthFirst(Program &program)
{
    const ScheduleShape &shape = program.shape;
    std::vector<Op> order;
    order.reserve(2 * std::size_t(shape.microBatches) * std::size_t(shape.chunks));
    for (int c = 0; c < shape.chunks; ++c)
        for (int k = 0; k < shape.microBatches; ++k)
            order.push_back(forward(c, k));
    for (int c = shape.chunks - 1; c >= 0; --c)
        for (int k = 0; k < shape.microBatches; ++k)
            order.push_back(backward(c, k));
    program.order.assign(std::size_t(shape.devices), order);
}

} // namespace

constinit const ScheduleTraits breadthFirst {
    .kind = ScheduleKind::BreadthFirst,
    .label = "Breadth-first",
    .text = "every micro-batch through a chunk before the next chunk",
    .holds = "all",
    .bubble = "(p - 1)(f + b + w)/v",
    .lay = layBreadthFirst,
    .inFlight = everyMicroBatch,
    .chunks = {},
    .forwardsFirst = true,
};

} // namespace trainyard::schedules

// SPDX-License-Identifier: GPL-3.0-or-later
// Layered gradient accumulation (Cephalo, arXiv 2411.01075; the same order of work as breadth-first on one device,
// Lamy-Poirier 2023): every micro-batch through a layer before the next one, backwards with the layers reversed. The
// forward of the last layer runs inside its backward, micro-batch by micro-batch. No plan names it as a schedule: it is
// what `heterogeneity.accumulation: layered` asks for.
#include "core/engine/schedule/generators.h"

namespace trainyard::schedules {

namespace {

void layLayered(Program &program)
{
    const ScheduleShape &shape = program.shape;
    std::vector<Op> order;
    order.reserve(2 * std::size_t(shape.microBatches) * std::size_t(shape.chunks));
    const int last = shape.chunks - 1;
    for (int c = 0; c < last; ++c)
        for (int k = 0; k < shape.microBatches; ++k)
            order.push_back(forward(c, k));
    for (int k = shape.microBatches - 1; k >= 0; --k) {
        order.push_back(forward(last, k));
        order.push_back(backward(last, k));
    }
    for (int c = last - 1; c >= 0; --c)
        for (int k = shape.microBatches - 1; k >= 0; --k)
            order.push_back(backward(c, k));
    program.order.assign(std::size_t(shape.devices), order);
}

} // namespace

constinit const ScheduleTraits layered {
    .kind = ScheduleKind::BreadthFirst,
    .label = "Layered accumulation",
    .text = "every micro-batch through a layer before the next layer",
    .holds = "all, or what enters each layer",
    .lay = layLayered,
    .inFlight = everyMicroBatch,
    .chunks = {},
    .stages = { .most = 1, .why = "which goes layer by layer through a whole model", .right = "1" },
    .forwardsFirst = true,
};

} // namespace trainyard::schedules

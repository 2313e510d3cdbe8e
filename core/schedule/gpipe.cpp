// SPDX-License-Identifier: GPL-3.0-or-later
// GPipe (Huang et al. 2019): all forwards, then all backwards, last micro-batch first. Every micro-batch is in flight.
#include "core/schedule/generators.h"

namespace trainyard::schedules {

namespace {

void lay(Program &program)
{
    std::vector<Op> order;
    order.reserve(2 * std::size_t(program.shape.microBatches));
    for (int k = 0; k < program.shape.microBatches; ++k)
        order.push_back(forward(0, k));
    for (int k = program.shape.microBatches - 1; k >= 0; --k)
        order.push_back(backward(0, k));
    program.order.assign(std::size_t(program.shape.devices), order);
}

} // namespace

constinit const ScheduleTraits gpipe{
    .kind = ScheduleKind::GPipe,
    .label = "GPipe",
    .text = "all forwards, then all backwards",
    .holds = "all",
    .bubble = "(p - 1)(f + b + w)",
    .lay = lay,
    .inFlight = everyMicroBatch,
    .form = gpipeTime,
    .forwardsFirst = true,
};

} // namespace trainyard::schedules

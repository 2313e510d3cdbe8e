// SPDX-License-Identifier: GPL-3.0-or-later
// Atlas (arXiv 2411.14458): the work-conserving order of the Atlas specification, section 2.5. Devices choose while
// they run (OrderRule::WorkConserving); a recomputation may run ahead of its gradient, one micro-batch at a time; the
// last stage recomputes nothing. The order written here is that of 1f1b with as long a warm-up as the limits allow.
#include "core/engine/schedule/generators.h"

#include <algorithm>

namespace trainyard::schedules {

namespace {

void layAtlas(Program &program)
{
    const ScheduleShape &shape = program.shape;
    program.order.resize(std::size_t(shape.devices));
    int warmUp = shape.microBatches;
    for (int device = 0; device < shape.devices; ++device) {
        const bool isLast = device + 1 == shape.devices;
        // Not longer than that of the device before: it could not be fed.
        if (!shape.inFlightLimit.empty())
            warmUp = std::min(warmUp, shape.inFlightLimit[static_cast<std::size_t>(device)]);
        const int ahead = isLast ? 1 : warmUp;
        auto &order = program.order[static_cast<std::size_t>(device)];
        for (int m = 0; m < ahead; ++m)
            order.push_back(forward(0, m));
        for (int m = 0; m < shape.microBatches; ++m) {
            if (!isLast)
                order.push_back({ OpKind::Recompute, false, 0, m });
            Op gradient = backward(0, m);
            gradient.recomputes = false;
            order.push_back(gradient);
            if (m + ahead < shape.microBatches)
                order.push_back(forward(0, m + ahead));
        }
    }
}

} // namespace

constinit const ScheduleTraits atlas {
    .kind = ScheduleKind::Atlas,
    .label = "Atlas",
    .text = "whatever can start: a backward before a forward before a recomputation ahead",
    .holds = "as many as fit in 95 % of the memory; profile.in_flight",
    .lay = layAtlas,
    .form = cellTime,
    .rule = OrderRule::WorkConserving,
    .room = RoomUse::RunTime,
};

} // namespace trainyard::schedules

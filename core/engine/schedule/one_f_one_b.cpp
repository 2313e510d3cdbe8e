// SPDX-License-Identifier: GPL-3.0-or-later
// 1F1B, non-interleaved with flush (Narayanan et al. 2021, §2.2): a warm-up of min(p - 1 - i, m) forwards, then forward
// and backward by turns, then the backwards that are left. Stage i holds one micro-batch more than its warm-up is long.
// A limit on micro-batches in flight shortens the warm-up of its stage and of the stages behind it: a later stage
// cannot run further ahead than the earlier one feeds it.
#include "core/engine/schedule/generators.h"

#include <algorithm>

namespace trainyard::schedules {

namespace {

void layOneFOneB(Program &program)
{
    const ScheduleShape &shape = program.shape;
    program.order.resize(std::size_t(shape.devices));
    int warmUp = shape.microBatches;
    for (int i = 0; i < shape.devices; ++i) {
        warmUp = std::min(warmUp, shape.devices - 1 - i);
        if (!shape.inFlightLimit.empty())
            warmUp = std::min(warmUp, shape.inFlightLimit[static_cast<std::size_t>(i)] - 1);
        std::vector<Op> &order = program.order[static_cast<std::size_t>(i)];
        order.reserve(2 * static_cast<std::size_t>(shape.microBatches));
        for (int k = 0; k < warmUp; ++k)
            order.push_back(forward(0, k));
        for (int k = 0; k < shape.microBatches - warmUp; ++k) {
            order.push_back(forward(0, warmUp + k));
            order.push_back(backward(0, k));
        }
        for (int k = shape.microBatches - warmUp; k < shape.microBatches; ++k)
            order.push_back(backward(0, k));
    }
}

} // namespace

constinit const ScheduleTraits oneFOneB {
    .kind = ScheduleKind::OneFOneB,
    .label = "1F1B",
    .text = "forward and backward by turns",
    .holds = "stages",
    .bubble = "(p - 1)(f + b + w)",
    .lay = layOneFOneB,
    .form = inFlightLimitedTime,
    .holdsStagesBehind = true,
    .repeatsAfter = 2,
};

} // namespace trainyard::schedules

// SPDX-License-Identifier: GPL-3.0-or-later
// ZB-H1 and ZB-H2, the hand-made zero-bubble schedules (Qi et al. 2023, arXiv 2401.10241, §3): 1F1B with the backward
// split, where stage i lets its weight gradients lag h * i behind its input gradients and warms up with h(p - 1 - i)
// forwards. h = 1 needs the memory of 1F1B's first stage everywhere, h = 2 nearly twice that and leaves no bubble where
// F = B = W.
#include "core/engine/schedule/generators.h"

#include <algorithm>

namespace trainyard::schedules {

namespace {

std::vector<Op> stageOrder(int microBatches, int warmUp, int lag)
{
    std::vector<Op> order;
    order.reserve(3 * static_cast<std::size_t>(microBatches));
    int forwards = 0, weightGrads = 0;
    while (forwards < warmUp)
        order.push_back(forward(0, forwards++));
    for (int k = 0; k < microBatches; ++k) {
        if (forwards < microBatches)
            order.push_back(forward(0, forwards++));
        order.push_back(inputGrad(0, k));
        if (k + 1 - weightGrads > lag)
            order.push_back(weightGrad(0, weightGrads++));
    }
    while (weightGrads < microBatches)
        order.push_back(weightGrad(0, weightGrads++));
    return order;
}

template <int h> void layByHand(Program &program)
{
    const ScheduleShape &shape = program.shape;
    for (int i = 0; i < shape.devices; ++i)
        program.order.push_back(
            stageOrder(shape.microBatches, std::min(h * (shape.devices - 1 - i), shape.microBatches), h * i));
}

template <int h> std::vector<int> inFlightByHand(const ScheduleShape &shape)
{
    std::vector<int> needed;
    for (int i = 0; i < shape.devices; ++i)
        needed.push_back(
            std::min(std::min(h * (shape.devices - 1 - i), shape.microBatches) + h * i + 1, shape.microBatches));
    return needed;
}

} // namespace

constinit const ScheduleTraits zbH1 {
    .kind = ScheduleKind::ZbH1,
    .label = "ZB-H1",
    .text = "backward split into dgrad and wgrad, by hand",
    .holds = "stages",
    .bubble = "(p - 1)(f + b - w)",
    .lay = layByHand<1>,
    .inFlight = inFlightByHand<1>,
    .splitsBackward = true,
    .holdsStagesBehind = true,
};

constinit const ScheduleTraits zbH2 {
    .kind = ScheduleKind::ZbH2,
    .label = "ZB-H2",
    .text = "the same, with more micro-batches in flight and no wait at equal times",
    .holds = "twice the stages less 1",
    .bubble = "(p - 1)(f + b - 2w)",
    .lay = layByHand<2>,
    .inFlight = inFlightByHand<2>,
    .splitsBackward = true,
};

} // namespace trainyard::schedules

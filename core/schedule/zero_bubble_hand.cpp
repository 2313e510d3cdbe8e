// SPDX-License-Identifier: GPL-3.0-or-later
// ZB-H1 and ZB-H2, the hand-made zero-bubble schedules (Qi et al. 2023, arXiv 2401.10241, §3): 1F1B with the backward split,
// where stage i lets its weight gradients lag h * i behind its input gradients and warms up with h(p - 1 - i) forwards.
// h = 1 needs the memory of 1F1B's first stage everywhere, h = 2 nearly twice that and leaves no bubble where F = B = W.
#include "core/schedule/generators.h"

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

Expected<Program> handMade(const ScheduleShape &shape, int h, const char *name)
{
    if (const auto checked = checkOneChunk(shape, name); !checked)
        return std::unexpected(checked.error());
    Program program{shape, ChunkPlacement::Loop, {}};
    std::vector<int> needed;
    for (int i = 0; i < shape.devices; ++i) {
        const int warmUp = std::min(h * (shape.devices - 1 - i), shape.microBatches);
        program.order.push_back(stageOrder(shape.microBatches, warmUp, h * i));
        needed.push_back(std::min(warmUp + h * i + 1, shape.microBatches));
    }
    if (const auto checked = checkInFlight(shape, needed, name); !checked)
        return std::unexpected(checked.error());
    return program;
}

} // namespace

Expected<Program> zbH1(const ScheduleShape &shape)
{
    return handMade(shape, 1, "zb-h1");
}

Expected<Program> zbH2(const ScheduleShape &shape)
{
    return handMade(shape, 2, "zb-h2");
}

} // namespace trainyard::schedules

// SPDX-License-Identifier: GPL-3.0-or-later
// GPipe (Huang et al. 2019): all forwards, then all backwards, last micro-batch first. Every micro-batch is in flight.
#include "core/schedule/generators.h"

namespace trainyard::schedules {

Expected<Program> gpipe(const ScheduleShape &shape)
{
    if (const auto checked = checkOneChunk(shape, "gpipe"); !checked)
        return std::unexpected(checked.error());
    const std::vector<int> needed(static_cast<std::size_t>(shape.devices), shape.microBatches);
    if (const auto checked = checkInFlight(shape, needed, "gpipe"); !checked)
        return std::unexpected(checked.error());
    std::vector<Op> order;
    order.reserve(2 * static_cast<std::size_t>(shape.microBatches));
    for (int k = 0; k < shape.microBatches; ++k)
        order.push_back(forward(0, k));
    for (int k = shape.microBatches - 1; k >= 0; --k)
        order.push_back(backward(0, k));
    return Program{shape, ChunkPlacement::Loop, std::vector<std::vector<Op>>(static_cast<std::size_t>(shape.devices), order)};
}

} // namespace trainyard::schedules

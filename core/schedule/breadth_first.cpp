// SPDX-License-Identifier: GPL-3.0-or-later
// Breadth-first (Lamy-Poirier 2023): every micro-batch through a chunk before the next chunk, backwards with the chunks
// reversed. The memory of gpipe, the bubble of interleaved, and each chunk's weights are needed once a pass.
#include "core/schedule/generators.h"

namespace trainyard::schedules {

Expected<Program> breadthFirst(const ScheduleShape &shape)
{
    const std::vector<int> needed(static_cast<std::size_t>(shape.devices), shape.microBatches);
    if (const auto checked = checkInFlight(shape, needed, "breadth-first"); !checked)
        return std::unexpected(checked.error());
    std::vector<Op> order;
    order.reserve(2 * static_cast<std::size_t>(shape.microBatches) * static_cast<std::size_t>(shape.chunks));
    for (int c = 0; c < shape.chunks; ++c)
        for (int k = 0; k < shape.microBatches; ++k)
            order.push_back(forward(c, k));
    for (int c = shape.chunks - 1; c >= 0; --c)
        for (int k = 0; k < shape.microBatches; ++k)
            order.push_back(backward(c, k));
    return Program{shape, ChunkPlacement::Loop, std::vector<std::vector<Op>>(static_cast<std::size_t>(shape.devices), order)};
}

} // namespace trainyard::schedules

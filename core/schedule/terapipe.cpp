// SPDX-License-Identifier: GPL-3.0-or-later
// TeraPipe (Li et al. 2021, arXiv 2102.07988): the tokens of a sequence in slices, which follow each other down the pipeline
// like small micro-batches. A slice attends to those before it, so forwards go from the first slice to the last and
// gradients back. A chunk of the program is a slice.
#include "core/schedule/generators.h"

namespace trainyard::schedules {

Expected<Program> teraPipe(const ScheduleShape &shape)
{
    const std::vector<int> needed(static_cast<std::size_t>(shape.devices), shape.microBatches);
    if (const auto checked = checkInFlight(shape, needed, "terapipe"); !checked)
        return std::unexpected(checked.error());
    std::vector<Op> order;
    order.reserve(2 * static_cast<std::size_t>(shape.microBatches) * static_cast<std::size_t>(shape.chunks));
    for (int k = 0; k < shape.microBatches; ++k)
        for (int slice = 0; slice < shape.chunks; ++slice)
            order.push_back(forward(slice, k));
    for (int k = shape.microBatches - 1; k >= 0; --k)
        for (int slice = shape.chunks - 1; slice >= 0; --slice)
            order.push_back(backward(slice, k));
    return Program{shape, ChunkPlacement::Slices, std::vector<std::vector<Op>>(static_cast<std::size_t>(shape.devices), order), OrderRule::Strict};
}

} // namespace trainyard::schedules

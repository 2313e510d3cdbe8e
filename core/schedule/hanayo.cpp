// SPDX-License-Identifier: GPL-3.0-or-later
// Hanayo (Liu et al. 2023, arXiv 2308.15762): W waves, each down the devices and back up, so v = 2W chunks in a V; one copy of
// the model and p micro-batches in flight. The bubble of m = p micro-batches is (p - 1) t_B / W where t_B = 2 t_f.
#include "core/schedule/generators.h"
#include "core/schedule/slot_order.h"

#include <algorithm>
#include <string>

namespace trainyard::schedules {

Expected<Program> hanayo(const ScheduleShape &shape)
{
    if (shape.chunks % 2 != 0)
        return std::unexpected(Error{ErrorCode::BadValue, "parallelism.virtual_pipeline",
                                     "is " + std::to_string(shape.chunks) + " under hanayo, whose waves take two chunks each",
                                     std::to_string(shape.chunks - 1) + " or " + std::to_string(shape.chunks + 1)});
    const int inFlight = std::min(shape.devices, shape.microBatches);
    const std::vector<int> needed(static_cast<std::size_t>(shape.devices), inFlight);
    if (const auto checked = checkInFlight(shape, needed, "hanayo"); !checked)
        return std::unexpected(checked.error());
    Program program{shape, ChunkPlacement::V, {}, OrderRule::Strict};
    orderInSlots(program, {{0, 0, shape.microBatches, std::vector<int>(static_cast<std::size_t>(program.virtualStages()), inFlight)}});
    return program;
}

} // namespace trainyard::schedules

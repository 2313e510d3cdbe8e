// SPDX-License-Identifier: GPL-3.0-or-later
// Chimera (Li and Hoefler 2021, arXiv 2107.06925): two copies of the model in opposite directions, half of the micro-batches
// through each, both as 1F1B of at most p / 2 in flight; their bubbles lie where the other works. More than p micro-batches follow
// without a break (the paper's direct concatenation), which leaves bubbles between the rounds where backwards are longer than
// forwards; or with two forwards at once against one backward (its forward doubling), which has none where they are twice as
// long and holds twice as much.
#include "core/schedule/generators.h"
#include "core/schedule/slot_order.h"

#include <algorithm>
#include <string>

namespace trainyard::schedules {

namespace {

Expected<void> checkShape(const ScheduleShape &shape)
{
    const auto fault = [](const char *where, std::string what, std::string right) {
        return std::unexpected(Error{ErrorCode::BadValue, where, std::move(what), std::move(right)});
    };
    if (shape.chunks != 2)
        return fault("parallelism.virtual_pipeline",
                     "is " + std::to_string(shape.chunks) + " under chimera, whose stages hold one chunk of each copy of the model", "1, the default, or 2");
    if (shape.devices % 2 != 0)
        return fault("parallelism.pipeline", "is " + std::to_string(shape.devices) + " under chimera, whose two copies meet in the middle",
                     std::to_string(std::max(2, shape.devices - 1)) + " or " + std::to_string(shape.devices + 1));
    if (shape.microBatches % 2 != 0)
        return fault("workload.global_batch", "gives " + std::to_string(shape.microBatches)
                         + " micro-batches to each pipeline; chimera sends half of them from each end",
                     std::to_string(shape.microBatches + 1) + " micro-batches");
    return {};
}

} // namespace

Expected<Program> chimera(const ScheduleShape &shape, const ScheduleTimes &times)
{
    if (const auto checked = checkShape(shape); !checked)
        return std::unexpected(checked.error());
    const int p = shape.devices, each = shape.microBatches / 2;
    std::vector<int> room, needed;
    for (int i = 0; i < p; ++i)
        room.push_back(std::min(p / 2, p - i));
    for (int i = 0; i < p; ++i) {   // of both directions, in micro-batches of both chunks
        const int down = std::min(each, room[static_cast<std::size_t>(i)]), up = std::min(each, room[static_cast<std::size_t>(p - 1 - i)]);
        needed.push_back((down + up + 1) / 2);
    }
    if (const auto checked = checkInFlight(shape, needed, "chimera"); !checked)
        return std::unexpected(checked.error());
    Program direct{shape, ChunkPlacement::Bidirectional, {}, OrderRule::Strict};
    orderInSlots(direct, {{0, 0, each, room}, {p, each, each, room}});
    if (shape.microBatches <= p || times.stages.empty() || shape.inFlightLimit.empty())
        return direct;
    for (int &microBatches : room)
        microBatches *= 2;
    Program doubled{shape, ChunkPlacement::Bidirectional, {}, OrderRule::Strict};
    orderInSlots(doubled, {{0, 0, each, room}, {p, each, each, room}}, 2);
    const std::vector<double> held = peakInFlight(doubled);
    for (std::size_t i = 0; i < held.size(); ++i)
        if (held[i] > shape.inFlightLimit[i])
            return direct;
    return lengthInOrder(doubled, times) < lengthInOrder(direct, times) ? std::move(doubled) : std::move(direct);
}

} // namespace trainyard::schedules

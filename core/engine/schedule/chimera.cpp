// SPDX-License-Identifier: GPL-3.0-or-later
// Chimera (Li and Hoefler 2021, arXiv 2107.06925): two copies of the model in opposite directions, half of the
// micro-batches through each, both as 1F1B of at most p / 2 in flight; their bubbles lie where the other works. More
// than p micro-batches follow without a break (the paper's direct concatenation), which leaves bubbles between the
// rounds where backwards are longer than forwards; or with two forwards at once against one backward (its forward
// doubling), which has none where they are twice as long and holds twice as much.
#include "core/engine/schedule/generators.h"
#include "core/engine/schedule/slot_order.h"

#include <algorithm>

namespace trainyard::schedules {

namespace {

/// Of each direction, per stage of its chain.
std::vector<int> roomOf(const ScheduleShape &shape)
{
    std::vector<int> room;
    for (int i = 0; i < shape.devices; ++i)
        room.push_back(std::min(shape.devices / 2, shape.devices - i));
    return room;
}

/// Of both directions, in micro-batches of both chunks.
std::vector<int> inFlightOfChimera(const ScheduleShape &shape)
{
    const std::vector<int> room = roomOf(shape);
    const int each = shape.microBatches / 2;
    std::vector<int> needed;
    for (std::size_t i = 0; i < room.size(); ++i)
        needed.push_back((std::min(each, room[i]) + std::min(each, room[room.size() - 1 - i]) + 1) / 2);
    return needed;
}

void layChimera(Program &program, const ScheduleTimes &times)
{
    const ScheduleShape &shape = program.shape;
    const int p = shape.devices, each = shape.microBatches / 2;
    std::vector<int> room = roomOf(shape);
    Program doubled = program;
    orderInSlots(program, { { 0, 0, each, room }, { p, each, each, room } });
    if (shape.microBatches <= p || times.stages.empty() || shape.inFlightLimit.empty())
        return;
    for (int &microBatches : room)
        microBatches *= 2;
    orderInSlots(doubled, { { 0, 0, each, room }, { p, each, each, room } }, 2);
    const std::vector<double> held = peakInFlight(doubled);
    for (std::size_t i = 0; i < held.size(); ++i)
        if (held[i] > shape.inFlightLimit[i])
            return;
    if (lengthInOrder(doubled, times) < lengthInOrder(program, times))
        program = std::move(doubled);
}

} // namespace

constinit const ScheduleTraits chimera {
    .kind = ScheduleKind::Chimera,
    .label = "Chimera",
    .text = "two copies in opposite directions, each as 1f1b; two forwards at once beyond as many micro-batches as "
            "stages, where memory has room",
    .holds = "half the stages, doubled all of them",
    .bubble = "(p - 2)(b + w + (m/p - 1)(b + w - f))",
    .layByTimes = layChimera,
    .inFlight = inFlightOfChimera,
    .placement = ChunkPlacement::Bidirectional,
    .chunks = { .least = 2,
        .most = 2,
        .why = "whose stages hold one chunk of each copy of the model",
        .right = "1, the default, or 2" },
    .stages = { .least = 2, .step = 2, .why = "whose two copies meet in the middle" },
    .microBatches = { .least = 2, .step = 2, .why = "sends half of them from each end" },
    .room = RoomUse::Doubling,
    .beyondOneRound = "chimera doubles its forwards where each stage has room for as many micro-batches as there are "
                      "stages; else each further round "
                      "waits for what its backwards take longer than its forwards",
};

} // namespace trainyard::schedules

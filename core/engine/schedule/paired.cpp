// SPDX-License-Identifier: GPL-3.0-or-later
// One forward and one backward in turn, run together (Megatron Core's overlap of expert communication in 1F1B): the
// backward that comes next with the forward behind it, of another micro-batch, so that what one exchanges with its
// experts travels while the other computes. A device holds one micro-batch more. No plan names these as schedules: they
// are what `moe.expert_overlap: 1f1b` makes of 1F1B and of interleaving.
#include "core/engine/schedule/generators.h"

#include <algorithm>
#include <limits>

namespace trainyard::schedules {

namespace {

/// Of each backward with a forward right behind it. They do not wait for each other: what a forward needs are forwards.
void pairNeighbours(std::vector<Op> &order)
{
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
        if (order[i].kind != OpKind::Backward || order[i + 1].kind != OpKind::Forward)
            continue;
        std::swap(order[i], order[i + 1]);
        order[i].kind = OpKind::PairedForward;
        ++i;
    }
}

/// Before its first backward.
std::ptrdiff_t forwardsAhead(const std::vector<Op> &order)
{
    return std::ranges::find(order, OpKind::Backward, &Op::kind) - order.begin();
}

template <const ScheduleTraits &base> void layPaired(Program &program)
{
    // While both run a device has one micro-batch more than its order alone would have.
    const std::vector<int> limit = program.shape.inFlightLimit;
    for (int &most : program.shape.inFlightLimit)
        most = std::max(1, most - 1);
    base.lay(program);
    program.shape.inFlightLimit = limit;
    // A device whose feeder is no further ahead waits for a forward that comes behind the very backward that it owes:
    // so it is where a limit has made warm-ups alike, and there nothing can be paired.
    std::ptrdiff_t feeder = std::numeric_limits<std::ptrdiff_t>::max();
    for (std::size_t device = 0; device < program.order.size(); ++device) {
        std::vector<Op> &order = program.order[device];
        const std::ptrdiff_t ahead = forwardsAhead(order);
        if (ahead < feeder && (limit.empty() || limit[device] > 1))
            pairNeighbours(order);
        feeder = ahead;
    }
}

} // namespace

constinit const ScheduleTraits pairedOneFOneB {
    .kind = ScheduleKind::OneFOneB,
    .label = "1F1B, paired",
    .text = "forward and backward of two micro-batches at once",
    .holds = "stages + 1",
    .lay = layPaired<oneFOneB>,
    .pairs = true,
};

constinit const ScheduleTraits pairedInterleaved {
    .kind = ScheduleKind::Interleaved,
    .label = "Interleaved, paired",
    .text = "interleaved, with forward and backward of two micro-batches at once",
    .holds = "as interleaved, and one chunk",
    .lay = layPaired<interleaved>,
    .inFlight = [](const ScheduleShape &shape) { return interleavedInFlight(shape, 1); },
    .chunks = kInterleavedChunks,
    .microBatches = kInterleavedMicroBatches,
    .pairs = true,
};

} // namespace trainyard::schedules

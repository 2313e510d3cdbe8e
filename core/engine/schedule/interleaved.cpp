// SPDX-License-Identifier: GPL-3.0-or-later
// Interleaved 1F1B (Narayanan et al. 2021, §2.2.2) in Megatron's order: micro-batches go in groups of G = p, each group
// through chunk after chunk; backwards take the chunks in reverse. Stage i warms up with 2(p - 1 - i) + (v - 1)G
// forwards.
#include "core/engine/schedule/generators.h"

#include <algorithm>

namespace trainyard::schedules {

namespace {

int warmUpOf(const ScheduleShape &shape, int device)
{
    return std::min(
        2 * (shape.devices - 1 - device) + (shape.chunks - 1) * shape.devices, shape.microBatches * shape.chunks);
}

void layInterleaved(Program &program)
{
    const int p = program.shape.devices, v = program.shape.chunks;
    std::vector<Op> forwards, backwards; // every stage takes them in the same two orders
    for (int first = 0; first < program.shape.microBatches; first += p)
        for (int c = 0; c < v; ++c)
            for (int m = first; m < first + p; ++m) {
                forwards.push_back(forward(c, m));
                backwards.push_back(backward(v - 1 - c, m));
            }
    for (int i = 0; i < p; ++i) {
        const int warmUp = warmUpOf(program.shape, i);
        std::vector<Op> &order = program.order.emplace_back(2 * forwards.size());
        auto out = std::copy_n(forwards.begin(), warmUp, order.begin());
        auto next = backwards.begin();
        for (auto made = forwards.begin() + warmUp; made != forwards.end(); ++made) {
            *out++ = *made;
            *out++ = *next++;
        }
        std::copy(next, backwards.end(), out);
    }
}

} // namespace

std::vector<int> interleavedInFlight(const ScheduleShape &shape, int more)
{
    std::vector<int> needed;
    for (int i = 0; i < shape.devices; ++i)
        needed.push_back((std::min(warmUpOf(shape, i) + 1 + more, shape.microBatches * shape.chunks) + shape.chunks - 1)
            / shape.chunks);
    return needed;
}

constinit const ScheduleTraits interleaved {
    .kind = ScheduleKind::Interleaved,
    .label = "Interleaved",
    .text = "1f1b over several chunks per stage",
    .holds = "stages and a bit",
    .bubble = "(p - 1)(f + b + w)/v",
    .lay = layInterleaved,
    .inFlight = [](const ScheduleShape &shape) { return interleavedInFlight(shape, 0); },
    .form = interleavedTime,
    .chunks = kInterleavedChunks,
    .microBatches = kInterleavedMicroBatches,
    .repeatsAfter = 3,
};

} // namespace trainyard::schedules

// SPDX-License-Identifier: GPL-3.0-or-later
// Interleaved 1F1B (Narayanan et al. 2021, §2.2.2) in Megatron's order: micro-batches go in groups of G = p, each group
// through chunk after chunk; backwards take the chunks in reverse. Stage i warms up with 2(p - 1 - i) + (v - 1)G forwards.
#include "core/schedule/generators.h"

#include <algorithm>
#include <string>

namespace trainyard::schedules {

namespace {

Expected<void> checkRules(const ScheduleShape &shape)
{
    if (shape.chunks < 2)
        return std::unexpected(Error{ErrorCode::BadValue, "parallelism.virtual_pipeline", "is 1 under interleaved",
                                     "2 or more, or schedule 1f1b"});
    if (shape.microBatches % shape.devices == 0)
        return {};
    const int below = shape.microBatches / shape.devices * shape.devices;
    const std::string above = std::to_string(below + shape.devices);
    return std::unexpected(Error{ErrorCode::BadValue, "workload.global_batch",
                                 "gives " + std::to_string(shape.microBatches) + " micro-batches to each pipeline of "
                                     + std::to_string(shape.devices) + " stages; interleaved deals them in groups of that many",
                                 below > 0 ? std::to_string(below) + " or " + above + " micro-batches"
                                           : above + " micro-batches"});
}

} // namespace

Expected<Program> interleaved(const ScheduleShape &shape)
{
    if (const auto checked = checkRules(shape); !checked)
        return std::unexpected(checked.error());
    const int p = shape.devices, v = shape.chunks, total = shape.microBatches * v;
    Program program{shape, ChunkPlacement::Loop, std::vector<std::vector<Op>>(static_cast<std::size_t>(p))};
    std::vector<Op> forwards, backwards;   // every stage takes them in the same two orders
    for (int first = 0; first < shape.microBatches; first += p)
        for (int c = 0; c < v; ++c)
            for (int m = first; m < first + p; ++m) {
                forwards.push_back(forward(c, m));
                backwards.push_back(backward(v - 1 - c, m));
            }
    std::vector<int> needed;
    for (int i = 0; i < p; ++i) {
        const int warmUp = std::min(2 * (p - 1 - i) + (v - 1) * p, total);
        needed.push_back((std::min(warmUp + 1, total) + v - 1) / v);
        std::vector<Op> &order = program.order[static_cast<std::size_t>(i)];
        order.resize(2 * forwards.size());
        auto out = std::copy_n(forwards.begin(), warmUp, order.begin());
        auto next = backwards.begin();
        for (auto made = forwards.begin() + warmUp; made != forwards.end(); ++made) {
            *out++ = *made;
            *out++ = *next++;
        }
        std::copy(next, backwards.end(), out);
    }
    if (const auto checked = checkInFlight(shape, needed, "interleaved"); !checked)
        return std::unexpected(checked.error());
    return program;
}

} // namespace trainyard::schedules

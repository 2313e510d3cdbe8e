#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What an order of work says before anything has a size or a time: the moments at which a device may hold most, as
// counts of what it then has, and how much a device does before its first gradient. One walk serves every plan with
// that order: what the counted things weigh comes from OpMemory.

#include "core/memory/op_memory.h"
#include "core/schedule/program.h"
#include "core/schedule/traits.h"

#include <vector>

namespace trainyard {

/// What a device has in flight at a moment, by chunk, and the operation that it is about to run or runs.
struct Moment {
    static constexpr std::uint32_t kNothing = ~std::uint32_t(0);
    /// Of each chunk: micro-batches that find everything at their backward, others, and those that wait for their
    /// weight gradients alone.
    struct Count {
        std::int32_t whole = 0, kept = 0, waiting = 0;
        bool operator==(const Count &) const = default;
    };
    std::vector<Count> counts;
    std::uint32_t running = kNothing; // effect of the chunks' OpMemory

    [[nodiscard]] bool isCovered(const Moment &by) const;
};

/// Of one device; moments that another one outdoes whatever things weigh are left out. `like`: any memory of a device
/// with as many chunks, by which effects are numbered. `isRecomputing`: the plan recomputes at all.
[[nodiscard]] std::vector<Moment> fullMoments(
    const Program &program, int device, const OpMemory &like, bool isRecomputing);
/// Adds a moment, unless one covers it, and takes away those that it covers.
void addMoment(std::vector<Moment> &all, const Moment &moment);

/// Bytes at the fullest of the moments.
[[nodiscard]] double mostHeld(const std::vector<Moment> &moments, const OpMemory &memory);

/// Of a device: forwards of each chunk before its first gradient; paired ones are not.
[[nodiscard]] std::vector<int> forwardsBeforeGradients(const Program &program, int device);

/// The order of one micro-batch alone: each device holds all of its chunks at the first gradient, but for copies of the
/// model, of which a micro-batch goes through one. Whatever the schedule, a device holds that at some time.
[[nodiscard]] Program orderOfOne(const ScheduleTraits &schedule, int devices, int chunks);

} // namespace trainyard

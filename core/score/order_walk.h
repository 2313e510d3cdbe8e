#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What an order of work says before anything has a size or a time: the moments at which a device may hold most, as
// counts of what it then has, and how much a device does before its first gradient. One walk serves every plan with
// that order: what the counted things weigh comes from OpMemory.

#include "core/memory/op_memory.h"
#include "core/schedule/program.h"
#include "core/schedule/traits.h"

#include <cstdint>
#include <vector>

namespace trainyard {

/// What a device has in flight at a moment, by chunk, and the operation that it is about to run or runs.
struct HeldMoment {
    static constexpr std::uint32_t kNothing = ~std::uint32_t(0);
    /// Of each chunk: micro-batches that find everything at their backward, others, and those that wait for their
    /// weight gradients alone.
    struct Count {
        std::int32_t whole = 0, kept = 0, waiting = 0;
        bool operator==(const Count &) const = default;
    };
    std::vector<Count> counts;
    std::uint32_t running = kNothing; // effect of an OpMemory of as many chunks

    [[nodiscard]] bool isCovered(const HeldMoment &by) const;
};

/// Of one device; moments that another one outdoes whatever things weigh are left out. `like`: any memory of a device
/// with as many chunks, which numbers effects. `isRecomputing`: the plan recomputes at all.
[[nodiscard]] std::vector<HeldMoment> fullMoments(
    const Program &program, int device, const OpMemory &like, bool isRecomputing);
/// Adds a moment, unless one covers it, and takes away those that it covers.
void addMoment(std::vector<HeldMoment> &all, const HeldMoment &moment);

/// What the counted things of a device weigh, bytes, as its OpMemory has it.
class HeldWeights {
public:
    HeldWeights(std::vector<ChunkMemory> chunks, bool pairs);
    /// At the fullest of the moments.
    [[nodiscard]] double most(const std::vector<HeldMoment> &moments) const;

private:
    struct Chunk {
        double whole = 0, kept = 0, waiting = 0;
    };
    void add(const OpMemory &memory);

    std::vector<Chunk> m_chunks;
    std::vector<double> m_running; // [effect]: what it adds while it runs
};

/// Of a device: forwards of each chunk before its first gradient; paired ones are not.
[[nodiscard]] std::vector<int> forwardsBeforeGradients(const Program &program, int device);

/// The order of one micro-batch alone: each device holds all of its chunks at the first gradient, but for copies of the
/// model, of which a micro-batch goes through one. Whatever the schedule, a device holds that at some time.
[[nodiscard]] Program orderOfOne(const ScheduleTraits &schedule, int devices, int chunks);

} // namespace trainyard

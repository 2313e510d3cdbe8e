#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What an order of work says before anything has a size or a time: the moments at which a device may hold most, as
// counts of what it then has, and how much a device does before its first gradient. One walk serves every plan with
// that order: what the counted things weigh comes from OpMemory.

#include "core/engine/schedule/program.h"
#include "core/engine/schedule/traits.h"
#include "core/iteration/memory/op_memory.h"

#include <cstdint>
#include <span>
#include <vector>

namespace trainyard {

/// Moments of devices with so many chunks: what is in flight, and the operation that is about to run or runs.
class MemoryMoments {
public:
    /// Of each chunk: micro-batches that find everything at their backward, others, and those that wait for their
    /// weight gradients alone.
    struct Count {
        std::int32_t whole = 0, kept = 0, waiting = 0;
    };
    /// runs
    static constexpr std::uint32_t kNothing = ~std::uint32_t(0);

    explicit MemoryMoments(int chunks = 0)
        : m_chunks(std::size_t(chunks))
    {
    }
    /// `running`: a plain effect of OpMemory.
    void add(std::span<const Count> counts, std::uint32_t running);
    [[nodiscard]] std::size_t size() const { return m_running.size(); }
    [[nodiscard]] std::span<const Count> counts(std::size_t moment) const
    {
        return { m_counts.data() + moment * m_chunks, m_chunks };
    }
    [[nodiscard]] std::uint32_t running(std::size_t moment) const { return m_running[moment]; }
    [[nodiscard]] bool hasOnlyKept() const { return m_hasOnlyKept; }

private:
    std::size_t m_chunks;
    /// [moment][chunk]
    std::vector<Count> m_counts;
    /// [moment]
    std::vector<std::uint32_t> m_running;
    bool m_hasOnlyKept = true;
};

/// The moments of devices at which they may hold most: none that another one outdoes whatever things weigh.
class FullMoments {
public:
    /// Of devices with so many chunks.
    explicit FullMoments(int chunks);
    /// `isRecomputing`: the plan recomputes at all.
    void add(const Program &program, int device, bool isRecomputing);
    [[nodiscard]] MemoryMoments moments() const;

private:
    using Count = MemoryMoments::Count;
    struct Moment {
        /// where they lie
        std::uint32_t counts = 0;
        /// of all of them
        std::int32_t sum = 0;
        /// equal where they are, else most likely not
        std::uint64_t word = 0;
        /// with the same operation running, in a ring
        std::uint32_t next = kNone;
    };
    static constexpr std::uint32_t kNone = ~std::uint32_t(0);

    void count(int chunk, std::int32_t Count::*number, std::int32_t by);
    void meet(std::uint32_t running);
    [[nodiscard]] bool isOutdoneBy(const Moment &moment) const;
    [[nodiscard]] bool outdoes(const Moment &moment) const;
    void leaveOut(std::uint32_t &last);

    int m_chunks;
    /// [chunk]
    std::vector<Count> m_now;
    /// what is now
    Moment m_of;
    /// of all moments, also of those that are outdone
    std::vector<Count> m_counts;
    std::vector<Moment> m_moments;
    /// [running; nothing is the last one]: where it was met last
    std::vector<std::uint32_t> m_last;
};

/// What the counted things of a device weigh, bytes, as its OpMemory has it.
class HeldWeights {
public:
    HeldWeights(const std::vector<ChunkMemory> &chunks, bool pairs);
    /// At the fullest of the moments.
    [[nodiscard]] double most(const MemoryMoments &moments) const;

private:
    struct Chunk {
        double whole = 0, kept = 0, waiting = 0;
        /// of its first operation; equal chunks share them
        std::uint32_t running = 0;
    };
    [[nodiscard]] double running(std::uint32_t effect) const;

    std::vector<Chunk> m_chunks;
    /// what operations add while they run
    std::vector<double> m_running;
    std::uint32_t m_firstPair = 0;
};

/// Of a device: forwards of each chunk before its first gradient; paired ones are not.
[[nodiscard]] std::vector<int> forwardsBeforeGradients(const Program &program, int device);

/// The order of one micro-batch alone: each device holds all of its chunks at the first gradient, but for copies of the
/// model, of which a micro-batch goes through one. Whatever the schedule, a device holds that at some time.
[[nodiscard]] Program orderOfOne(const ScheduleTraits &schedule, int devices, int chunks);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the operations of one stage do to the memory of its GPU, by what is done rather than for each micro-batch: whole
// operations, their segments where activations leave, and pairs. The classes of a graph's tasks take their bytes from
// here, and the walk over a timeline or over an order of work adds them up. Equations in docs/model.md, "Memory" and
// "Activation offload".

#include "core/engine/schedule/recompute_state.h"
#include "core/engine/timeline/work.h"
#include "core/iteration/memory/chunk_memory.h"
#include "core/iteration/memory/stage_offload.h"

#include <array>
#include <memory>

namespace trainyard {

/// What the micro-batches hold on one GPU at a moment, or a change of that.
struct LiveBytes {
    /// kept by layers, recomputed ones included
    double activations = 0;
    /// beside the layers
    double ends = 0;
    /// of micro-batches whose weight gradients are still to come
    double forWeightGrads = 0;
    double loss = 0;
    /// micro-batches between forward and backward, chunks counted as fractions
    double inFlight = 0;
    Workspace workspace;
    [[nodiscard]] double total() const { return activations + ends + forWeightGrads + loss + workspace.total(); }
    void add(const LiveBytes &other);
};

/// Of operations that are cut. BackwardAnew: right after its own recomputation. RecomputeRest: of an operation of its
/// own, all segments but the one with which it begins.
enum class SegmentWork : std::uint8_t {
    Forward,
    ForwardWhole,
    Backward,
    BackwardAnew,
    BackwardWhole,
    RecomputeWithin,
    Recompute,
    RecomputeRest
};
inline constexpr std::uint32_t kSegmentWorks = 8;

/// The pairs of a stage in order: by the chunk of the forward, that of the backward, and what the two find whole.
[[nodiscard]] constexpr std::uint32_t pairOf(
    int chunks, int forward, bool isForwardWhole, int backward, bool isBackwardWhole)
{
    return 4 * std::uint32_t(forward * chunks + backward) + (isForwardWhole ? 2 : 0) + (isBackwardWhole ? 1 : 0);
}

class OpMemory {
public:
    struct Effect {
        LiveBytes atStart, running, atEnd;
        /// of `gpu` nothing: what is away or discarded from the end on, or again here from the start on (negative)
        PoolBytes left, returned;
        [[nodiscard]] MemoryChange change() const;
    };

    struct Program { // what it has operations of
        bool splitsBackward = false, pairs = false;
    };
    /// `offload`: nullptr where every activation stays.
    OpMemory(std::vector<ChunkMemory> chunks, const StageOffload *offload, Program program);

    [[nodiscard]] const std::vector<ChunkMemory> &chunks() const { return m_chunks; }
    /// What whole operations do to the memory of a stage with one chunk of that size, by OpWork.
    [[nodiscard]] static std::array<MemoryChange, kOpWorks> changesOf(const ChunkMemory &chunk);

    // Indices of effects where every activation stays, whatever chunks hold
    [[nodiscard]] static constexpr std::uint32_t plainOp(int chunk, OpWork work)
    {
        return std::uint32_t(chunk) * kOpWorks + std::uint32_t(work);
    }
    [[nodiscard]] static constexpr std::uint32_t plainPair(
        int chunks, int forward, bool isForwardWhole, int backward, bool isBackwardWhole)
    {
        return plainOp(chunks, OpWork::Forward) + pairOf(chunks, forward, isForwardWhole, backward, isBackwardWhole);
    }
    // Indices of effects
    [[nodiscard]] std::uint32_t op(int chunk, OpWork work) const
    {
        return m_first[std::size_t(chunk)] + std::uint32_t(work);
    }
    [[nodiscard]] std::uint32_t segment(int chunk, std::size_t segment, SegmentWork work) const
    {
        return m_first[std::size_t(chunk)] + kOpWorks + kSegmentWorks * std::uint32_t(segment) + std::uint32_t(work);
    }
    [[nodiscard]] std::uint32_t pair(int forward, bool isForwardWhole, int backward, bool isBackwardWhole) const
    {
        return m_firstPair + pairOf(int(m_chunks.size()), forward, isForwardWhole, backward, isBackwardWhole);
    }
    [[nodiscard]] std::uint32_t effects() const { return std::uint32_t(m_effects.size()); }
    [[nodiscard]] const Effect &effect(std::uint32_t index) const { return m_effects[index]; }
    [[nodiscard]] const MemoryChange &change(std::uint32_t index) const { return m_changes[index]; }

    /// Tells a class of tasks what it does.
    void tell(TaskClass &taskClass, std::uint32_t index) const
    {
        taskClass.memoryParts = index;
        taskClass.memory = m_changes[index];
    }
    /// Of a store or a load of so many bytes.
    static MemoryChange moved(double bytes, bool isStore);

private:
    [[nodiscard]] static std::array<Effect, kOpWorks> opsOf(const ChunkMemory &chunk, double chunks);
    void addOffloadedOps(std::size_t chunk, const std::vector<SegmentBytes> &segments, bool splitsBackward);
    void addSegments(std::size_t chunk, const std::vector<SegmentBytes> &segments, bool splitsBackward);
    void addPairs(const StageOffload *offload);
    [[nodiscard]] LiveBytes whole(std::size_t chunk, bool isWhole, double bytes, double sign) const
    {
        return whole(m_chunks[chunk], double(m_chunks.size()), isWhole, bytes, sign);
    }
    [[nodiscard]] static LiveBytes whole(
        const ChunkMemory &chunk, double chunks, bool isWhole, double bytes, double sign);

    std::vector<ChunkMemory> m_chunks;
    std::vector<std::uint32_t> m_first;
    std::uint32_t m_firstPair = 0;
    std::vector<Effect> m_effects;
    std::vector<MemoryChange> m_changes;
};

} // namespace trainyard

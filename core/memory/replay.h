#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Walks the operations of one device in their order and says what the micro-batches hold at each. Peaks and curves both
// come from here, so they agree.

#include "core/memory/chunk_memory.h"
#include "core/schedule/program.h"

#include <cstdint>
#include <vector>

namespace trainyard {

/// What the micro-batches hold on one GPU while an operation runs.
struct Held {
    double activations = 0;        // kept by layers, recomputed ones included
    double ends = 0;               // beside the layers
    double forWeightGrads = 0;     // of micro-batches whose weight gradients are still to come
    double loss = 0;
    double inFlight = 0;           // micro-batches between forward and backward, chunks counted as fractions
    Transient beside;
    [[nodiscard]] double total() const { return activations + ends + forWeightGrads + loss + beside.total(); }
};

class Replay {
public:
    /// `chunks` outlives the replay; `isRecomputing`: the plan recomputes at all.
    Replay(const Program &program, int device, const std::vector<ChunkMemory> &chunks, bool isRecomputing);

    /// While the operation runs, then advances past it.
    Held run(OpKind kind, int chunk, int microBatch);
    /// Between operations.
    [[nodiscard]] const Held &now() const { return m_now; }
    [[nodiscard]] bool hasRecomputeOps() const { return m_hasRecomputeOps; }

private:
    enum class State : std::uint8_t { Kept, Whole };

    [[nodiscard]] State &state(int chunk, int microBatch) { return m_state[std::size_t(chunk) * m_microBatches + std::size_t(microBatch)]; }

    const std::vector<ChunkMemory> &m_chunks;
    std::size_t m_microBatches;
    std::vector<State> m_state;    // per chunk and micro-batch: what its forward left, or its recomputation made
    bool m_hasRecomputeOps = false;
    Held m_now;
};

/// The fullest moment of a device.
[[nodiscard]] Held fullestMoment(const Program &program, int device, const std::vector<ChunkMemory> &chunks, bool isRecomputing);

} // namespace trainyard

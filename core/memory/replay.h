#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Walks the operations of one device in their order and says what the micro-batches hold at each. Peaks and curves both
// come from here, so they agree.

#include "core/memory/chunk_memory.h"
#include "core/schedule/program.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainyard {

/// What the micro-batches hold on one GPU while an operation runs.
struct LiveBytes {
    double activations = 0;        // kept by layers, recomputed ones included
    double ends = 0;               // beside the layers
    double forWeightGrads = 0;     // of micro-batches whose weight gradients are still to come
    double loss = 0;
    double inFlight = 0;           // micro-batches between forward and backward, chunks counted as fractions
    Workspace workspace;
    [[nodiscard]] double total() const { return activations + ends + forWeightGrads + loss + workspace.total(); }
};

/// The sums alone: two additions an operation, since long pipelines have many.
class Replay {
public:
    /// `isRecomputing`: the plan recomputes at all.
    Replay(const Program &program, int device, const std::vector<ChunkMemory> &chunks, bool isRecomputing);

    /// Bytes while the operation runs; advances past it.
    double run(OpKind kind, int chunk, int microBatch)
    {
        const Sizes &c = m_sizes[std::size_t(chunk)];
        const bool isWhole = !m_isWhole.empty() && m_isWhole[index(chunk, microBatch)] != 0;
        switch (kind) {
        case OpKind::PairedForward:   // its backward follows
        case OpKind::Forward: return (m_now += c.live[isWhole]) + c.forwardWorkspace;
        case OpKind::Recompute: return recompute(c, chunk, microBatch);
        case OpKind::WeightGrad: {
            const double during = m_now;
            m_now -= c.forWeightGrads;
            return during;
        }
        case OpKind::Backward:
        case OpKind::InputGrad: break;
        }
        const double during = m_now + (kind == OpKind::InputGrad ? c.workspaceSplit : c.workspace)[isWhole];
        m_now += (kind == OpKind::InputGrad ? c.forWeightGrads : 0) - c.live[isWhole];
        return during;
    }
    /// Between operations.
    [[nodiscard]] double now() const { return m_now; }
    [[nodiscard]] bool hasRecomputeOps() const { return m_hasRecomputeOps; }
    /// The micro-batch finds everything that its forward made, because nothing recomputes it.
    [[nodiscard]] bool isWhole(int chunk, int microBatch) const { return !m_isWhole.empty() && m_isWhole[index(chunk, microBatch)] != 0; }

private:
    struct Sizes {                 // [0] with recomputation, [1] whole
        double live[2]{}, workspace[2]{};
        double workspaceSplit[2]{};   // of an input gradient, with what it has left for weight gradients by its last layer
        double forwardWorkspace = 0, forWeightGrads = 0;
    };

    [[nodiscard]] std::size_t index(int chunk, int microBatch) const { return std::size_t(chunk) * m_microBatches + std::size_t(microBatch); }
    double recompute(const Sizes &c, int chunk, int microBatch);

    std::vector<Sizes> m_sizes;
    std::size_t m_microBatches;
    std::vector<std::uint8_t> m_isWhole;   // per chunk and micro-batch; empty where none is
    bool m_hasRecomputeOps = false;
    double m_now = 0;
};

/// The most bytes that the micro-batches hold on a device, and at which of its operations.
struct Fullest {
    double total = 0;
    std::size_t op = 0;
    bool isAfter = false;          // right after the operation instead of while it runs
};
[[nodiscard]] Fullest fullestMoment(const Program &program, int device, const std::vector<ChunkMemory> &chunks, bool isRecomputing);

/// What is held then, part by part.
[[nodiscard]] LiveBytes liveAt(const Fullest &moment, const Program &program, int device, const std::vector<ChunkMemory> &chunks, bool isRecomputing);

} // namespace trainyard

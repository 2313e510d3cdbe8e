#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What one micro-batch holds on one GPU for one virtual stage, and what exists beside that only while an operation
// runs: layers recomputed, gradients at work, logits. Bytes; equations in docs/model.md, "Memory". Plain values.

#include "core/iteration/placement/activation_shape.h"

#include <vector>

namespace trainyard {

/// Bytes beside what the micro-batches in flight keep, at the worst moment of one operation. Negative where the
/// operation has freed part of what is kept by then.
struct Workspace {
    /// of the micro-batch's own activations, freed before: negative
    double kept = 0;
    double logits = 0;
    /// a layer that is recomputed
    double recomputed = 0;
    /// of activations
    double gradients = 0;
    /// of weights, before they are added to the main gradient
    double weightGradients = 0;
    [[nodiscard]] double total() const { return kept + logits + recomputed + gradients + weightGradients; }
};

struct ChunkMemory {
    /// by the layers, from forward to backward
    double kept = 0;
    /// the same without recomputation: of a micro-batch that is not recomputed
    double whole = 0;
    /// beside the layers: mask of the embedding, output of the stage
    double ends = 0;
    /// what the loss keeps
    double loss = 0;
    /// from input gradient to weight gradient, where they are split
    double forWeightGrads = 0;
    /// beside that
    Workspace forward, backward;
    /// of a backward that does not recompute
    Workspace sparedBackward;
    // The moments of the backward, of which the above is the worst: while the loss or the output matrix is worked on, a
    // layer, or the token table. Zero where the chunk has no such part.
    Workspace atHead, atLayers, atEmbedding;
};

/// The virtual stages of a stage, in order.
[[nodiscard]] std::vector<ChunkMemory> chunkMemory(const Workload &workload, int stage);

/// Bytes that the layers which predict further tokens keep of a micro-batch, on the GPUs with the head: of
/// ChunkMemory::kept. A prediction's loss is part of ChunkMemory::loss.
[[nodiscard]] double predictorsKept(const Workload &workload);

/// Whether the input of a virtual stage, its first norm's, is not kept: that norm's backward works from its output,
/// which is.
[[nodiscard]] bool freesStageInput(const Workload &workload);

} // namespace trainyard

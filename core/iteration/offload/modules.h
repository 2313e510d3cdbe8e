#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The layers of a virtual stage as modules, in the order of the forward: what each keeps of one micro-batch on one GPU,
// how much of that may leave, and how its time is part of the operation's. Plain values.

#include "core/iteration/cost/stage_coster.h"

#include <vector>

namespace trainyard {

/// Layer: attention and MLP in one, where the layer is recomputed as a whole.
enum class ModulePart : std::uint8_t { Embedding, Attention, Mlp, Layer, Head };

struct OffloadModule {
    ModulePart part = ModulePart::Layer;
    /// of the model; -1: embedding and head
    int layer = -1;
    /// bytes; deduplicated, without tensors that are too small
    double offloadable = 0;
    /// bytes that stay until the backward
    double resident = 0;
    /// bytes discarded after the forward, recomputed before the backward
    double discarded = 0;
    /// what may leave does
    bool leaves = false;
    /// recomputation apart
    Seconds forward, inputGrad, weightGrad, recompute;
};

/// Slices of the tokens of a micro-batch; 1 where the schedule has none.
[[nodiscard]] int tokenSlices(const Plan &plan);

/// `again`: layers of the chunk that full recomputation repeats as a whole. Tensors of fewer elements stay (SSDTrain's
/// skip_small_tensors). The bytes add up to ChunkMemory::kept. Of a slice of the tokens, with its `parts`, where the
/// schedule has such: keys and values stay.
[[nodiscard]] std::vector<OffloadModule> chunkModules(const Workload &workload, const StageChunk &chunk,
    RecomputedLayers recomputed, const StageCoster::Parts &parts, double minElements);

/// A layer as policies see it that recompute by themselves: `module` holds all that the layer keeps as offloadable.
struct PolicyLayer {
    OffloadModule module;
    /// bytes: of the layer
    double input = 0;
    /// of the output of its attention core, with what the core's backward needs beside it
    double attention = 0;
    /// what the plan computes again anyway (norms, activation function)
    OpSplit recompute;
    OpSplit wholeRecompute,
        withoutCore; // the whole forward again; all but the core of attention. What was gathered for it is there
};

/// The layers of a chunk, for a plan that does not recompute them itself. Small tensors are not set apart.
[[nodiscard]] std::vector<PolicyLayer> chunkLayers(
    const Workload &workload, const StageChunk &chunk, const StageCoster::Parts &parts);

} // namespace trainyard

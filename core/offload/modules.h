#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The layers of a virtual stage as modules, in the order of the forward: what each keeps of one micro-batch on one GPU, how
// much of that may leave, and how its time is part of the operation's. Plain values.

#include "core/cost/stage_coster.h"

#include <vector>

namespace trainyard {

/// Layer: attention and MLP in one, where the layer is recomputed as a whole.
enum class ModulePart : std::uint8_t { Embedding, Attention, Mlp, Layer, Head };

struct OffloadModule {
    ModulePart part = ModulePart::Layer;
    int layer = -1;                // of the model; -1: embedding and head
    double offloadable = 0;        // bytes; deduplicated, without tensors that are too small
    double resident = 0;           // bytes that stay until the backward
    Seconds forward, inputGrad, weightGrad, recompute;   // recomputation apart
};

/// `again`: layers of the chunk that full recomputation repeats as a whole. Tensors of fewer elements stay (SSDTrain's skip_small_tensors). The bytes add up to ChunkMemory::kept.
[[nodiscard]] std::vector<OffloadModule> chunkModules(const Workload &workload, const StageChunk &chunk, RecomputedLayers again,
                                                      const StageCoster::Parts &parts, double minElements);

} // namespace trainyard

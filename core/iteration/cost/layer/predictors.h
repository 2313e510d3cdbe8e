#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Layers that predict tokens after the next one (multi-token prediction, DeepSeek-V3, arXiv 2412.19437, section 2.2):
// each joins what the model made with the embedding of a later token by a product of 2h x h, runs one layer more and
// the head once more. They stand on the stage with the head. Pure functions.

#include "core/iteration/cost/layer/layer_cost.h"

namespace trainyard {

/// All of them, for one micro-batch. `layer`: the cost of a layer like the model's last.
[[nodiscard]] ChunkCost predictorsCost(const Workload &workload, const LayerSite &site, const ChunkCost &layer);

} // namespace trainyard

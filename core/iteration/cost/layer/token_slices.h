#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Slices of a sequence's tokens, for schedules that send them down the pipeline one after another. A slice's products
// have fewer rows, and its attention looks at all tokens before it. docs/model.md, "Token slices".

#include "core/iteration/cost/layer/layer_cost.h"

namespace trainyard {

/// Tokens of each slice of the plan's sequence, first to last: so cut that a layer takes equally long for each, later
/// slices being shorter. Equal lengths where a profile stands for the layers. One entry where the schedule has no
/// slices.
[[nodiscard]] std::vector<int> sliceLengths(const Workload &workload, const LayerSite &site);

/// The workload with the tokens of one slice only.
[[nodiscard]] Workload ofSlice(const Workload &workload, int tokens);

/// What a layer's attention to the `before` tokens of earlier slices adds to that of the slice to itself.
[[nodiscard]] ChunkCost attentionToEarlier(const Workload &slice, const LayerSite &site, int before);

} // namespace trainyard

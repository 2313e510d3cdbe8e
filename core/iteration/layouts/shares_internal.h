#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a layout in the making is shared out: see shares.h.

#include "core/iteration/placement/workload.h"

#include <vector>

namespace trainyard {

/// Layers, micro-batches and states of the placed layout, in this order, and what each set of GPUs got with why; layer
/// by layer micro-batches and states at once (layered_shares.h). What cannot be dealt as asked stays even, and
/// `Layout::shares` says what is in the way. `boldly`: layers are cut by speed, and layer by layer activation offload
/// is taken to let all leave that may; false leaves layers as they are, and takes what may leave as staying. `notes`:
/// false leaves what each set got out, which takes as long as the rest.
void shareOut(Workload &inMaking, bool boldly = true, bool notes = true);

/// The layout that shareOut() has dealt, with micro-batches of sizes of their own on unequal GPUs (ownSizes() in
/// dealt_pipelines.h) that fit and are all full, soonest first; where it fits, only what ends sooner than it. None
/// where the plan's compute is not balanced, or it is dealt layer by layer.
[[nodiscard]] std::vector<Layout> withOwnSizes(Workload &dealt, bool notes = true);

} // namespace trainyard

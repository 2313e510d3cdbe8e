#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Sharing work and states out to unequal GPUs, where the plan asks for it: after stages have their locations and before
// pipelines that cross the WAN form cells. docs/model.md, "Mixed GPUs".

#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// Whether the plan asks for anything but even shares. The bounds of placements count with those.
[[nodiscard]] bool sharesOut(const Plan &plan);

/// Layers, micro-batches and states of the placed layout, in this order, and what each set of GPUs got with why; layer
/// by layer micro-batches and states at once (layered_shares.h). What cannot be dealt as asked stays even, and
/// `Layout::shares` says what is in the way. `cutsLayers`: false leaves layers as they are.
/// `notes`: false leaves what each set got out, which takes as long as the rest.
void shareOut(Workload &workload, bool cutsLayers = true, bool notes = true);

} // namespace trainyard

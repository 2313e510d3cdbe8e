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
/// `Layout::shares` says what is in the way. `boldly`: layers are cut by speed, and layer by layer activation offload
/// is taken to let all leave that may; false leaves layers as they are, and takes what may leave as staying. `notes`:
/// false leaves what each set got out, which takes as long as the rest.
void shareOut(Workload &workload, bool boldly = true, bool notes = true);

/// Whether the bold deal may turn out worse than the other, so that both are simulated: stages reduce and update at
/// the end besides, and how much leaves a GPU only its timetable says.
[[nodiscard]] bool dealsTwice(const Plan &plan);

} // namespace trainyard

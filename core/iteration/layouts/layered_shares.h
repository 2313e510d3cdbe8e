#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Who gets what under accumulation layer by layer, where every replica is one stage: the answer of
// core/systems/unequal_gpus as classes of the layout. docs/model.md, "Mixed GPUs".

#include "core/iteration/memory/layered_memory.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// Deals the micro-batches and states of a placed layout, and notes how. Where they cannot be dealt as asked everything
/// stays even and `shares.why` says what is in the way. `away`: what replicas are taken to be rid of.
void shareOutLayered(Workload &workload, CountedAway away);

} // namespace trainyard

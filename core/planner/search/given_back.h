#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A ranking of datacenters by cost whose options are plans as they would be written: what an option leaves idle in
// whole nodes is given back, so that what it is ranked by is the price that evaluate() tells of it. Any thread; a
// workspace each.

#include "core/evaluation/selection/selection.h"

namespace trainyard {

/// Of a ranking by cost; any other stays as it is. Each option's plan without its whole idle nodes, as far as it trains
/// the same (withoutIdleNodes), with the GPUs that went, its price, and that in its sentence. The plan as it is stays
/// and pays for all its GPUs; where it leaves whole nodes idle, it is an option without them too. Order, front and
/// bests are by these prices. Returns early, with what was done, where the context is stopped.
void giveBackIdle(Selection &selection, const RunContext &context);

} // namespace trainyard

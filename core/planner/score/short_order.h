#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A program with fewer operations that holds as much at its fullest moments. What a device holds follows from how many
// micro-batches of each chunk it has forwarded and not yet finished; in the middle of a pipeline it comes back to the
// same numbers again and again. Rounds that begin and end with the same numbers, and in which nothing is met that was
// not met before, are left out.

#include "core/engine/schedule/program.h"

namespace trainyard {

/// Micro-batches are numbered anew. Programs with pairs or with recomputations of their own stay as they are.
[[nodiscard]] Program shortOrder(const Program &program, bool isRecomputing);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The generator tells how long a collective should take, and as its size what would take that long at 100 GB/s, which
// no fabric carries. Here each gets the size that takes as long over the plan's own links.

#include "tests/core/runs/overlay/recorded_run.h"

namespace trainyard::test {

/// Of all-reduces and all-gathers of several ranks of one stage; others, and counters of a few bytes, stay. Times do
/// not change.
void carryTrueSizes(Recording &recording, const EvaluationPtr &evaluation, const RankMap &map);

} // namespace trainyard::test

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Groups of ranks whose collectives take longer than those of groups like them, by the least duration over their ranks.

#include "core/runs/overlay/suspects.h"

namespace trainyard {

/// Those that cost `least` seconds a step or more, worst first. Like: the same operation, bytes and number of ranks,
/// transfers also of the same two stages. A group with a rank that nobody recorded tells nothing: all may wait for it.
[[nodiscard]] std::vector<SlowLink> slowLinks(const Run &run, const RankMap &map, double least);

} // namespace trainyard

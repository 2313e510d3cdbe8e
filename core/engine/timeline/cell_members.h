#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Who sends on a WAN track: where the pipelines of a cell take turns, one track carries the transfers of all of them,
// and each leads to the span whose result it carries. Pure functions, any thread.

#include "core/engine/timeline/timeline.h"

namespace trainyard {

/// Pipeline class whose result a WAN transfer carries: that of its origin's track, else of its own.
[[nodiscard]] int sendingMember(const Timeline &timeline, std::uint32_t span);
/// Several pipeline classes take turns on this track.
[[nodiscard]] bool hasTurns(const Timeline &timeline, const Track &track);

} // namespace trainyard

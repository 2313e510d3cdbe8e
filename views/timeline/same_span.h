#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A span of one timeline in another: the same work of the same micro-batch on the same stage, however its time and its
// number changed with an edit. Keeps selections over edits and previews. Pure function.

#include "core/engine/timeline/timeline.h"

namespace trainyard {

/// kNoSpan where the other timeline has no such work.
[[nodiscard]] std::uint32_t sameSpan(const Timeline &from, std::uint32_t span, const Timeline &to);

} // namespace trainyard

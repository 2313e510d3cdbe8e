#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How many places a token visits: of n equal places that hold E experts, with k experts chosen without return. Standard
// combinatorics: n (1 - C(E - E/n, k) / C(E, k)). Where routing keeps to some groups of experts (DeepSeek), the groups
// are drawn first.

#include "core/experts/expert_group.h"

namespace trainyard {

/// Of `places` that share the experts evenly, the mean number that a token visits.
[[nodiscard]] double placesVisited(double places, const ExpertTokens &tokens);
/// Of those, other than its own.
[[nodiscard]] double otherPlacesVisited(double places, const ExpertTokens &tokens);

} // namespace trainyard

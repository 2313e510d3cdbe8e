#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How many places a token visits: of n equal places that hold E experts, with k experts chosen without return. Standard
// combinatorics: n (1 - C(E - E/n, k) / C(E, k)). Where routing keeps to some groups of experts (DeepSeek) those with
// the best single expert are taken: of experts by falling score the first k whose group is among the first t to appear.
// So a token visits min(t, groups of the best k) groups. docs/experts.md, "How many places a token visits".

#include "core/systems/experts/expert_group.h"

namespace trainyard {

/// That a token visits a place that holds `share` of the experts. Exact where places divide groups or groups places.
[[nodiscard]] double visitChance(double share, const ExpertTokens &tokens);
/// Of `places` that share the experts evenly, the mean number that a token visits.
[[nodiscard]] double placesVisited(double places, const ExpertTokens &tokens);
/// Of those, other than its own.
[[nodiscard]] double otherPlacesVisited(double places, const ExpertTokens &tokens);

} // namespace trainyard

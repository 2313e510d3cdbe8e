// SPDX-License-Identifier: GPL-3.0-or-later
// A space that can be looked at whole. The most promising candidates by the closed form come first, since a good plan
// leaves little to simulate; then all in the order of their bounds, until no bound is below the best.
#include "core/planner/search/search_state_internal.h"

#include <algorithm>
#include <tuple>

namespace trainyard::detail {

namespace {

constexpr std::size_t kPromisingRounds = 4;
/// Of what may be done; so that something is left to simulate with.
constexpr double kMostOfScores = 0.5;

} // namespace

SearchResult exhaustive(SearchState &state, const std::vector<std::uint64_t> &numbers, bool areAll)
{
    state.setTotal(areAll ? numbers.size() : 0);
    std::vector<ScoredCandidate> open = state.scored(numbers, kMostOfScores);
    std::ranges::sort(
        open, {}, [](const ScoredCandidate &one) { return std::tuple(one.promise, one.leastValue, one.number); });
    const std::size_t first = std::min(open.size(), kPromisingRounds * state.roundSize());
    state.judge({ open.begin(), open.begin() + std::ptrdiff_t(first) });
    std::ranges::sort(
        open, {}, [](const ScoredCandidate &one) { return std::tuple(one.leastValue, one.promise, one.number); });
    state.judge(open);
    std::uint64_t outdone = 0, left = 0;
    for (const ScoredCandidate &one : open) {
        if (state.verdict(one.number))
            continue;
        const bool isOut = state.isOutdone(one);
        outdone += isOut;
        left += !isOut;
    }
    if (outdone > 0)
        state.count(kCannotBeBetter, outdone);
    SearchResult result = state.finish(areAll && left == 0 && !state.stop().stop_requested(), open);
    if (areAll)
        result.left = left + numbers.size() - std::min<std::uint64_t>(numbers.size(), result.scored);
    return result;
}

} // namespace trainyard::detail

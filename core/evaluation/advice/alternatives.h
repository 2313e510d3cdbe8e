#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plans that are one step away: every switch flipped (strategyAlternatives) and every part bettered (betterParts).
// The strategy panel builds its controls from the first list, the why panel ranks the second; both judge them by
// evaluating `plan`. Pure functions, any thread.

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan.h"
#include "core/iteration/placement/layout.h"

#include <string>
#include <vector>

namespace trainyard {

struct Alternative {
    /// unique in its list and stable: "recompute=full", "link:oregon-iowa:pair"
    std::string id;
    /// of a strategy its control ("recompute"); of a part what it changes ("link")
    std::string group;
    /// "full", "Oregon–Iowa +1 Gbps per node pair"
    std::string label;
    /// null where blocked
    PlanPtr plan;
    /// why it cannot be chosen, one sentence without a full stop; empty where it can
    std::string blockedBecause;
    /// what the plan has now; its plan equals the plan
    bool isCurrent = false;
    /// for undo: "Recompute none → full"
    std::string sentence;
    /// of a part: how many of it, so that gains can be compared per piece
    int size = 1;
};

/// What `blockedBecause` begins with where a plan brings stage times of its own, which hold for the present value only.
inline constexpr const char *kMeasured = "measured stage times";

/// Every value of every strategy that the core models, grouped, in the order in which controls list them. Each group
/// has exactly one current value. `model` is the resolved model where the caller has it (one read from a config.json);
/// otherwise the catalogue's is used, and rules about heads and layers are skipped where neither knows it.
[[nodiscard]] std::vector<Alternative> strategyAlternatives(
    const Plan &plan, const Catalogue &catalogue, const ModelSpec *model = nullptr);

/// Those of them about many models: scheduler, what it counts, spilling, double buffers. Empty without jobs.
[[nodiscard]] std::vector<Alternative> jobAlternatives(const Plan &plan);

struct BetterParts {
    std::vector<Alternative> list;
    /// further ones, about datacenters that hold no stage first
    std::size_t leftOut = 0;
    /// that were named before the nearest were taken: some times datacenters and links, never all pairs of datacenters
    std::size_t looked = 0;
};

/// As many parts are looked at at once, and as many spans of timelines together: clusters of many datacenters have
/// thousands.
inline constexpr std::size_t kMostParts = 64, kMostPartSpans = 10'000'000;
/// Of a plan whose timeline has so many spans.
[[nodiscard]] std::size_t mostParts(std::size_t spans);

/// What could be bought or moved: bandwidth and round trip of each link, a node in each kind of pool, fabric of each
/// datacenter, the next GPU, nodes moved between datacenters. None is current; none is blocked. Where there are more
/// than `most`, those between datacenters that hold stages of `layout` come first.
[[nodiscard]] BetterParts betterParts(
    const Plan &plan, const Catalogue &catalogue, const Layout *layout = nullptr, std::size_t most = kMostParts);
/// Of them what buys nothing: TCP windows, nodes and stages that move to another datacenter. All else is a resource
/// (resources.h), whose prices core/planner/sensitivity tells.
[[nodiscard]] BetterParts rearrangements(
    const Plan &plan, const Layout *layout = nullptr, std::size_t most = kMostParts);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a little more of each resource would buy, by simulating the plan with it: bandwidth and round trip of each link,
// NICs, NVLink, size and speed of HBM, drives, FLOPs, a node more in each pool, the budget. A shadow price is the
// change of the objective per unit of the resource; where the resource has a price, also per dollar. And what binds the
// plan: the constraint or resource without which it would be better.

#include "core/evaluation/advice/resources.h"
#include "core/evaluation/evaluate/run.h"
#include "core/planner/search/search.h"

namespace trainyard {

struct ShadowPrice {
    ResourceKind kind = ResourceKind::PeakFlops;
    std::string id; // "link:oregon-ohio", stable
    std::string label; // "Oregon–Ohio +10 % (40 Gbit/s)"
    std::string unit; // of `amount`: "Gbit/s", "ms", "GiB", "TFLOP/s", "nodes", "GPUs", "USD/h"; "%" of measured times
    double amount = 0; // how much more was simulated; below 0 where less is better (round trip)
    double share = 0; // amount ÷ what there is; 0 where that says nothing (a GPU in place of another, the budget)
    bool isFeasible = true;
    double secondsSaved = 0; // of an iteration; negative where it takes longer
    double gain = 0; // share of the objective's value that it saves; 0 where the plan has none or cannot run with it
    /// With as much less: the share of the value that this costs, and whether the plan still runs. Where it differs
    /// from `gain` the plan stands at a kink: more buys nothing, less would cost. Empty where nobody looked.
    Metric lossOfLess;
    bool isLessFeasible = true;
    double gainPerUnit = 0; // gain / |amount|
    Metric usdPerHour; // what the amount costs, where prices are known
    Metric gainPerUsd; // gain / usdPerHour
    bool isReplanned = false; // the search chose again with it, instead of the same plan on better hardware
    PlanPtr plan; // with the resource
    EvaluationPtr evaluation; // of that plan, at Depth::Score

    /// d ln(value) / d ln(resource), with a minus: 0.8 where 1 % more saves 0.8 %. 0 without a share.
    [[nodiscard]] double elasticity() const;
    [[nodiscard]] bool isKink() const; // one side is more than twice the other
};

struct ShadowPrices {
    EvaluationPtr now; // of the plan
    std::vector<ShadowPrice> list; // by gain, largest first; what cannot run last
    /// Sentences: "Memory binds: stage 1 is 97 % full; with 8 GiB more …". What keeps it from running first, then what
    /// holds most of the iteration, by the share that a step of it would save; less than a fifth of the first is left
    /// out.
    std::vector<std::string> binding;
    std::size_t leftOut = 0; // further resources, of datacenters that hold no stage before others
};

/// As many resources are simulated at most, and as many spans together (core/evaluation/advice/alternatives.h,
/// mostParts). `step`: relative change of each rate and size, in (0, 1). A node more is the fewest of 1, 2, 4 and 8
/// that change anything which GPUs that idle do not as well, moved there; with them, and with larger memory, the plan
/// may be chosen anew (isReplanned): replicas as many as fit, or what free memory buys
/// (core/evaluation/memory_fit/headroom_uses.h), against what that buys now. The budget is the cheapest of what has a
/// price. Empty for a plan of jobs. Errors: of the plan, as run(); Cancelled.
[[nodiscard]] ExpectedAll<ShadowPrices> shadowPrices(const PlanPtr &plan, const Catalogue &catalogue,
    EvaluationWorkspace &workspace, Objective objective = Objective::Throughput, double step = 0.1,
    std::stop_token stop = {});

/// Pools and parts of pools that hold the plan back or do not pay: the plan without them, ranked by what that saves.
struct Retirement {
    std::string sentence; // "Retire 16 V100 in Iowa: 3.1 % slower, 22 % cheaper a token"
    int gpus = 0;
    PlanPtr plan;
    bool isFeasible = true;
    double seconds = 0, usdPerMillionTokens = 0;
    double slowdown = 0, saving = 0; // shares: of the iteration, of the price of a token
};
[[nodiscard]] ExpectedAll<std::vector<Retirement>> retirements(
    const PlanPtr &plan, const Catalogue &catalogue, EvaluationWorkspace &workspace, std::stop_token stop = {});

} // namespace trainyard

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
    /// "link:oregon-ohio", stable
    std::string id;
    /// "Oregon–Ohio +10 % (40 Gbit/s)"
    std::string label;
    /// of `amount`: "Gbit/s", "ms", "GiB", "TFLOP/s", "nodes", "GPUs", "USD/h"; "%" of measured times
    std::string unit;
    /// how much more was simulated; below 0 where less is better (round trip)
    double amount = 0;
    /// amount ÷ what there is; 0 where that says nothing (a GPU in place of another, the budget)
    double share = 0;
    bool isFeasible = true;
    /// of an iteration; negative where it takes longer
    double secondsSaved = 0;
    /// share of the objective's value that it saves; 0 where the plan has none or cannot run with it
    double gain = 0;
    /// With as much less: the share of the value that this costs, and whether the plan still runs. Where it differs
    /// from `gain` the plan stands at a kink: more buys nothing, less would cost. Empty where nobody looked.
    Metric lossOfLess;
    bool isLessFeasible = true;
    /// gain / |amount|
    double gainPerUnit = 0;
    /// what the amount costs, where prices are known
    Metric usdPerHour;
    /// gain / usdPerHour
    Metric gainPerUsd;
    /// the search chose again with it, instead of the same plan on better hardware
    bool isReplanned = false;
    /// with the resource
    PlanPtr plan;
    /// of that plan, at Depth::Score
    EvaluationPtr evaluation;

    /// d ln(value) / d ln(resource), with a minus: 0.8 where 1 % more saves 0.8 %. 0 without a share.
    [[nodiscard]] double elasticity() const;
    /// one side is more than twice the other
    [[nodiscard]] bool isKink() const;
};

struct ShadowPrices {
    /// of the plan
    EvaluationPtr now;
    /// by gain, largest first; what cannot run last
    std::vector<ShadowPrice> list;
    /// Sentences: "Memory binds: stage 1 is 97 % full; with 8 GiB more …". What keeps it from running first, then what
    /// holds most of the iteration, by the share that a step of it would save; less than a fifth of the first is left
    /// out.
    std::vector<std::string> binding;
    /// further resources, of datacenters that hold no stage before others
    std::size_t leftOut = 0;
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
    /// "Retire 16 V100 in Iowa: 3.1 % slower, 22 % cheaper a token"
    std::string sentence;
    int gpus = 0;
    PlanPtr plan;
    bool isFeasible = true;
    double seconds = 0, usdPerMillionTokens = 0;
    /// shares: of the iteration, of the price of a token
    double slowdown = 0, saving = 0;
};
[[nodiscard]] ExpectedAll<std::vector<Retirement>> retirements(
    const PlanPtr &plan, const Catalogue &catalogue, EvaluationWorkspace &workspace, std::stop_token stop = {});

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a little more of each resource would buy, by simulating the plan with it: bandwidth and round trip of each link,
// NICs, NVLink, size and speed of HBM, drives, FLOPs, a node more in each pool, the budget. A shadow price is the
// change of the objective per unit of the resource; where the resource has a price, also per dollar. And what binds the
// plan: the constraint or resource without which it would be better.

#include "core/evaluate/run.h"
#include "core/search/search.h"

namespace trainyard {

enum class ResourceKind : std::uint8_t {
    LinkBandwidth,
    RoundTrip,
    NodePair,
    Nic,
    NvLink,
    HbmSize,
    HbmSpeed,
    DriveSpeed,
    HostLink,
    Flops,
    Node,
    Budget
};

struct ShadowPrice {
    ResourceKind kind = ResourceKind::Flops;
    std::string id; // "link:oregon-ohio", stable
    std::string label; // "Oregon–Ohio +10 % (40 Gbit/s)"
    std::string unit; // of `amount`: "Gbit/s", "ms", "GiB", "TFLOP/s", "nodes", "USD/h"
    double amount = 0; // how much more was simulated; below 0 where less is better (round trip)
    bool isFeasible = true;
    double secondsSaved = 0; // of an iteration; negative where it takes longer
    double gain = 0; // share of the objective's value that it saves
    double gainPerUnit = 0; // gain / |amount|
    Metric usdPerHour; // what the amount costs, where prices are known
    Metric gainPerUsd; // gain / usdPerHour
    bool isReplanned = false; // the search chose again with it, instead of the same plan on better hardware
    PlanPtr plan; // with the resource
};

struct ShadowPrices {
    std::vector<ShadowPrice> list; // by gain, largest first
    std::vector<std::string> binding; // sentences: "Memory binds: stage 0 is 97 % full; with 8 GiB more …"
};

/// `step`: relative change of each rate and size.
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

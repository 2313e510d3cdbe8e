// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/alternatives_internal.h"
#include "core/iteration/placement/degrees.h"

namespace trainyard::detail {

namespace {

/// "auto" (or what stands for it) and numbers, the present one among them.
std::vector<Choice<Auto<int>>> autoOr(
    std::set<int> values, const Auto<int> &now, const char *key, const char *label, const char *unit = "")
{
    if (now)
        values.insert(*now);
    std::vector<Choice<Auto<int>>> choices { { std::nullopt, key, label, {} } };
    for (const int v : values)
        choices.push_back({ v, std::to_string(v),
            std::to_string(v) + (v == 1 && unit[0] ? std::string(unit, std::string(unit).size() - 1) : unit), {} });
    return choices;
}

void addConnections(Alternatives &out, const Plan &plan)
{
    std::vector<Choice<Auto<int>>> choices =
        autoOr({ 1, 2, 4, 8, 16, 32, 64 }, plan.wan.tcpConnections, "auto", "auto");
    if (plan.cluster.wanLinks.empty()) {
        for (Choice<Auto<int>> &c : choices)
            c.blocked = "the cluster has no WAN link";
    }
    addGroup(out, plan, "tcp_connections", "TCP connections", choices, plan.wan.tcpConnections,
        [](Plan &p, Auto<int> n) { p.wan.tcpConnections = n; });
}

void addCongestionControl(Alternatives &out, const Plan &plan)
{
    const bool loses =
        std::ranges::any_of(plan.cluster.wanLinks, [](const WanLink &link) { return link.lossRate > 0; });
    const std::string none = loses ? "" : "no link loses packets, so nothing slows a connection down";
    addGroup(out, plan, "congestion_control", "Congestion control", choicesOf<CongestionControl>(none),
        plan.wan.congestion, [](Plan &p, CongestionControl c) { p.wan.congestion = c; });
}

void addSharing(Alternatives &out, const Plan &plan)
{
    const std::string alone =
        degreesOf(plan).pipeline > 1 ? "" : "there is one pipeline stage, so nothing crosses the WAN to share it";
    addGroup(out, plan, "sharing", "WAN sharing", choicesOf<WanSharing>(alone), plan.wan.sharing,
        [](Plan &p, WanSharing s) { p.wan.sharing = s; });
    if (plan.wan.sharing != WanSharing::Temporal)
        return;
    addGroup(out, plan, "cell", "Cell size",
        autoOr({ 1, 2, 3, 4, 6, 8, 12, 16 }, plan.wan.cell, "auto", "auto", " pipelines"), plan.wan.cell,
        [](Plan &p, Auto<int> n) { p.wan.cell = n; });
    addGroup(out, plan, "turns", "Turn order", choicesOf<TurnOrder>(), plan.wan.turns,
        [](Plan &p, TurnOrder t) { p.wan.turns = t; });
}

void addLocalSgd(Alternatives &out, const Plan &plan)
{
    addGroup(out, plan, "local_sgd", "Local SGD", choicesOf<LocalSgd>(), plan.wan.localSgd,
        [](Plan &p, LocalSgd k) { p.wan.localSgd = k; });
    if (plan.wan.localSgd == LocalSgd::None)
        return;
    addGroup(out, plan, "local_steps", "Local steps", numbers({ 10, 30, 100, 300, 500, plan.wan.localSteps }),
        plan.wan.localSteps, [](Plan &p, int n) { p.wan.localSteps = n; });
    if (plan.wan.localSgd == LocalSgd::Streaming)
        addGroup(out, plan, "fragments", "Fragments", numbers({ 1, 2, 4, 8, 16, plan.wan.fragments }),
            plan.wan.fragments, [](Plan &p, int n) { p.wan.fragments = n; });
    std::vector<Choice<int>> bits = numbers({ 4, 8, 16, 32, plan.wan.exchangeBits });
    for (Choice<int> &c : bits)
        c.label += " bits";
    addGroup(out, plan, "exchange_bits", "Exchange", bits, plan.wan.exchangeBits,
        [](Plan &p, int n) { p.wan.exchangeBits = n; });
}

template <class Value>
std::vector<Choice<Value>> blockedBy(const std::string &reason, std::vector<Choice<Value>> choices)
{
    for (Choice<Value> &choice : choices)
        choice.blocked = reason;
    return choices;
}

/// Gradients cross the WAN only where replicas lie in different datacenters.
bool mayReduceAcross(const Plan &plan)
{
    return plan.placement.mode != PlacementMode::PipelineAcross && plan.placement.stages.empty();
}

} // namespace

void addWanStrategies(Alternatives &out, const Plan &plan)
{
    addConnections(out, plan);
    if (plan.cluster.wanLinks.empty())
        return;
    addCongestionControl(out, plan);
    addSharing(out, plan);
    const bool stays = plan.placement.mode == PlacementMode::DataAcross || degreesOf(plan).pipeline < 2;
    addGroup(out, plan, "activation_bits", "Activations on the WAN",
        blockedBy(stays ? "no stage boundary crosses datacenters" : "",
            autoOr({ 4, 8, 16 }, plan.wan.activationBits, "computed", "as computed", " bits")),
        plan.wan.activationBits, [](Plan &p, Auto<int> bits) { p.wan.activationBits = bits; });
    if (!mayReduceAcross(plan))
        return;
    const bool alone = plan.wan.localSgd != LocalSgd::None;
    addGroup(out, plan, "all_reduce", "All-reduce across sites",
        choicesOf<WanAllReduce>(alone ? "local SGD exchanges datacenter by datacenter" : ""), plan.wan.allReduce,
        [](Plan &p, WanAllReduce r) { p.wan.allReduce = r; });
    addGroup(out, plan, "gradient_bits", "Gradients on the WAN",
        blockedBy(alone ? "local SGD exchanges parameters, not gradients" : "",
            autoOr({ 4, 8, 16 }, plan.wan.gradientBits, "reduced", "as reduced", " bits")),
        plan.wan.gradientBits, [](Plan &p, Auto<int> bits) { p.wan.gradientBits = bits; });
    addLocalSgd(out, plan);
}

} // namespace trainyard::detail

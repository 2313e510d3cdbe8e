#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of `wan`: how links between datacenters are used. They apply where there are several datacenters.

#include "core/facts/plan/keys/key.h"
#include "core/facts/plan/plan.h"

namespace trainyard::keys {

inline bool hasSeveralSites(const Plan &plan)
{
    return plan.cluster.datacenters.size() > 1;
}
inline bool takesTurns(const Plan &plan)
{
    return plan.wan.sharing == WanSharing::Temporal;
}
inline bool trainsApart(const Plan &plan)
{
    return plan.wan.localSgd != LocalSgd::None;
}
inline bool streams(const Plan &plan)
{
    return plan.wan.localSgd == LocalSgd::Streaming;
}

inline const char *whyNothingSlows(const Plan &plan)
{
    for (const WanLink &link : plan.cluster.wanLinks)
        if (link.lossRate > 0)
            return "";
    return "no link loses packets, so nothing slows a connection down";
}
inline const char *whyNoAllReduce(const Plan &plan)
{
    return trainsApart(plan) ? "local SGD exchanges datacenter by datacenter" : "";
}
inline const char *whyNoGradients(const Plan &plan)
{
    return trainsApart(plan) ? "local SGD exchanges parameters, not gradients" : "";
}

template <class V> [[gnu::cold]] void describe(V &v, Of<WanStrategy>)
{
    v.automatic(&WanStrategy::tcpConnections,
        Key("tcp_connections", "TCP connections per node pair; auto: as many as fill it, up to a limit",
            said("TCP connections"), range(1, 1e6), kAlways,
            more("the limit is 128 (`most_connections` of `resources/catalog/network.json`)"),
            shown("TCP connections",
                "Connections between two nodes over the WAN, a number or auto: as many as fill the node pair. One "
                "connection sends at most one TCP window per round trip."),
            choice("TCP connections"), kWorthTrying<1, 2, 4, 8, 16, 32, 64>));
    v.value(&WanStrategy::congestion,
        Key("congestion_control", "Of the TCP connections: cubic slows down at each loss, bbr does not",
            said("Congestion control"), more("`bbr` bears up to 20 % of the packets lost"),
            shown("Congestion control",
                "CUBIC slows down at every lost packet, BBR goes on at the rate that it measures. It matters on links "
                "with loss."),
            choice("Congestion control"), rests(whyNothingSlows)));
    v.value(&WanStrategy::sharing,
        Key("sharing", "Pipelines use their own node pairs, or take turns on all pairs of the cell",
            said("Temporal WAN sharing"), saidAsOn("temporal"), kAlways,
            shown("WAN sharing",
                "Spatial: each pipeline sends over its own pair of nodes. Temporal: the pipelines of a cell take "
                "turns, each over all pairs of the cell, so that a transfer is there sooner."),
            choice("WAN sharing"), kOwnWork));
    v.automatic(&WanStrategy::cell,
        Key("cell", "Pipelines of one cell; auto: the fastest, by simulation", said("Pipelines per cell"),
            range(1, 1e6), when(takesTurns),
            shown("Cell size", "Pipelines that take turns, a number or auto: what is fastest."), choice("Cell size"),
            kWorthTrying<1, 2, 3, 4, 6, 8, 12, 16>, kTriedInSearch<2, 4, 8>, inUnits(" pipelines")));
    v.value(&WanStrategy::turns,
        Key("turns",
            "Whose turn it is in a cell: round-robin (lowest micro-batch first) or drain-first (one pipeline after the "
            "other)",
            said("Turns in a cell"), when(takesTurns),
            shown("Turn order",
                "Round-robin: lowest micro-batch first, then lowest pipeline. Drain-first: one pipeline until it has "
                "sent all; longer bubbles, slower."),
            choice("Turn order")));
    v.value(&WanStrategy::allReduce,
        Key("all_reduce",
            "Gradients across datacenters: hierarchical (reduced inside each first) or flat (one ring through all "
            "ranks)",
            said("All-reduce across datacenters"),
            shown("All-reduce",
                "Weight gradients of replicas in several datacenters. Hierarchical: reduced inside each, exchanged "
                "between them, gathered again. Flat: one ring through all."),
            choice("All-reduce across sites"), rests(whyNoAllReduce)));
    v.value(&WanStrategy::localSgd,
        Key("local_sgd", "Replicas of different datacenters train alone between exchanges: none, diloco or streaming",
            said("Local SGD"), kLearnsOtherwiseUnlessDefault,
            more("under `diloco` all wait for the exchange, under `streaming` it hides behind the steps; nothing to do "
                 "where pipelines cross datacenters"),
            shown("Local SGD",
                "Replicas of different datacenters train alone for some steps, then exchange what they learned. "
                "Streaming hides the exchange behind the next steps. It affects convergence."),
            choice("Local SGD")));
    v.value(&WanStrategy::localSteps,
        Key("local_steps", "Steps between two exchanges of local SGD", said("Local steps"), range(1, 1e6),
            when(trainsApart), kLearnsOtherwise, shown("Steps", "Steps between two exchanges of local SGD."),
            choice("Local steps"), kWorthTrying<10, 30, 100, 300, 500>));
    v.value(&WanStrategy::fragments,
        Key("fragments", "Parts of the model that streaming local SGD exchanges one after the other",
            said("Fragments of an exchange"), range(1, 1e4), when(streams), kLearnsOtherwise,
            shown("Fragments",
                "Parts of the model that are exchanged one after the other, so that the link never has all at once."),
            choice("Fragments"), kWorthTrying<1, 2, 4, 8, 16>));
    v.value(&WanStrategy::exchangeBits,
        Key("exchange_bits", "Bits of a parameter in an exchange of local SGD", said("Bits of an exchanged parameter"),
            range(1, 32), when(trainsApart), kLearnsOtherwise,
            shown("Exchange", "Bits of a parameter in an exchange of local SGD."), choice("Exchange"),
            kWorthTrying<4, 8, 16, 32>, inUnits(" bits")));
    v.value(&WanStrategy::activationBits,
        Key("activation_bits", "Bits of an activation or its gradient on the WAN", otherwise("as computed"),
            said("Bits of an activation on the WAN"), range(1, 32), learnsOtherwiseBelow(kComputedBits),
            shown("Activations",
                "Bits of an activation, or of its gradient, on the WAN. Fewer than computed affects convergence."),
            choice("Activations on the WAN"), kWorthTrying<4, 8, 16>, kTriedInSearch<8>,
            none("computed", "as computed"), inUnits(" bits")));
    v.value(&WanStrategy::gradientBits,
        Key("gradient_bits", "Bits of a weight gradient between datacenters", otherwise("as reduced"),
            said("Bits of a gradient on the WAN"), range(1, 32), learnsOtherwiseBelow(kReducedBits),
            shown(
                "Gradients", "Bits of a weight gradient between datacenters. Fewer than reduced affects convergence."),
            choice("Gradients on the WAN"), kWorthTrying<4, 8, 16>, kTriedInSearch<8>, none("reduced", "as reduced"),
            inUnits(" bits"), rests(whyNoGradients)));
}

} // namespace trainyard::keys

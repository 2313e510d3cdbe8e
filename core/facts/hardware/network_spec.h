#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a link's nominal bandwidth turns into the time of a collective: share of the peak that large messages reach,
// start-up and per-step latency, and the ramp of medium messages. One set a class of link, from
// resources/catalog/network.json.

#include <string>
#include <vector>

namespace trainyard {

struct LinkClass {
    double fraction = 1; // of the nominal bandwidth
    double startUs = 0; // of one collective or send
    double stepUs = 0; // of each of its dependent steps
    double rampUs = 0; // added by medium and large messages: rampUs * V / (V + rampBytes)
    double rampBytes = 1e6;
    double ownShare = 0; // a rank's own shard counts for this share of what it moves
    double reduceGain = 1; // rate of a ring all-reduce against that of gathers
    double exchangeGain = 1; // rate of an all-to-all against that of gathers
    double switchGain = 0; // rate of an all-reduce inside the switches, against the ring's; 0: the link has none
    double switchRanks = 8; // fewer ranks than that do not use it
    double expertStartUs = 30; // kernels that send tokens to their experts: floor ...
    double expertFraction = 0.5; // ... share of the bandwidth for what a visit moves ...
    double expertPassFraction = 0.4; // ... and for the one pass over each token
    double ringStepUs = 2; // of a step inside a node, of a large ring through many nodes
    std::string source;
};

struct DeviceLinkClass {
    std::string architecture; // of GPUs, by the beginning of GpuSpec::architecture
    LinkClass link;
};

/// TCP over a cloud's Ethernet, by the GPUs of a machine: they share its NIC and its cores, which copy what is sent.
struct TcpLinkClass {
    int gpusPerNode = 1;
    LinkClass region; // between machines of one region, of one zone or of two
    LinkClass regions; // between two regions of a continent
};

/// Constants of TCP over a wide-area link; equations in docs/model.md, "WAN".
struct WanTcp {
    double segmentBytes = 0; // payload of a packet
    double cubicScale = 0; // C of RFC 9438, segments per second cubed
    double cubicDecrease = 0; // beta of RFC 9438: what a loss leaves of the window
    double bbrLossThreshold = 0; // share of packets lost up to which BBR keeps its rate
    double mostConnections = 1; // of a node pair that `auto` opens
    double ringLatencySeen = 1; // share of a hop's latency that shows in a ring of many ranks ...
    double ringLatencyHidesFrom = 8; // ... from so many on
    std::string source;
};

/// What kernels of expert exchanges are like, by who made them: NCCL's all-to-all, and those that send a token once to
/// a place (DeepEP).
struct ExpertKernels {
    double ncclSms = 0, ncclSmsBetween = 0; // multiprocessors: a channel takes one; inside a node, between nodes
    double dedupSms = 0;
    double ncclSkew = 0, dedupSkew = 0; // time x (1 + this (skew - 1)), skew: received by the fullest rank / mean
    std::string source;
};

struct NetworkSpec {
    LinkClass device; // NVLink, xGMI inside a node, where `generations` has nothing nearer
    std::vector<DeviceLinkClass> generations;
    LinkClass pcie; // GPUs of a node without such a link
    LinkClass fabric; // NICs between nodes of a datacenter, RDMA
    std::vector<TcpLinkClass> tcp; // by ascending gpusPerNode, at least one
    WanTcp wan; // between datacenters
    ExpertKernels experts;
};

/// The set that is built into the program.
[[nodiscard]] const NetworkSpec &builtinNetwork();

} // namespace trainyard

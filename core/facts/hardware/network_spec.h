#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a link's nominal bandwidth turns into the time of a collective: share of the peak that large messages reach,
// start-up and per-step latency, and the ramp of medium messages. One set a class of link, from
// resources/catalog/network.json.

#include <string>
#include <vector>

namespace trainyard {

struct LinkClass {
    /// of the nominal bandwidth
    double fraction = 1;
    /// of one collective or send
    double startUs = 0;
    /// of each of its dependent steps
    double stepUs = 0;
    /// added by medium and large messages: rampUs * V / (V + rampBytes)
    double rampUs = 0;
    double rampBytes = 1e6;
    /// a rank's own shard counts for this share of what it moves
    double ownShare = 0;
    /// rate of a ring all-reduce against that of gathers
    double reduceGain = 1;
    /// rate of an all-to-all against that of gathers
    double exchangeGain = 1;
    /// rate of an all-reduce inside the switches, against the ring's; 0: the link has none
    double switchGain = 0;
    /// fewer ranks than that do not use it
    double switchRanks = 8;
    /// kernels that send tokens to their experts: floor ...
    double expertStartUs = 30;
    /// ... share of the bandwidth for what a visit moves ...
    double expertFraction = 0.5;
    /// ... and for the one pass over each token
    double expertPassFraction = 0.4;
    /// of a step inside a node, of a large ring through many nodes
    double ringStepUs = 2;
    std::string source;
};

struct DeviceLinkClass {
    /// of GPUs, by the beginning of GpuSpec::architecture
    std::string architecture;
    LinkClass link;
};

/// TCP over a cloud's Ethernet, by the GPUs of a machine: they share its NIC and its cores, which copy what is sent.
struct TcpLinkClass {
    int gpusPerNode = 1;
    /// between machines of one region, of one zone or of two
    LinkClass region;
    /// between two regions of a continent
    LinkClass regions;
};

/// Constants of TCP over a wide-area link; equations in docs/model.md, "WAN".
struct WanTcp {
    /// payload of a packet
    double segmentBytes = 0;
    /// C of RFC 9438, segments per second cubed
    double cubicScale = 0;
    /// beta of RFC 9438: what a loss leaves of the window
    double cubicDecrease = 0;
    /// share of packets lost up to which BBR keeps its rate
    double bbrLossThreshold = 0;
    /// of a node pair that `auto` opens
    double mostConnections = 1;
    /// share of a hop's latency that shows in a ring of many ranks ...
    double ringLatencySeen = 1;
    /// ... from so many on
    double ringLatencyHidesFrom = 8;
    std::string source;
};

/// What kernels of expert exchanges are like, by who made them: NCCL's all-to-all, and those that send a token once to
/// a place (DeepEP).
struct ExpertKernels {
    /// multiprocessors: a channel takes one; inside a node, between nodes
    double ncclSms = 0, ncclSmsBetween = 0;
    double dedupSms = 0;
    /// time x (1 + this (skew - 1)), skew: received by the fullest rank / mean
    double ncclSkew = 0, dedupSkew = 0;
    std::string source;
};

struct NetworkSpec {
    /// NVLink, xGMI inside a node, where `generations` has nothing nearer
    LinkClass device;
    std::vector<DeviceLinkClass> generations;
    /// GPUs of a node without such a link
    LinkClass pcie;
    /// NICs between nodes of a datacenter, RDMA
    LinkClass fabric;
    /// by ascending gpusPerNode, at least one
    std::vector<TcpLinkClass> tcp;
    /// between datacenters
    WanTcp wan;
    ExpertKernels experts;
};

/// The set that is built into the program.
[[nodiscard]] const NetworkSpec &builtinNetwork();

} // namespace trainyard

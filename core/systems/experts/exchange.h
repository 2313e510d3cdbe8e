#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// An exchange of tokens with the experts, one way, as legs: what goes over NVLink, over NICs, over the WAN, and through
// the GPU's own memory, and which of them waits for which. Times are those of a leg that has its link to itself; who
// shares one is the layer graph's business (layer.h). Bytes and equations: docs/experts.md.

#include "core/facts/hardware/gpu_spec.h"
#include "core/facts/plan/moe_strategy.h"
#include "core/systems/experts/expert_group.h"

#include <array>
#include <cstdint>
#include <vector>

namespace trainyard {

/// Nvlink: between GPUs that need no fabric, whatever their link is called. Memory: copies inside one GPU.
enum class Way : std::uint8_t { Nvlink, Nic, Wan, Memory };
inline constexpr int kWayCount = 4;

struct Leg {
    Way way = Way::Nvlink;
    /// that the way carries out of one GPU (Memory: read and written)
    double bytes = 0;
    /// before bytes move: rendezvous, steps. Each piece pays it
    Seconds start;
    /// all bytes, alone
    Seconds moving;
    /// leg of the same exchange (each piece behind its own), or -1: from the beginning. Always before it
    int after = -1;
    /// behind every leg before it, of which `after` is the one that ends last when alone
    bool afterAll = false;
    /// bytes that cross NVLink on the way as well (PXN: NICs of other GPUs of the node)
    double nvlinkToo = 0;

    // From when the last byte leaves until it is there: what waits for it waits as long, the way is free for the next
    // piece meanwhile
    Seconds lag = {};

    [[nodiscard]] Seconds alone() const { return start + moving + lag; }
    bool operator==(const Leg &) const = default;
};

struct Exchange {
    std::vector<Leg> legs;
    /// each of moving / pieces; piece i of a leg goes behind piece i - 1
    int pieces = 1;
    /// the next piece begins when the last has passed all legs (MoNTA's released backward)
    bool piecesWait = false;
    // As the dispatch's makers count, own place included: a copy for each expert that a token visits (NCCL), or for
    // each node, of one node each rank (DeepEP). Never to be compared with what a link carries
    double logicalBytes = 0;
    /// multiprocessors that its kernels take
    double sms = 0;
    bool operator==(const Exchange &) const = default;

    [[nodiscard]] double bytes(Way way) const;
    /// With every leg alone on its link.
    [[nodiscard]] Seconds alone() const;
};

struct ExchangeRequest {
    ExpertGroup group;
    ExpertTokens tokens;
    const GpuSpec *gpu = nullptr;
    /// negative: as the dispatch's kernels do
    double communicationSms = -1;
};

/// What crosses between datacenters under a dispatch.
[[nodiscard]] WanCopies wanCopies(MoeDispatch dispatch);

/// Copies of each of its tokens that a rank of a group sends to another datacenter in a dispatch: `here` and `there` of
/// the group's `ranks` lie in its own and in that one. EachRank counts in parts, each a rank's share of the visits. A
/// combine sends the same the other way: what a rank sends then is copies(there, here) · there / here.
[[nodiscard]] double wanCopiesTo(WanCopies copies, int there, int ranks, const ExpertTokens &tokens);

/// To the experts, or back (`isCombine`). Not for TrafficAware, which is a choice among the others (traffic_aware.h);
/// `pieces` >= 1. TensorSliced with several pieces is MoNTA's overlapped pipeline.
[[nodiscard]] Exchange exchangeOf(const ExchangeRequest &request, MoeDispatch dispatch, bool isCombine, int pieces);

} // namespace trainyard

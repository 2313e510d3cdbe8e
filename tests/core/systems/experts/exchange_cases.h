#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Exchanges for the tests of core/systems/experts: links that reach what they say and start at once, and the set of
// shapes that the comparison of DeepSpeed, drop and pipeline is stated for.

#include "core/systems/experts/exchange.h"

namespace trainyard {

inline LinkClass plainLink()
{
    LinkClass kind;
    kind.startUs = kind.stepUs = kind.rampUs = kind.ownShare = kind.ringStepUs = kind.expertStartUs = 0;
    kind.expertFraction = kind.expertPassFraction = 1;
    return kind;
}
inline const LinkClass kPlainLink = plainLink();

inline Link plain(double gbytes)
{
    return { gbytesPerSecond(gbytes), &kPlainLink };
}

/// Copies at 1.41 TB/s, launched for nothing.
inline GpuSpec plainGpu()
{
    GpuSpec gpu;
    gpu.memoryGBps = 1410;
    gpu.gemm.memoryFraction = 1;
    gpu.gemm.launchUs = 0;
    return gpu;
}
inline const GpuSpec kPlainGpu = plainGpu();

inline constexpr MoeDispatch kPlainDispatches[] = { MoeDispatch::Flat, MoeDispatch::RankDedup, MoeDispatch::Dedup,
    MoeDispatch::Hierarchical, MoeDispatch::AllGather, MoeDispatch::TensorSliced };

/// Each rank with tokens of its own.
inline ExchangeRequest ofRanks(int ranks, int together, int experts, int choices)
{
    ExchangeRequest request;
    request.gpu = &kPlainGpu;
    request.group.ranks = ranks;
    request.group.together = together;
    request.group.inside = plain(160);
    request.group.between = plain(25);
    request.group.wan = { gbytesPerSecond(1), milliseconds(30) };
    request.tokens = { 1000, 100, 200, choices, experts };
    return request;
}

/// h = S = 8192 in 16 bits, one expert of two a token; tensor degree 8 inside nodes, two of them, no sequence
/// parallelism.
inline ExchangeRequest ofTensorGroup(double nicGBps, double nvlinkGBps = 160, int ranks = 8)
{
    ExchangeRequest request = ofRanks(2, 1, 2, 1);
    request.group.inside = plain(nvlinkGBps);
    request.group.between = plain(nicGBps);
    request.group.sameTokens =
        request.group.expertTensor = { ranks, ranks, request.group.inside, request.group.between };
    request.tokens = { 8192, 2 * 8192, 2 * 8192, 1, 2 };
    return request;
}

} // namespace trainyard

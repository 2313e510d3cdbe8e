#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What replicas in different datacenters tell each other in an iteration: gradients, all-reduced hierarchically or in
// one flat ring, or, under local SGD, parameters every H steps. All stages do so at the end of the iteration and share
// the links max-min fair. docs/model.md, "Gradients across datacenters" and "Local SGD".

#include "core/iteration/cost/stage_costs.h"
#include "core/iteration/cost/wan/wan_sites.h"

namespace trainyard {

/// 2(n-1)(S/(n B) + a), with `latency` = n a, all hops of the ring: the sum over its steps. From 8 ranks on a share of
/// a shows only, since steps overlap (NetworkSpec::wan, measured with NCCL over links of 2 Gbps and 5 ms).
[[nodiscard]] Seconds flatRingTime(Bytes size, double ranks, BytesPerSecond slowest, Seconds latency);

struct SiteExchange { // of one stage
    /// a flat ring reduces inside the datacenters too
    bool replacesLocal = false;
    /// in every iteration, before the optimizer's step
    Seconds reduce;
    /// of the reduction: what packing into fewer bits takes
    Seconds recode;
    /// local SGD: one exchange whole, every H iterations
    Seconds exchange;
    /// ... and the outer optimizer's own step
    Seconds outerStep;
    bool operator==(const SiteExchange &) const = default;
};

/// By stage; zeros where all replicas of it are in one datacenter. Counts the bytes of an iteration on the links.
[[nodiscard]] std::vector<SiteExchange> siteExchanges(const Workload &workload, std::vector<WanLinkUse> &links);

/// Adds what shows in every iteration to the stage's own reduction and optimizer step; an exchange comes after that.
void addAcrossSites(StageCosts &stage, const SiteExchange &across, const WanStrategy &strategy);

/// Streaming local SGD: seconds of exchange that one iteration has to hide, the slowest stage's; 0 elsewhere. What is
/// left beyond the iteration shows: max(H t, Tsync) / H.
[[nodiscard]] Seconds hiddenExchange(const std::vector<SiteExchange> &across, const WanStrategy &strategy);

} // namespace trainyard

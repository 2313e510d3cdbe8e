#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where the stages of a pipeline may lie: orders of linked datacenters, a contiguous block of stages in each, found by
// branch and bound. Every candidate carries a lower bound on its iteration that no schedule and no sharing of a link
// can undercut, so that whoever simulates candidates in the order of their bounds may stop at the first one whose bound
// is not below what it has: the best is then found, though most are never simulated. Pure functions of plain numbers,
// which layouts/placements.h takes from a workload.

#include "core/iteration/placement/layout.h"

#include <cstdint>
#include <vector>

namespace trainyard {

/// Seconds, of one micro-batch and the least that any GPU of the datacenter needs.
struct StageBound {
    double forward = 0,
           gradient = 0; // in the chain of a micro-batch: one copy of the model; gradient with recomputation
    /// of these, the first chunk's, which the stages behind wait for, and those before it
    double first = 0, last = 0;
    /// of the device: all its work for one micro-batch; weight gradients included
    double busy = 0;
    /// of that, what may follow the last gradient: split weight gradients
    double late = 0;
    /// of all the replicas' GPUs; asked for by cost only
    double usdPerSecond = 0;
    /// false: states alone are more than the memory
    bool mayFit = true;
};

struct HopBound { // of a boundary on a WAN link, [0] forward direction, [1] backward
    /// datacenter, WAN link
    int to = 0, link = 0;
    /// on the channel of one pipeline, or its share of the link; the longer
    double serialization[2] = { 0, 0 };
    double alone[2] = { 0,
        0 }; // what at least passes before the first bytes' end is there: a cell's members share the work
    double latency = 0;
    /// egress of an iteration, all replicas
    double usd = 0;
};

struct SearchTimes {
    int stages = 1;
    /// of the fullest pipeline, of the emptiest
    int microBatches = 1, fewest = 1;
    /// of a chain over each boundary: chunks of a stage, one after another
    int passes = 1;
    /// of a micro-batch over each boundary and direction; ends of the chain apart
    int transfers = 1;
    /// one chunk a stage, one copy, whole micro-batches: each stage has one place in the chain
    bool isChain = true;
    /// the order of work is made by times: a shorter one may come late by another order
    bool isListed = false;
    /// copies of the model that begin at either end
    bool isTwoWay = false;
    /// GPipe: all forwards, then all backwards
    bool waitsBetween = false;
    /// on the WAN: some pipelines may have gradients while others still send forwards
    bool takesTurns = false;
    /// the last stage hands on to the first
    bool handsBack = false;
    /// micro-batches per stage, at most; empty: not known beforehand
    std::vector<int> inFlight;
    /// stages that each datacenter has locations for
    std::vector<int> holds;
    /// the first datacenter whose GPUs cannot be told from this one's
    std::vector<int> alike;
    /// [datacenter][stage]
    std::vector<std::vector<StageBound>> sites;
    /// [datacenter]: links from it, nearest first
    std::vector<std::vector<HopBound>> hops;
};

/// Most: as many stages as a datacenter holds, all but the first of the blocks or all but the last; fewest boundaries
/// (Atlas, arXiv 2411.14458, Algorithm 1). Any: every number that leaves none without a stage.
enum class BlockSizes : std::uint8_t { Most, Any };

struct SearchLimits {
    BlockSizes sizes = BlockSizes::Most;
    /// keep the cheapest by bound instead of the fastest
    bool byCost = false;
    /// candidates kept: those of the least bounds
    int most = 32;
    /// of datacenters on the way, shared by where the pipeline begins; beyond, the search is cut
    int visits = 6'000;
};

struct BoundedBlocks {
    /// in pipeline order
    std::vector<DatacenterBlock> blocks;
    /// no iteration of it is shorter
    double seconds = 0;
    /// nor cheaper
    double usd = 0;
    /// Σ over hops of their time × stages before them: of two alike the slower hops come first
    double lateness = 0;
    bool mayFit = true;
};

struct FoundBlocks {
    /// those that may fit first, by bound
    std::vector<BoundedBlocks> blocks;
    /// candidates whose bound was counted
    int looked = 0;
    /// no candidate that may fit and is not here has a smaller bound; infinite: all are here, 0: the search was cut
    double rest = 0;
};

[[nodiscard]] FoundBlocks searchBlocks(const SearchTimes &times, const SearchLimits &limits = {});

/// Whether linked datacenters can hold all stages; needs stages, handsBack, holds and the ends of hops.
[[nodiscard]] bool canHoldAll(const SearchTimes &times);

/// The bound of given blocks. Datacenters next to each other have to be linked.
[[nodiscard]] BoundedBlocks boundBlocks(const SearchTimes &times, std::vector<DatacenterBlock> blocks);

} // namespace trainyard

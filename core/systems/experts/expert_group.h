#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The ranks that hold the experts of a layer once, as one of them sees it, and what a micro-batch brings there. Tokens
// choose experts evenly unless loads say otherwise.

#include "core/facts/network/collectives.h"

#include <algorithm>
#include <vector>

namespace trainyard {

/// What of a token crosses to another datacenter: a copy for each rank there that it visits (all-to-all), one copy
/// whatever it visits (all-gather), or one copy where it visits any rank there (deduplicated).
enum class WanCopies : std::uint8_t { EachRank, EachSite, VisitedSites };

/// One rank's way to ranks in other datacenters, while all ranks of its group send there.
struct WanWay {
    /// one direction, of this rank, where each rank elsewhere gets as much
    BytesPerSecond bandwidth {};
    /// one way
    Seconds latency;
    // Of that, what a rank of the smallest datacenter has in the other two patterns: the larger side of an uneven group
    // sends more than it does
    double ofEachSite = 1, ofVisitedSites = 1;

    [[nodiscard]] BytesPerSecond bandwidthOf(WanCopies copies) const
    {
        return bandwidth
            * (copies == WanCopies::EachSite            ? ofEachSite
                    : copies == WanCopies::VisitedSites ? ofVisitedSites
                                                        : 1);
    }
};

struct ExpertGroup {
    /// over which the experts are spread (EP)
    int ranks = 1;
    /// of them reach each other without the fabric
    int together = 1;
    // Ranks in each datacenter; empty or one entry: all in one. Exchanges are those of a rank where fewest are: it
    // sends most elsewhere
    std::vector<int> perSite;
    /// to ranks that it reaches without the fabric; to others of its datacenter
    Link inside, between;
    /// read where perSite has several entries
    WanWay wan;
    // Ranks that compute one expert together, over `inside` where they fit there (expert tensor parallel), and ranks
    // that hold the same tokens (tensor parallel without sequence parallelism; 1 where tokens are split already)
    RankGroup expertTensor, sameTokens;

    [[nodiscard]] int nodes() const { return (ranks + together - 1) / together; }
    [[nodiscard]] int sites() const { return perSite.empty() ? 1 : int(perSite.size()); }
};

/// Visits that a rank computes over those of its own tokens. Ranks that share an expert (`expertTensor`) work on the
/// tokens of all of them, which are different ones unless `sameTokens` ranks hold the same; where slices of those
/// travel and experts are whole, each rank computes its slice alone.
[[nodiscard]] inline double visitsComputed(int expertTensor, int sameTokens, bool isSliced)
{
    const double shared = double(expertTensor) / sameTokens;
    return sameTokens == 1 || isSliced ? shared : std::max(1.0, shared);
}

/// What one rank sends in one layer and one direction.
struct ExpertTokens {
    /// on this rank before anything is dropped or sliced; of sameTokens.ranks all hold the same
    double tokens = 0;
    /// of one token on the wire (hidden x bytes an element)
    double dispatchBytes = 0, combineBytes = 0;
    /// experts that a token visits
    int choices = 1;
    /// routed experts of the layer
    int experts = 1;
    /// of experts, of which a token visits topGroups; 0: any
    int groups = 0, topGroups = 0;
    /// share of the visits that is not dropped; more than 1: padding to the capacity
    double kept = 1;
    /// visits that the fullest rank receives / mean
    double skew = 1;
};

} // namespace trainyard

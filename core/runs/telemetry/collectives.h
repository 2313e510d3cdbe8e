#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Collectives matched over ranks. A communication kernel begins when its own rank reaches it and then waits for the
// last one, so that its duration is mostly waiting: what the transfer takes is the least over the ranks, and what a
// rank has above it is its waiting. Bandwidth is never fitted from one rank, nor from means.

#include "core/runs/telemetry/recording.h"

#include <stop_token>
#include <string_view>

namespace trainyard {

/// One collective operation, of all ranks whose recordings show it.
struct MatchedCollective {
    struct Part {
        /// of Recording::ranks
        std::uint32_t rank = 0;
        /// of its collectives
        std::uint32_t collective = 0;
    };
    /// Recording::groups
    std::uint32_t group = kNoIndex;
    /// Recording::names
    std::uint32_t operation = 0;
    /// 0: not told
    double bytes = 0;
    /// how many take part, also those without a recording
    int groupRanks = 0;
    /// by rank, at least two
    std::vector<Part> parts;
    /// ns, over the parts: the transfer
    std::int64_t leastDuration = 0;
    /// ns
    double meanDuration = 0;
};

/// The i-th of each communicator over its ranks, by the numbers that it carries, else in the order of their starts;
/// where operation or size differ, by the longest sequence that the ranks have in common. Collectives without a group
/// are matched over all ranks. A send is matched with its receive in groups of two ranks (the operation is the send's);
/// what a receiver has above the least duration is waiting like any other. Of ranks that several files have, the first
/// counts. In order of the first rank's starts. Stopped: none.
[[nodiscard]] std::vector<MatchedCollective> matchCollectives(
    const Recording &recording, const std::stop_token &stop = {});

/// Bytes on the wire per byte of the message, by which nccl-tests turn algorithm bandwidth into bus bandwidth (its
/// PERFORMANCE.md; gather, scatter, send and receive by its sources). 1 for an operation that it does not know, 0 for
/// fewer than one rank.
[[nodiscard]] double busFactor(std::string_view operation, int ranks);

/// Of collectives of one operation, size and number of ranks.
struct CollectiveBandwidth {
    std::string operation;
    double bytes = 0;
    int ranks = 0;
    std::size_t count = 0;
    /// median over them of the least over the ranks
    double leastSeconds = 0;
    /// over all of them and all ranks
    double meanSeconds = 0;
    /// B/s
    double busByLeast = 0, busByMean = 0;
};
/// By operation, ranks and size, of those that tell their size and took some time.
[[nodiscard]] std::vector<CollectiveBandwidth> collectiveBandwidths(
    const Recording &recording, const std::vector<MatchedCollective> &matched);

} // namespace trainyard

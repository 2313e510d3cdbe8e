#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Collectives whose size and time are known, from matched collectives of steps and from points of benchmarks alike:
// what link fits are made of.

#include "core/iteration/placement/rank_map.h"
#include "core/iteration/placement/resolve.h"
#include "core/runs/overlay/run_steps.h"

#include <optional>
#include <stop_token>

namespace trainyard {

struct CollectiveSample {
    /// as nccl-tests say; "send" of two ranks
    std::string operation;
    /// of the message, as nccl-tests count it
    double bytes = 0;
    /// at most so many share a node
    int ranks = 0, ranksPerNode = 1;
    /// of the transfer: the least over its ranks
    double seconds = 0;
    /// of its first rank
    StageLocation at;
    /// of a rank in another datacenter, where it crosses to one
    std::optional<StageLocation> across;
    bool isBenchmark = false;
    /// Recording::sources, of a benchmark
    std::uint32_t source = kNoIndex;
    [[nodiscard]] bool isInNode() const { return ranksPerNode >= ranks; }
};

struct CollectiveSamples {
    std::vector<CollectiveSample> samples;
    /// of ranks that nobody recorded: what such a collective waits for is not known
    std::size_t unmatched = 0;
    std::size_t unsized = 0;
    // Which the formulas of collectives do not describe: of operations without one, of groups that reach over several
    // datacenters (sends aside), and exchanges with experts that go in slices or pieces
    // (core/systems/experts/exchange.h)
    std::size_t unknown = 0, afar = 0, exchanges = 0;
};

/// Of collectives that begin in these steps (indices into Run::steps). Stopped: of some.
[[nodiscard]] CollectiveSamples collectivesOf(const Run &run, const std::vector<int> &steps, const Workload &workload,
    const RankMap &map, const std::stop_token &stop = {});

/// Every other point of nccl-tests and the like, from `first` on (0 or 1). A benchmark does not tell where it ran: all
/// of them are taken as of the plan's first location.
[[nodiscard]] std::vector<CollectiveSample> collectiveBenchmarks(const Recording &recording, std::size_t first);

/// Points of a probe are fitted with its kernels (probe_samples.h).
[[nodiscard]] bool isOfProbe(const Recording &recording, std::uint32_t source);

/// Location of a rank of the job; empty where the map has no such rank.
[[nodiscard]] std::optional<StageLocation> locationOf(const Workload &workload, const RankMap &map, int rank);
/// Its class of pipelines; nullptr likewise.
[[nodiscard]] const PipelineClass *classOf(const Workload &workload, const RankMap &map, int rank);

} // namespace trainyard

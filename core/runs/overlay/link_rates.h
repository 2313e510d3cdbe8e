#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the transfers between datacenters were measured to do, beside what the plan says of the same transfers. A link
// has no other like it, so that nothing but the plan tells whether it is slow. Of runs with spans and matched transfers
// (or collectives of two ranks, one in either datacenter), under a plan with a timeline.

#include "core/runs/overlay/suspects.h"

#include <map>
#include <span>
#include <tuple>

namespace trainyard {

struct Evaluation;

/// One direction between two datacenters. Rates are of one connection between nodes, as the plan's node pairs.
struct LinkRate {
    /// datacenters of the plan's cluster
    int from = 0, to = 0;
    int transfers = 0;
    /// measured: `planned` × planned over measured seconds of the same bytes, latency apart
    double bytesPerSecond = 0;
    /// what the plan lets a node pair reach
    double planned = 0;
    /// one way; NaN: not told apart from bytes
    double latencySeconds = 0;
    double plannedLatency = 0;
    /// of the measured transfers of one pipeline in a step, latency apart: the busiest's
    double plannedSeconds = 0;
    [[nodiscard]] double share() const { return planned > 0 ? bytesPerSecond / planned : 0; }
    bool operator==(const LinkRate &) const = default;
};

/// Transfers of a plan between datacenters; made once for an evaluation, which has to live as long.
class LinkRates {
public:
    explicit LinkRates(const Evaluation &plan);
    /// By from and to, of those that carried something in these steps. A transfer takes from when both sides are there,
    /// and the one before on its way has ended, until its send ends (its receive, where sends end before their bytes
    /// can have left); of all of one size the middle of the densest half counts. Latency is what sizes that differ
    /// twofold leave for no bytes, or by how much receives end behind their sends where that is clear; where neither
    /// tells it, what the plan says of it is taken off.
    [[nodiscard]] std::vector<LinkRate> of(
        const Run &run, const RankMap &map, std::span<const RunStep *const> steps) const;
    [[nodiscard]] bool isEmpty() const { return m_ways.empty() && m_links.empty(); } // one datacenter alone
    /// Of a stage of a replica; -1 where there is none.
    [[nodiscard]] int datacenterOf(int replica, int stage) const;

private:
    friend class TransferWalk;
    struct Way { // of one boundary of a class, one direction
        int link = -1;
        /// of all that the pipeline sends there
        double bytesPerSecond = 0;
        /// its pipelines take turns on it
        bool isOfCell = false;
    };
    struct Link {
        double nodePair = 0, latency = 0;
    };
    const Evaluation &m_plan;
    /// class, from stage, to stage
    std::map<std::tuple<int, int, int>, Way> m_ways;
    /// datacenters, either order
    std::map<std::pair<int, int>, Link> m_links;
};

/// Links that carry less than 0.9 of what the plan says and cost `least` seconds per step or more, worst first; of all
/// steps that count.
[[nodiscard]] std::vector<SlowLink> slowPlannedLinks(
    const Run &run, const RankMap &map, const Evaluation &plan, double least);

} // namespace trainyard

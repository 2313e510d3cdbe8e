#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The transfers of some steps that cross from one datacenter to another, each with how long it took and how long the
// plan says that its bytes take. Used by link_rates alone.

#include "core/runs/overlay/link_rates.h"

namespace trainyard {

class TransferWalk {
public:
    TransferWalk(const LinkRates &plan, const Run &run, const RankMap &map);
    void add(const RunStep &step);
    [[nodiscard]] std::vector<LinkRate> rates(double steps) const;

private:
    struct Sample {
        /// of the send, since both sides were there and the one before had ended
        double seconds = 0;
        /// until its receive ended, likewise, less the plan's latency; 0: not told
        double arrival = 0;
        /// seconds by which the receive ends behind the send
        double endsApart = 0;
        /// seconds of its bytes by the plan
        double planned = 0;
        /// one-way latencies in it
        int latencies = 1;
        /// else a collective of two ranks
        bool isTransfer = true;
    };
    struct Direction {
        std::vector<Sample> samples;
        /// seconds, by replica and receiving stage
        std::map<std::pair<int, int>, double> planned;
    };
    struct Side {
        int rank = -1;
        Moment start = 0, end = 0;
    };
    [[nodiscard]] Side sideOf(const MatchedCollective::Part &part) const;
    [[nodiscard]] int classOf(int replica) const;
    void addOne(const MatchedCollective &one, const RunStep &step);
    void addTransfer(const MatchedCollective &one, Side sender, Side receiver);
    void addExchange(const MatchedCollective &one, const RankPlace &a, const RankPlace &b);
    [[nodiscard]] bool areClocksJoined(const MatchedCollective &one) const;
    struct Latency {
        /// of one way, that sends do not show
        double seen = 0;
        /// it is what the link has
        bool isClear = false;
        /// sends end before their bytes have left
        bool countsArrivals = false;
    };
    [[nodiscard]] static Latency latencyOf(const Direction &own, double planned);
    [[nodiscard]] LinkRate rateOf(const std::pair<int, int> &ends, const Direction &own, double steps) const;

    const LinkRates &m_plan;
    const Run &m_run;
    const RankMap &m_map;
    /// all ranks are on the job's clock as they are
    bool m_areClocksOne = true;
    /// datacenters
    std::map<std::pair<int, int>, Direction> m_directions;
    /// way: ends of the transfer before
    std::map<std::tuple<int, int, int>, std::pair<Moment, Moment>> m_before;
};

/// Median of the densest half: of values that some lie far above or below.
[[nodiscard]] double middleOfDensest(std::vector<double> values);

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/runs/causes/job_machine.h"

#include "tests/core/runs/causes/machine_orders.h"
#include "tests/core/runs/causes/machine_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace trainyard::test {

namespace {

class Noise {
public:
    explicit Noise(const MachineNoise &options)
        : m_options(options)
    {
    }
    [[nodiscard]] double uniform(std::uint64_t a, std::uint64_t b, std::uint64_t c) const
    {
        std::uint64_t x = m_options.seed * 0x9e3779b97f4a7c15u;
        for (const std::uint64_t part : { a, b, c }) {
            x = (x ^ part) * 0xbf58476d1ce4e5b9u;
            x ^= x >> 29;
            x *= 0x94d049bb133111ebu;
            x ^= x >> 32;
        }
        return (double(x >> 11) + 0.5) * 0x1p-53;
    }
    [[nodiscard]] double normal(std::uint64_t a, std::uint64_t b, std::uint64_t c) const
    {
        return std::sqrt(-2 * std::log(uniform(a, b, 2 * c)))
            * std::cos(2 * std::numbers::pi * uniform(a, b, 2 * c + 1));
    }
    [[nodiscard]] double factor(double deviation, std::uint64_t a, std::uint64_t b, std::uint64_t c) const
    {
        return std::exp(deviation * normal(a, b, c) - deviation * deviation / 2);
    }

private:
    const MachineNoise &m_options;
};

class Machine {
public:
    Machine(const MachineJob &job, const MachineTrouble &trouble, const MachineNoise &noise, bool writes)
        : m_job(job)
        , m_trouble(trouble)
        , m_options(noise)
        , m_noise(noise)
        , m_writes(writes)
    {
    }

    MachineRun run()
    {
        for (int stage = 0; stage < m_job.stages; ++stage)
            for (int replica = 0; replica < m_job.data; ++replica)
                for (int tensor = 0; tensor < m_job.tensor; ++tensor) {
                    m_ranks.push_back({ .at = { stage, replica, tensor } });
                    m_orders.emplace_back(m_job, m_ranks.back().at, m_groups);
                    MachineRankText &text = m_texts.emplace_back();
                    text.streams.resize(kStreams);
                    text.host = "node" + std::to_string((m_ranks.size() - 1) / std::size_t(m_job.gpusPerNode));
                }
        m_launchFactor = launchFactor();
        std::vector<double> ends;
        for (int step = 0; step < m_job.steps; ++step)
            ends.push_back(play(step));
        MachineRun made;
        made.stepSeconds = (ends.back() - ends.front()) * 1e-9 / double(ends.size() - 1);
        if (m_writes)
            made.text = written();
        return made;
    }

private:
    struct Entry {
        int rank = 0;
        MachineOrder order;
        double start = 0, launched = 0;
    };
    struct Exchange {
        std::vector<Entry> entries;
        double last = 0, end = -1; // ns
        std::uint64_t number = 0;
    };
    struct Rank {
        MachinePlace at;
        std::vector<MachineOrder> orders = {};
        std::size_t next = 0;
        double host = 1e6, begun = 0; // ns
        double end[kStreams] = {}; // ns
        Exchange *pending[kStreams] = {};
        double waited = 0; // of exchanges that computing goes on behind
        std::uint64_t launches = 0;
        bool isEntered = false;
    };

    double play(int step)
    {
        m_exchanges.clear();
        for (std::size_t r = 0; r < m_ranks.size(); ++r) {
            Rank &rank = m_ranks[r];
            rank.orders = m_orders[r].step(step);
            rank.next = 0;
            rank.host = std::max(rank.host, *std::max_element(rank.end, rank.end + kStreams));
            rank.begun = rank.host;
            rank.host += m_job.stepOfHost * 1e9;
        }
        m_step = step;
        for (bool moves = true; moves;) {
            moves = false;
            for (std::size_t r = 0; r < m_ranks.size(); ++r)
                while (m_ranks[r].next < m_ranks[r].orders.size() && proceed(int(r)))
                    moves = true;
        }
        double end = 0;
        for (std::size_t r = 0; r < m_ranks.size(); ++r) {
            Rank &rank = m_ranks[r];
            for (int s = 0; s < kStreams; ++s)
                settle(rank, MachineStream(s));
            const double own = *std::max_element(rank.end, rank.end + kStreams);
            m_texts[r].steps.emplace_back(std::llround(rank.begun), std::llround(std::max(own, rank.host)));
            end = std::max(end, own);
            for (const double share : { 0.2, 0.5, 0.8 })
                m_texts[r].clock.emplace_back(
                    std::llround(rank.begun + share * (own - rank.begun)), clockOf(int(r), share));
        }
        return end;
    }

    /// What was under way on a stream has an end; false: it has not entered everywhere yet.
    bool settle(Rank &rank, MachineStream stream) const
    {
        if (!rank.pending[stream])
            return true;
        if (rank.pending[stream]->end < 0)
            return false;
        rank.end[stream] = leftAt(rank, *rank.pending[stream]);
        rank.pending[stream] = nullptr;
        return true;
    }

    /// Ranks leave an exchange a little behind each other.
    [[nodiscard]] double leftAt(const Rank &rank, const Exchange &exchange) const
    {
        return exchange.end
            + m_options.end
            * m_noise.uniform(10, std::uint64_t(&rank - m_ranks.data()), std::uint64_t(exchange.number));
    }

    bool proceed(int r)
    {
        Rank &rank = m_ranks[std::size_t(r)];
        const MachineOrder &order = rank.orders[rank.next];
        if (!rank.isEntered) {
            if (!settle(rank, order.stream))
                return false;
            rank.host += m_job.launch * m_launchFactor * 1e9
                * m_noise.factor(m_options.host, 1, std::uint64_t(r), rank.launches);
            const double start = std::max({ rank.end[order.stream], rank.end[Compute], rank.waited, rank.host + 3000 });
            if (order.group < 0) {
                const double took = order.seconds * 1e9 * computing(r, order)
                    * m_noise.factor(m_options.kernel, 2, std::uint64_t(r), rank.launches);
                rank.end[Compute] = start + took;
                write(r, order, start, start + took);
                ++rank.launches;
                ++rank.next;
                return true;
            }
            enter(r, order, start);
            rank.isEntered = true;
        }
        Exchange &exchange = exchangeOf(order);
        if (order.isAwaited && exchange.end < 0)
            return false;
        if (order.isAwaited) {
            settle(rank, order.stream);
            rank.waited = std::max(rank.waited, leftAt(rank, exchange));
        }
        rank.isEntered = false;
        ++rank.launches;
        ++rank.next;
        return true;
    }

    Exchange &exchangeOf(const MachineOrder &order) { return m_exchanges[{ order.group, order.sequence }]; }

    void enter(int r, const MachineOrder &order, double start)
    {
        Rank &rank = m_ranks[std::size_t(r)];
        Exchange &exchange = exchangeOf(order);
        const std::vector<int> &ranks = m_groups.ranks(order.group);
        rank.pending[order.stream] = &exchange;
        exchange.last = std::max(exchange.last, start);
        exchange.entries.push_back({ r, order, start, rank.host });
        if (exchange.entries.size() < ranks.size())
            return;
        const auto place = std::uint64_t(order.sequence);
        const std::uint64_t of = std::uint64_t(ranks.front()) * 65536 + std::uint64_t(ranks.back());
        exchange.number = of ^ (place << 20);
        exchange.end = exchange.last
            + order.seconds * 1e9 * moving(order, place, of) * m_noise.factor(m_options.exchange, 3, of, place);
        for (const Entry &one : exchange.entries)
            write(one.rank, one.order, one.start, leftAt(m_ranks[std::size_t(one.rank)], exchange), one.launched);
        exchange.entries.clear();
    }

    [[nodiscard]] double launchFactor()
    {
        if (m_trouble.cause != MachineCause::HostBound)
            return 1;
        // A step is launched in 1 + severity of the time that the busiest stage's kernels take.
        double most = 0;
        for (int stage = 0; stage < m_job.stages; ++stage) {
            double seconds = 0;
            const std::vector<MachineOrder> orders = MachineOrders(m_job, { stage, 0, 0 }, m_groups).step(0);
            for (const MachineOrder &order : orders)
                seconds +=
                    order.stream == Compute || order.stream == Tensor || order.stream == Expert ? order.seconds : 0;
            most = std::max(most, seconds / double(orders.size()));
        }
        return (1 + m_trouble.severity) * most / m_job.launch;
    }

    [[nodiscard]] bool isMeant(const MachinePlace &at) const
    {
        return at.stage == m_trouble.stage && at.replica == m_trouble.replica && at.tensor == m_trouble.tensor;
    }

    [[nodiscard]] double throttled(double share) const
    {
        return m_trouble.severity * (1 + 0.15 * m_noise.normal(4, std::uint64_t(m_step), std::uint64_t(share * 10)));
    }

    [[nodiscard]] double computing(int r, const MachineOrder &order) const
    {
        const MachinePlace &at = m_ranks[std::size_t(r)].at;
        double factor = 1;
        switch (m_trouble.cause) {
        case MachineCause::SlowStage:
            factor = at.stage == m_trouble.stage ? 1 + m_trouble.severity : 1;
            break;
        case MachineCause::SlowRank:
            factor = isMeant(at) ? 1 + m_trouble.severity : 1;
            break;
        case MachineCause::Throttling:
            factor = isMeant(at) ? 1 + throttled(0) : 1;
            break;
        case MachineCause::WrongPlan:
            factor = 1 + m_trouble.severity;
            break;
        default:
            break;
        }
        return order.tokens < 0 ? factor : factor * tokens(at, order.tokens);
    }

    /// Over the mean of the group.
    [[nodiscard]] double tokens(const MachinePlace &at, int layer) const
    {
        const int within = at.replica % m_job.expert;
        const auto drawn = [&](int rank) {
            return m_noise.normal(5, std::uint64_t(m_step * 100000 + layer), std::uint64_t(at.stage * 64 + rank));
        };
        double mean = 0;
        for (int rank = 0; rank < m_job.expert; ++rank)
            mean += drawn(rank) / m_job.expert;
        const double share = 1 + m_options.tokens * (drawn(within) - mean);
        if (m_trouble.cause != MachineCause::Experts)
            return share;
        const int most = m_trouble.wanders
            ? int(m_noise.uniform(6, std::uint64_t(m_step * 100000 + layer), std::uint64_t(at.stage)) * m_job.expert)
            : m_trouble.replica % m_job.expert;
        return share + (within == most ? m_trouble.severity : -m_trouble.severity / (m_job.expert - 1));
    }

    [[nodiscard]] double moving(const MachineOrder &order, std::uint64_t place, std::uint64_t of) const
    {
        const double slower = 1 / (1 - m_trouble.severity);
        const bool isTransfer = order.stream != Tensor && order.stream != Expert && order.stream != Data;
        if (m_trouble.cause == MachineCause::CongestedFabric && order.isBetweenNodes && order.bytes > 4)
            return 1 + (slower - 1) * (0.6 + 0.8 * m_noise.uniform(7, of, place));
        if (m_trouble.cause != MachineCause::SlowLink || !isTransfer)
            return 1;
        const std::vector<int> &ranks = m_groups.ranks(order.group);
        const MachinePlace &a = m_ranks[std::size_t(ranks[0])].at, &b = m_ranks[std::size_t(ranks[1])].at;
        return a.replica == m_trouble.replica && std::min(a.stage, b.stage) == m_trouble.stage ? slower : 1;
    }

    [[nodiscard]] double clockOf(int r, double share) const
    {
        const double usual = 1.755e9
            * (1 + 0.005 * m_noise.normal(8, std::uint64_t(r), std::uint64_t(m_step * 10) + std::uint64_t(share * 10)));
        const bool isLow = m_trouble.cause == MachineCause::Throttling && isMeant(m_ranks[std::size_t(r)].at);
        return isLow ? usual / (1 + throttled(0)) : usual;
    }

    void write(int r, const MachineOrder &order, double start, double end, double launched = -1)
    {
        if (!m_writes)
            return;
        const Rank &rank = m_ranks[std::size_t(r)];
        MachineSpan span;
        const double offset = m_options.clock * (2 * m_noise.uniform(9, std::uint64_t(r), 0) - 1);
        span.start = std::llround(start + offset);
        span.duration = std::max<std::int64_t>(1, std::llround(end + offset) - span.start);
        span.launched = std::llround((launched < 0 ? rank.host : launched) + offset);
        span.name = m_text.name(order.name);
        span.communicates = order.group >= 0;
        if (span.communicates) {
            span.group = m_text.group(m_groups.ranks(order.group));
            span.operation = m_text.name(order.operation);
            span.sequence = order.sequence;
            span.bytes = order.bytes;
        }
        m_texts[std::size_t(r)].streams[order.stream].push_back(span);
    }

    std::string written()
    {
        for (std::size_t r = 0; r < m_texts.size(); ++r) {
            const auto offset = std::llround(m_options.clock * (2 * m_noise.uniform(9, r, 0) - 1));
            for (auto &[start, end] : m_texts[r].steps) {
                start += offset;
                end += offset;
            }
            for (std::size_t i = 0; i + 1 < m_texts[r].steps.size(); ++i)
                m_texts[r].steps[i].second = m_texts[r].steps[i + 1].first;
            std::erase_if(m_texts[r].streams, [](const auto &stream) { return stream.empty(); });
        }
        return m_text.write(m_texts);
    }

    const MachineJob &m_job;
    const MachineTrouble &m_trouble;
    const MachineNoise &m_options;
    Noise m_noise;
    bool m_writes;
    std::vector<Rank> m_ranks;
    std::vector<MachineOrders> m_orders;
    MachineGroups m_groups;
    std::map<std::pair<int, std::int64_t>, Exchange> m_exchanges;
    std::vector<MachineRankText> m_texts;
    MachineText m_text;
    int m_step = 0;
    double m_launchFactor = 1;
};

} // namespace

MachineRun runMachine(const MachineJob &job, const MachineTrouble &trouble, const MachineNoise &noise, bool writes)
{
    return Machine(job, trouble, noise, writes).run();
}

} // namespace trainyard::test

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/rivals/sailor_figures.h"
#include "core/planner/rivals/shared_rules_internal.h"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>

namespace trainyard::rivals {

namespace {

constexpr int kParts = 8, kPartsOfMany = 4; // counts of replicas of a kind go in eighths, of three kinds in quarters
constexpr std::size_t kMostLooked = 8'000'000; // combinations; what is ranked by then counts
constexpr int kMostOrders = 24; // of regions
constexpr double kNever = std::numeric_limits<double>::infinity();

using Counts = std::vector<int>; // [region * kinds + kind]: GPUs

/// What the stages from one on take.
struct Rest {
    double longest = 0, sum = 0, sync = 0; // seconds
    double usdPerSecond = 0, crossing = kNever; // USD of what crosses; infinite: there is no way
    std::vector<int> replicas; // of this stage, by kind
    int region = 0; // number in the order

    [[nodiscard]] bool isWay() const { return crossing < kNever; }
    [[nodiscard]] double seconds(int microBatches) const { return sum + (microBatches - 1) * longest + sync; }
    [[nodiscard]] double usd(int microBatches) const { return seconds(microBatches) * usdPerSecond + crossing; }
};

/// One number of stages, micro-batch, data-parallel degree and order of regions.
class Programme {
public:
    Programme(const PlannerInput &input, std::vector<int> order, const std::vector<std::vector<StageFigures>> &figures,
        int microBatch, int data, bool wantsCheap)
        : m_input(input)
        , m_order(std::move(order))
        , m_figures(figures)
        , m_microBatch(microBatch)
        , m_data(data)
        , m_microBatches(microBatchesOf(input, data, microBatch))
        , m_wantsCheap(wantsCheap)
    {
        const double boundary = microBatch * input.boundaryNumbers * input.bytesPerNumber;
        for (std::size_t a = 0; a < m_order.size(); ++a)
            for (std::size_t b = 0; b < m_order.size(); ++b)
                m_hops.push_back(2 * hop(m_order[a], m_order[b], boundary));
    }

    /// Replicas by kind and the region of each stage; empty: there is no way.
    std::vector<Rest> run(const Counts &counts)
    {
        std::vector<Rest> way;
        Counts left = counts;
        int region = 0;
        for (int stage = 0; stage < int(m_figures.size()); ++stage) {
            const Rest &rest = solve(stage, region, left);
            if (!rest.isWay())
                return {};
            way.push_back(rest);
            region = rest.region;
            take(left, stage, region, rest.replicas, 1);
        }
        return way;
    }

    [[nodiscard]] std::size_t looked() const { return m_looked; }

private:
    [[nodiscard]] double hop(int from, int to, double bytes) const
    {
        double slowest = kNever;
        for (std::size_t a = 0; a < m_input.sites.size(); ++a)
            for (std::size_t b = 0; b < m_input.sites.size(); ++b)
                if (m_input.sites[a].region == from && m_input.sites[b].region == to)
                    slowest = std::min(slowest, m_input.rate(int(a), int(b), bytes));
        return slowest > 0 && slowest < kNever ? bytes / slowest : kNever;
    }

    [[nodiscard]] std::size_t index(int region, int kind) const
    {
        return std::size_t(m_order[std::size_t(region)]) * m_input.kinds.size() + std::size_t(kind);
    }

    void take(Counts &left, int stage, int region, const std::vector<int> &replicas, int sign) const
    {
        for (std::size_t k = 0; k < replicas.size(); ++k)
            left[index(region, int(k))] -= sign * replicas[k] * m_figures[std::size_t(stage)][k].tensor;
    }

    const Rest &solve(int stage, int region, Counts &left)
    {
        std::string key { char(stage), char(region) };
        for (const int gpus : left) {
            key += char(gpus & 0xff);
            key += char((gpus >> 8) & 0xff);
            if (gpus > 0xffff)
                key += std::to_string(gpus);
        }
        if (const auto known = m_known.find(key); known != m_known.end())
            return known->second;
        Rest best;
        for (int here = region; here < int(m_order.size()); ++here) {
            std::vector<int> replicas(m_input.kinds.size());
            share(stage, region, here, 0, m_data, replicas, left, best);
        }
        return m_known.emplace(std::move(key), std::move(best)).first->second;
    }

    /// All ways of giving `open` replicas to the kinds from `kind` on, in eighths of all.
    void share(int stage, int before, int here, std::size_t kind, int open, std::vector<int> &replicas, Counts &left,
        Rest &best)
    {
        const StageFigures &figures = m_figures[std::size_t(stage)][kind];
        const int room = figures.tensor > 0 ? left[index(here, int(kind))] / figures.tensor : 0;
        if (kind + 1 == replicas.size()) {
            if (open > room)
                return;
            replicas[kind] = open;
            consider(stage, before, here, replicas, left, best);
            return;
        }
        int last = -1;
        const int parts = replicas.size() > 2 ? kPartsOfMany : kParts;
        for (int part = 0; part <= parts; ++part) {
            const int count = std::min({ open, room, (m_data * part + parts - 1) / parts });
            if (count == last)
                continue;
            replicas[kind] = last = count;
            share(stage, before, here, kind + 1, open - count, replicas, left, best);
        }
    }

    void consider(int stage, int before, int here, const std::vector<int> &replicas, Counts &left, Rest &best)
    {
        ++m_looked;
        Rest mine;
        mine.region = here;
        mine.crossing = 0;
        double compute = 0, gradients = 0;
        for (std::size_t k = 0; k < replicas.size(); ++k) {
            if (replicas[k] == 0)
                continue;
            const StageFigures &figures = m_figures[std::size_t(stage)][k];
            compute = std::max(compute, figures.seconds);
            gradients = std::max(gradients, figures.gradients);
            mine.usdPerSecond += replicas[k] * figures.tensor * m_input.kinds[k].usdPerSecond;
        }
        const std::size_t regions = m_order.size();
        const double boundary =
            stage == 0 ? 0 : m_hops[std::size_t(stage > 0 ? before : here) * regions + std::size_t(here)];
        if (stage > 0 && before != here)
            mine.crossing =
                2.0 * m_input.batch * m_input.boundaryNumbers * m_input.bytesPerNumber * usdPerByte(before, here);
        mine.longest = mine.sum = compute + boundary;
        if (m_data > 1)
            mine.sync =
                2.0 * (m_data - 1) * hop(m_order[std::size_t(here)], m_order[std::size_t(here)], gradients / m_data);
        if (mine.sum >= kNever || mine.sync >= kNever)
            return;
        if (stage + 1 < int(m_figures.size())) {
            take(left, stage, here, replicas, 1);
            const Rest &rest = solve(stage + 1, here, left);
            take(left, stage, here, replicas, -1);
            if (!rest.isWay())
                return;
            mine.longest = std::max(mine.longest, rest.longest);
            mine.sum += rest.sum;
            mine.sync = std::max(mine.sync, rest.sync);
            mine.usdPerSecond += rest.usdPerSecond;
            mine.crossing += rest.crossing;
        }
        const double value = m_wantsCheap ? mine.usd(m_microBatches) : mine.seconds(m_microBatches);
        if (!best.isWay() || value < (m_wantsCheap ? best.usd(m_microBatches) : best.seconds(m_microBatches))) {
            best = std::move(mine);
            best.replicas = replicas;
        }
    }

    [[nodiscard]] double usdPerByte(int from, int to) const
    {
        double most = 0;
        for (std::size_t a = 0; a < m_input.sites.size(); ++a)
            for (std::size_t b = 0; b < m_input.sites.size(); ++b)
                if (m_input.sites[a].region == m_order[std::size_t(from)]
                    && m_input.sites[b].region == m_order[std::size_t(to)])
                    most = std::max(most, m_input.usdPerByte[a][b]);
        return most;
    }

    const PlannerInput &m_input;
    std::vector<int> m_order;
    const std::vector<std::vector<StageFigures>> &m_figures; // [stage][kind]
    int m_microBatch, m_data, m_microBatches;
    bool m_wantsCheap;
    std::vector<double> m_hops; // [from][to] in the order: seconds there and back of a boundary
    std::unordered_map<std::string, Rest> m_known; // by stage, region and what is left
    std::size_t m_looked = 0;
};

class SailorSearch {
public:
    SailorSearch(const PlannerInput &input, const Wishes &wishes, const std::stop_token &stop)
        : m_input(input)
        , m_wishes(wishes)
        , m_stop(stop)
    {
        for (const Site &site : input.sites)
            if (std::ranges::find(m_regions, site.region) == m_regions.end())
                m_regions.push_back(site.region);
        std::ranges::sort(m_regions);
        m_counts.resize((std::size_t(m_regions.back()) + 1) * input.kinds.size());
        for (const Site &site : input.sites) // whole machines, zones of a region as one (H6)
            m_counts[std::size_t(site.region) * input.kinds.size() + std::size_t(site.kind)] += site.gpus;
    }

    Ranking run()
    {
        m_ranking.rule = "stages of equal layers, data-parallel inside a region, kinds of GPUs by dynamic programming "
                         "over what is left";
        for (int stages = 1; stages <= std::min(m_input.layers, m_input.gpus()); ++stages)
            for (const int microBatch : m_input.microBatches)
                look(stages, microBatch);
        keepBest(
            m_ranking.choices, [&](const Choice &choice) { return m_wishes.wantsCheap ? choice.usd : choice.seconds; });
        return std::move(m_ranking);
    }

private:
    /// Degrees at which the number of micro-batches changes, largest first.
    [[nodiscard]] std::vector<int> degrees(int stages, int microBatch) const
    {
        std::vector<int> found;
        const int most = std::min(m_input.gpus() / stages, m_input.batch / microBatch);
        for (int data = 1, last = 0; data <= most; ++data) {
            const int count = microBatchesOf(m_input, data, microBatch);
            if (count != last)
                found.push_back(data);
            last = count;
        }
        if (!m_wishes.wantsCheap)
            std::ranges::reverse(found);
        return found;
    }

    void look(int stages, int microBatch)
    {
        const std::vector<int> layers = sailorLayers(m_input.layers, stages);
        for (const bool cheap : { false, true }) {
            if (cheap && !m_wishes.wantsCheap && !m_wishes.mostUsd)
                continue;
            double best = kNever;
            for (const int data : degrees(stages, microBatch)) {
                if (m_stop.stop_requested() || m_ranking.looked > kMostLooked)
                    return;
                const double value = lookAt(layers, microBatch, data, cheap);
                const bool isBudgeted = m_wishes.mostUsd || m_wishes.mostSeconds;
                if (value < best)
                    best = value;
                else if (best < kNever && value < kNever && !isBudgeted)
                    break; // H3, H4
            }
        }
    }

    /// The best of the orders of regions, by the objective; infinite: none.
    double lookAt(const std::vector<int> &layers, int microBatch, int data, bool cheap)
    {
        const int microBatches = microBatchesOf(m_input, data, microBatch);
        std::vector<std::vector<StageFigures>> figures(layers.size());
        for (int stage = 0; stage < int(layers.size()); ++stage)
            for (int kind = 0; kind < int(m_input.kinds.size()); ++kind)
                figures[std::size_t(stage)].push_back(
                    stageFigures(m_input, kind, layers, stage, microBatch, microBatches));
        std::vector<int> order = m_regions;
        double best = kNever;
        int orders = 0;
        do {
            Programme programme(m_input, order, figures, microBatch, data, cheap);
            const std::vector<Rest> way = programme.run(m_counts);
            m_ranking.looked += programme.looked();
            if (way.empty())
                continue;
            Choice choice = chosen(way, order, figures, layers);
            choice.microBatch = microBatch;
            choice.data = data;
            const auto predicted = choice.stages.empty() ? std::nullopt : sailorPrediction(choice, m_input);
            if (!predicted)
                continue;
            choice.seconds = predicted->iteration().value;
            choice.usd = choice.seconds * usdPerSecond(choice, m_input) + way.front().crossing;
            const bool isWithin = choice.usd <= m_wishes.mostUsd.value_or(kNever)
                && choice.seconds <= m_wishes.mostSeconds.value_or(kNever);
            best = std::min(best, m_wishes.wantsCheap ? choice.usd : choice.seconds);
            if (isWithin)
                m_ranking.choices.push_back(std::move(choice));
        } while (std::ranges::next_permutation(order).found && ++orders < kMostOrders);
        if (m_ranking.choices.size() > 4 * kMostChoices)
            keepBest(m_ranking.choices,
                [&](const Choice &choice) { return m_wishes.wantsCheap ? choice.usd : choice.seconds; });
        return best;
    }

    /// Stages get their replicas from the zones of their region: all from the first that has them, else one after the
    /// other.
    [[nodiscard]] Choice chosen(const std::vector<Rest> &way, const std::vector<int> &order,
        const std::vector<std::vector<StageFigures>> &figures, const std::vector<int> &layers) const
    {
        std::vector<int> left;
        for (const Site &site : m_input.sites)
            left.push_back(site.gpus);
        Choice choice;
        for (std::size_t i = 0; i < way.size(); ++i) {
            ChosenStage stage { layers[i], {} };
            for (std::size_t kind = 0; kind < way[i].replicas.size(); ++kind) {
                int open = way[i].replicas[kind];
                const int tensor = figures[i][kind].tensor;
                for (const bool whole : { true, false }) {
                    for (std::size_t s = 0; s < left.size() && open > 0; ++s) {
                        const Site &site = m_input.sites[s];
                        if (site.region != order[std::size_t(way[i].region)] || site.kind != int(kind))
                            continue;
                        const int count = std::min(open, left[s] / tensor);
                        if (count == 0 || (whole && count < open))
                            continue;
                        stage.replicas.push_back({ int(s), tensor, count });
                        left[s] -= count * tensor;
                        open -= count;
                    }
                }
                if (open > 0)
                    return {};
            }
            choice.stages.push_back(std::move(stage));
        }
        return choice;
    }

    const PlannerInput &m_input;
    const Wishes &m_wishes;
    const std::stop_token &m_stop;
    std::vector<int> m_regions;
    Counts m_counts;
    Ranking m_ranking;
};

} // namespace

Ranking bySailor(const PlannerInput &input, const Wishes &wishes, const std::stop_token &stop)
{
    return SailorSearch(input, wishes, stop).run();
}

} // namespace trainyard::rivals

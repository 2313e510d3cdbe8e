// SPDX-License-Identifier: GPL-3.0-or-later
// A space that is too large to be looked at whole: from the plan, from what makes it fit, from the datacenters that a
// ranking proposes and from the best of a sample on, steps along one axis, and where none helps along two at once; then
// again from the best with some axes changed by chance. All chance comes from the seed.
#include "core/planner/search/search_state_internal.h"

#include "core/evaluation/memory_fit/fit.h"
#include "core/evaluation/selection/selection.h"
#include "core/planner/space/axes_pools.h"
#include "core/planner/space/key_axis.h"

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

namespace trainyard::detail {

namespace {

constexpr std::size_t kSample = 4'000; // candidates drawn and scored to begin with
constexpr std::size_t kSampleWithoutTables = 200, kMostOfGrid = 600,
                      kPairsWithoutTables = 600; // where a score costs a placement
constexpr std::size_t kFewReplicas = 2, kSmallest = 64,
                      kSmallStarts = 16; // numbers of replicas, and plans, that are tried among small ones
constexpr std::size_t kMostStepPairs = 4'000; // of steps along two axes
constexpr std::size_t kSingles = 24, kPairs = 64, kStarts = 64; // of the most promising that are simulated
/// Restarts after which it ends, unless seconds were given: so many, and more where there are more steps along two axes
/// than that. A restart changes four axes, so there are as many of them as the square of those.
constexpr std::size_t kFruitless = 8, kUsualPairs = 3'500;
constexpr int kStale = 1'000; // restarts that meet nothing new after which it ends, however many seconds are left
constexpr std::size_t kMostLooked = 2'000'000; // kept of what was scored; then it is scored anew where it is met again
constexpr int kAxesShaken = 4;
constexpr int kTries = 200; // draws for one that goes together

class Around {
public:
    explicit Around(SearchState &state)
        : m_hunt(state)
        , m_axes(state.space().axes())
        , m_random(state.options().seed)
    {
    }

    SearchResult search()
    {
        if (!m_hunt.isTabled())
            startOnGrid();
        const KnownCandidate *own = m_hunt.verdict(m_hunt.baseNumber());
        const bool isOut = own && own->state != RowState::Feasible;
        if (isOut) // what keeps it from running, or within limits, may be its size
            startSmall();
        descend(m_hunt.baseNumber());
        if (!isOut)
            startSmall();
        for (const std::uint64_t start : proposals())
            descend(start);
        sample();
        const std::size_t pairs = std::max(kUsualPairs, countOfPairs());
        const std::size_t mostFruitless = kFruitless * pairs * pairs / (kUsualPairs * kUsualPairs);
        std::size_t fruitless = 0;
        int stale = 0; // restarts without a better candidate, and without one that was not known
        while (!m_hunt.isOver() && (m_hunt.options().seconds ? stale < kStale : fruitless < mostFruitless)) {
            const std::optional<Rank> before = m_hunt.best();
            const std::uint64_t known = m_hunt.looked();
            const std::optional<std::uint64_t> start = shaken();
            if (!start)
                break;
            descend(*start);
            fruitless = m_hunt.best() != before ? 0 : fruitless + 1;
            stale = m_hunt.looked() != known ? 0 : stale + 1;
            forgetMuch();
        }
        return m_hunt.finish(false, {});
    }

private:
    /// Whether a candidate is a better place to go on from; feasible ones first, then those that come nearest.
    using Height = std::tuple<int, double, double, std::uint64_t>;
    Height heightOf(std::uint64_t number) const
    {
        const KnownCandidate *known = m_hunt.verdict(number);
        if (!known)
            return { 9, 0, 0, number };
        switch (known->state) {
        case RowState::Feasible:
        case RowState::Outdone: // by others than those around it
            return { 0, known->value, known->seconds, number };
        case RowState::OutOfConstraint:
            return { 1, known->excess, known->seconds, number };
        case RowState::Infeasible:
            return { 2, known->excess, known->seconds, number };
        default:
            return { 3, 0, 0, number };
        }
    }

    void descend(std::uint64_t start)
    {
        if (!m_hunt.verdict(start))
            m_hunt.judge({ { start } });
        std::uint64_t at = start;
        while (!m_hunt.isOver()) {
            const auto better = [&](const std::vector<std::uint64_t> &numbers, std::size_t most) {
                std::uint64_t best = at;
                for (const std::uint64_t number : mostPromising(numbers, most))
                    if (heightOf(number) < heightOf(best))
                        best = number;
                return best;
            };
            std::uint64_t next = better(singles(at), kSingles);
            if (next == at)
                next = better(pairs(at), kPairs);
            if (next == at)
                return;
            at = next;
        }
    }

    /// Those that were neither scored nor simulated; they are to be scored now.
    std::vector<std::uint64_t> fresh(const std::vector<std::uint64_t> &numbers)
    {
        std::vector<std::uint64_t> some;
        for (const std::uint64_t number : numbers)
            if (!m_hunt.verdict(number) && m_looked.insert(number).second)
                some.push_back(number);
        return some;
    }

    /// Scored, and the best of them simulated: those that are known now.
    std::vector<std::uint64_t> mostPromising(const std::vector<std::uint64_t> &numbers, std::size_t most)
    {
        std::vector<std::uint64_t> known;
        for (const std::uint64_t number : numbers)
            if (m_hunt.verdict(number))
                known.push_back(number);
        for (const ScoredCandidate &one : m_hunt.scored(fresh(numbers)))
            m_open.emplace(one.number, one);
        std::vector<ScoredCandidate> open;
        for (const std::uint64_t number : numbers)
            if (const auto one = m_open.find(number); one != m_open.end() && !m_hunt.verdict(number))
                open.push_back(one->second);
        std::ranges::sort(
            open, {}, [](const ScoredCandidate &one) { return std::tuple(one.promise, one.leastValue, one.number); });
        open.resize(std::min(open.size(), most));
        m_hunt.judge(open);
        for (const ScoredCandidate &one : open)
            if (m_hunt.verdict(one.number))
                known.push_back(one.number);
        return known;
    }

    void add(std::vector<std::uint64_t> &numbers, const Candidate &candidate) const
    {
        if (!m_hunt.rules().whyNot(candidate))
            numbers.push_back(m_hunt.space().number(candidate));
    }

    std::vector<std::uint64_t> singles(std::uint64_t at) const
    {
        std::vector<std::uint64_t> numbers;
        const Candidate from = m_hunt.candidate(at);
        for (std::size_t i = 0; i < m_axes.size(); ++i)
            for (std::uint16_t value = 0; value < m_axes[i].values.size(); ++value)
                if (Candidate next = from; value != from[i]) {
                    next[i] = value;
                    add(numbers, next);
                }
        return numbers;
    }

    std::vector<std::uint64_t> pairs(std::uint64_t at) const
    {
        const bool isTabled = m_hunt.isTabled();
        const std::size_t most = isTabled ? kMostStepPairs : 16 * kMostStepPairs;
        std::vector<std::uint64_t> numbers;
        const Candidate from = m_hunt.candidate(at);
        for (std::size_t i = 0; i < m_axes.size(); ++i)
            for (std::size_t j = i + 1; j < m_axes.size(); ++j)
                for (std::uint16_t a = 0; a < m_axes[i].values.size(); ++a)
                    for (std::uint16_t b = 0; b < m_axes[j].values.size(); ++b) {
                        if (a == from[i] || b == from[j] || numbers.size() == most)
                            continue;
                        Candidate next = from;
                        next[i] = a;
                        next[j] = b;
                        add(numbers, next);
                    }
        if (!isTabled && numbers.size() > kPairsWithoutTables) { // some of all of them
            std::vector<std::uint64_t> some;
            for (std::size_t i = 0; i < kPairsWithoutTables; ++i)
                some.push_back(numbers[i * numbers.size() / kPairsWithoutTables]);
            numbers = std::move(some);
        }
        return numbers;
    }

    [[nodiscard]] std::size_t countOfPairs() const
    {
        std::size_t singles = 0, pairs = 0;
        for (const Axis &axis : m_axes) {
            pairs += singles * (axis.values.size() - 1);
            singles += axis.values.size() - 1;
        }
        return pairs;
    }

    std::size_t draw(std::size_t count) { return std::size_t(m_random() % count); }

    void forgetMuch()
    {
        m_hunt.forgetMuch();
        if (m_looked.size() < kMostLooked)
            return;
        m_looked.clear();
        m_open.clear();
    }

    /// Of a wide grid of shapes those with the fewest GPUs, as many as leave some that may hold the model within the
    /// limits: where a budget is tight, what is found from large plans on breaks it.
    void startSmall()
    {
        std::vector<Candidate> grid { m_hunt.space().baseCandidate() };
        const int data = axisOf(m_hunt.space(), &Parallelism::data);
        for (const int axis : { m_hunt.space().axis(kKindsAxis), axisOf(m_hunt.space(), &Parallelism::tensor),
                 axisOf(m_hunt.space(), &Parallelism::pipeline), axisOf(m_hunt.space(), &WorkloadSpec::microBatch),
                 data }) {
            if (axis < 0)
                continue;
            const std::size_t values = m_axes[std::size_t(axis)].values.size();
            const std::size_t count = axis == data ? std::min(kFewReplicas, values) : values;
            std::vector<Candidate> wider;
            for (const Candidate &one : grid)
                for (std::uint16_t value = 0; value < count; ++value) {
                    wider.push_back(one);
                    wider.back()[std::size_t(axis)] = value;
                }
            grid = std::move(wider);
        }
        std::vector<std::pair<std::int64_t, std::uint64_t>> bySize; // GPUs
        for (const Candidate &one : grid) {
            if (m_hunt.rules().whyNot(one))
                continue;
            const Parallelism &p = m_hunt.space().plan(one)->parallelism;
            bySize.emplace_back(
                std::int64_t(p.tensor) * p.pipeline * p.context * p.data.value_or(1), m_hunt.space().number(one));
        }
        std::ranges::sort(bySize);
        std::vector<std::uint64_t> numbers;
        std::size_t next = 0;
        while (next < bySize.size() && numbers.size() < kSmallest && !m_hunt.isOver()) {
            std::vector<std::uint64_t> some;
            for (; next < bySize.size() && some.size() < kSmallest; ++next)
                some.push_back(bySize[next].second);
            for (const ScoredCandidate &one : m_hunt.scored(fresh(some))) {
                m_open.emplace(one.number, one);
                numbers.push_back(one.number);
            }
        }
        descendFromBest(numbers, kSmallStarts);
    }

    /// All combinations of the degrees that decide most, as many of these as keep them few; where scores come from
    /// tables a sample tells as much.
    void startOnGrid()
    {
        std::vector<Candidate> grid { m_hunt.space().baseCandidate() };
        for (const int axis : { axisOf(m_hunt.space(), &WorkloadSpec::microBatch),
                 axisOf(m_hunt.space(), &Parallelism::tensor), axisOf(m_hunt.space(), &Parallelism::pipeline),
                 m_hunt.space().axis(kKindsAxis), axisOf(m_hunt.space(), &Parallelism::data) }) {
            if (axis < 0 || grid.size() * m_axes[std::size_t(axis)].values.size() > kMostOfGrid)
                continue;
            std::vector<Candidate> wider;
            for (const Candidate &one : grid)
                for (std::uint16_t value = 0; value < m_axes[std::size_t(axis)].values.size(); ++value) {
                    wider.push_back(one);
                    wider.back()[std::size_t(axis)] = value;
                }
            grid = std::move(wider);
        }
        std::vector<std::uint64_t> numbers;
        for (const Candidate &one : grid)
            add(numbers, one);
        descendFromBest(numbers);
    }

    void descendFromBest(const std::vector<std::uint64_t> &numbers, std::size_t most = kStarts)
    {
        const std::vector<std::uint64_t> known = mostPromising(numbers, most);
        const auto best = std::ranges::min_element(known, {}, [&](std::uint64_t number) { return heightOf(number); });
        if (best != known.end())
            descend(*best);
    }

    void sample()
    {
        const std::size_t most = m_hunt.isTabled() ? kSample : kSampleWithoutTables;
        std::vector<std::uint64_t> numbers;
        std::set<std::uint64_t> drawn;
        for (std::size_t tries = 0; tries < 10 * most && numbers.size() < most; ++tries) {
            Candidate candidate;
            for (const Axis &axis : m_axes)
                candidate.push_back(std::uint16_t(draw(axis.values.size())));
            if (!m_hunt.rules().whyNot(candidate) && drawn.insert(m_hunt.space().number(candidate)).second)
                numbers.push_back(m_hunt.space().number(candidate));
        }
        descendFromBest(numbers);
    }

    /// The best, or the plan, with some axes changed by chance.
    std::optional<std::uint64_t> shaken()
    {
        const std::uint64_t from = m_hunt.best() ? m_hunt.best()->number : m_hunt.baseNumber();
        for (int tries = 0; tries < kTries; ++tries) {
            Candidate candidate = m_hunt.candidate(from);
            for (int i = 0; i < kAxesShaken; ++i) {
                const std::size_t axis = draw(m_axes.size());
                candidate[axis] = std::uint16_t(draw(m_axes[axis].values.size()));
            }
            const std::uint64_t number = m_hunt.space().number(candidate);
            if (number != from && !m_hunt.rules().whyNot(candidate))
                return number;
        }
        return std::nullopt;
    }

    /// The candidate that is most like a plan: of each axis the value that leaves it as it is.
    std::optional<std::uint64_t> nearest(const Plan &plan) const
    {
        Candidate candidate = m_hunt.space().baseCandidate();
        for (std::size_t i = 0; i < m_axes.size(); ++i) {
            for (std::uint16_t value = 0; value < m_axes[i].values.size(); ++value) {
                Plan with = plan;
                m_axes[i].values[value].set(with);
                const bool isAlike = with == plan
                    || (m_axes[i].id == "placement" && sameOrder(with.placement.stages, plan.placement.stages));
                if (isAlike) {
                    candidate[i] = value;
                    break;
                }
            }
        }
        return m_hunt.rules().whyNot(candidate) ? std::nullopt : std::optional(m_hunt.space().number(candidate));
    }
    static bool sameOrder(const std::vector<StagePin> &a, const std::vector<StagePin> &b)
    {
        return !a.empty() && std::ranges::equal(a, b, {}, &StagePin::datacenter, &StagePin::datacenter);
    }

    std::vector<std::uint64_t> proposals()
    {
        std::vector<std::uint64_t> starts;
        const PlanPtr &plan = m_hunt.space().base();
        if (hasJobs(*plan))
            return starts;
        const auto propose = [&](const PlanPtr &proposed) {
            if (const auto number = nearest(*proposed); number && *number != m_hunt.baseNumber())
                starts.push_back(*number);
        };
        const KnownCandidate *own = m_hunt.verdict(m_hunt.baseNumber());
        if (own && own->state == RowState::Infeasible)
            propose(fitModel(plan, m_hunt.catalogue(), m_hunt.workspace(), m_hunt.stop()).plan);
        if (plan->cluster.datacenters.size() > 1 && axisOf(m_hunt.space(), &Placement::mode) >= 0)
            if (const auto ranked = selectDatacenters(plan, m_hunt.catalogue(), m_hunt.workspace(), m_hunt.stop()))
                for (const int option : { ranked->bestThroughput, ranked->bestCost })
                    if (option >= 0)
                        propose(ranked->options[std::size_t(option)].plan);
        return starts;
    }

    SearchState &m_hunt;
    const std::vector<Axis> &m_axes;
    std::mt19937_64 m_random;
    std::set<std::uint64_t> m_looked;
    std::map<std::uint64_t, ScoredCandidate> m_open;
};

} // namespace

SearchResult localSearch(SearchState &state)
{
    return Around(state).search();
}

} // namespace trainyard::detail

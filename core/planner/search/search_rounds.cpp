// SPDX-License-Identifier: GPL-3.0-or-later
// How a search simulates: rounds of candidates, through the lanes where these take them and through run() else or where
// the lanes leave it open; what is learnt of each is kept, counted and told.
#include "core/evaluation/evaluate/workspace_state.h"
#include "core/planner/search/search_state_internal.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace trainyard::detail {

namespace {

/// Candidates that go through the lanes at once, in rounds; and of those that are left open, how many go through run().
constexpr std::size_t kRoundsInLanes = 8, kOpenAtOnce = 16;
/// What is kept of candidates that were simulated; then it is forgotten but for those that are told.
constexpr std::size_t kMostKnown = 4'000'000;

} // namespace

const KnownCandidate *SearchState::verdict(std::uint64_t number) const
{
    const auto known = m_verdicts.find(number);
    return known == m_verdicts.end() ? nullptr : &known->second;
}

void SearchState::judge(const std::vector<ScoredCandidate> &candidates)
{
    std::size_t next = 0;
    while (next < candidates.size() && (!isOver() || m_verdicts.empty())) {
        Numbers whole;
        std::vector<ScoredCandidate> lanes;
        for (; next < candidates.size() && whole.size() < m_roundSize && lanes.size() < kRoundsInLanes * m_roundSize;
             ++next) {
            const ScoredCandidate &one = candidates[next];
            if (verdict(one.number) || isOutdone(one))
                continue;
            if (one.number != m_base && m_lanes->takes(candidate(one.number)))
                lanes.push_back(one);
            else
                whole.push_back(one.number);
        }
        runWhole(whole);
        runInLanes(lanes);
        tell();
    }
}

void SearchState::runWhole(const Numbers &numbers)
{
    std::vector<CandidateVerdict> verdicts(numbers.size());
    std::vector<std::int64_t> taken(numbers.size());
    m_threads.each(numbers.size(), [&](std::size_t i, std::size_t worker) {
        std::int64_t &sum = m_workers[worker]->workspace.state().taken.sum;
        const std::int64_t before = sum;
        if (m_stop.stop_requested() && !m_verdicts.empty())
            verdicts[i].isStopped = true;
        else
            verdicts[i] = m_judge.judge(space().plan(candidate(numbers[i])), numbers[i], m_workers[worker]->workspace,
                m_verdicts.empty() ? std::stop_token {} : m_stop, numbers[i] == m_base ? m_own : nullptr);
        taken[i] = kTasksOfAny + sum - before;
    });
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        if (verdicts[i].isStopped)
            continue;
        ++m_result.simulated;
        ++m_result.wholly;
        m_tasksLeft -= taken[i];
        take(verdicts[i]);
    }
}

/// An eighth of what it would take through run(): its topology has to be made, for others too.
std::int64_t SearchState::tasksInLanes(std::uint64_t number, int gpus) const
{
    const PlanPtr plan = space().plan(candidate(number));
    const Parallelism &p = plan->parallelism;
    const std::int64_t ofReplica = std::int64_t(p.tensor) * p.pipeline * p.context;
    const std::int64_t microBatches =
        plan->workload.globalBatch / std::max<std::int64_t>(1, plan->workload.microBatch * (gpus / ofReplica));
    return (kTasksOfAny + 2 * p.pipeline * p.virtualPipeline * microBatches) / 8;
}

/// The best of them first through run(): then what comes behind all that are told needs no more.
void SearchState::runInLanes(const std::vector<ScoredCandidate> &candidates)
{
    if (candidates.empty())
        return;
    struct Open {
        double least = 0;
        std::uint64_t number = 0;
        double computing = 0; // at least
        Outcome outcome;
    };
    Numbers numbers;
    for (const ScoredCandidate &one : candidates)
        numbers.push_back(one.number);
    std::vector<Open> open;
    const auto settles = [&](const Open &one) {
        const auto verdict = m_judge.judgeExact(one.number, one.outcome, one.computing, worstTold());
        if (!verdict)
            return false;
        ++m_result.simulated;
        take(*verdict);
        return true;
    };
    const std::vector<Outcome> outcomes = m_lanes->run(m_threads, numbers, m_stop);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (!outcomes[i].isRun && m_stop.stop_requested())
            continue; // it was not reached
        m_tasksLeft -= tasksInLanes(numbers[i], outcomes[i].gpusUsed);
        const double computing = candidates[i].leastComputing;
        const double least = outcomes[i].isRun
            ? m_judge.leastValue({ outcomes[i].seconds, outcomes[i].gpusUsed, computing })
            : std::numeric_limits<double>::infinity();
        if (const Open one { least, numbers[i], computing, outcomes[i] }; !settles(one))
            open.push_back(one);
    }
    std::ranges::sort(open, {}, [](const Open &one) { return std::tuple(one.least, one.number); });
    while (!open.empty() && !m_stop.stop_requested()) {
        Numbers next;
        for (std::size_t i = 0; i < std::min(open.size(), kOpenAtOnce); ++i)
            next.push_back(open[i].number);
        open.erase(open.begin(), open.begin() + std::ptrdiff_t(next.size()));
        runWhole(next);
        std::erase_if(open, settles);
    }
}

void SearchState::take(const CandidateVerdict &verdict)
{
    const SearchRow &row = verdict.row;
    std::size_t at = std::numeric_limits<std::size_t>::max();
    if (m_result.rows.size() < m_options.mostRows) {
        at = m_result.rows.size();
        m_result.rows.push_back(row);
    }
    if (row.state == RowState::Feasible)
        offer({ row.value, row.seconds, changesOf(row.number), row.number }, row, at);
    else
        count(verdict.kind, 1);
    m_verdicts.emplace(row.number, KnownCandidate { row.state, row.value, row.seconds, verdict.excess });
}

double SearchState::worstTold() const
{
    return m_top.size() < std::max<std::size_t>(1, m_options.top) ? std::numeric_limits<double>::infinity()
                                                                  : m_top.back().first.value;
}

void SearchState::forgetMuch()
{
    if (m_verdicts.size() < kMostKnown)
        return;
    std::unordered_map<std::uint64_t, KnownCandidate> told;
    const auto keep = [&](std::uint64_t number) {
        if (const auto known = m_verdicts.find(number); known != m_verdicts.end())
            told.insert(*known);
    };
    keep(m_base);
    for (const auto &one : m_top)
        keep(one.first.number);
    m_verdicts = std::move(told);
}

/// Of plans that come to the same in every figure one is told: the one that changes least.
void SearchState::offer(const Rank &rank, const SearchRow &row, std::size_t at)
{
    const auto same = std::ranges::find_if(m_top, [&](const std::pair<Rank, std::size_t> &one) {
        const SearchRow &known = m_result.rows[one.second];
        return std::tuple(known.value, known.seconds, known.usdPerMillionTokens, known.fill, known.gpus)
            == std::tuple(row.value, row.seconds, row.usdPerMillionTokens, row.fill, row.gpus);
    });
    if (same != m_top.end()) {
        if (same->first < rank)
            return;
        m_top.erase(same);
    }
    const std::size_t most = std::max<std::size_t>(1, m_options.top);
    const auto behind = std::ranges::upper_bound(m_top, rank, {}, &std::pair<Rank, std::size_t>::first);
    if (behind - m_top.begin() >= std::ptrdiff_t(most))
        return;
    if (at >= m_result.rows.size()) {
        at = m_result.rows.size();
        m_result.rows.push_back(row);
    }
    m_top.insert(behind, { rank, at });
    if (m_top.size() > most)
        m_top.pop_back();
    m_best = m_top.front().first;
}

} // namespace trainyard::detail

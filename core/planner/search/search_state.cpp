// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/search/search_state_internal.h"

#include <algorithm>
#include <limits>

namespace trainyard::detail {

namespace {

constexpr std::int64_t kTasksOfRound = 2'000'000;
constexpr std::size_t kMostOfRound = 64, kLeastOfRound = 8;
/// Neighbours share the parts of their scores: chunks are as long as leaves something to every worker.
constexpr std::size_t kLeastScoredAtOnce = 256, kMostScoredAtOnce = 16'384, kChunksOfWorker = 8,
                      kScoredAtOnceWithoutTables = 4;
/// Further rows of candidates that were outdone, for whoever draws them.
constexpr std::size_t kOutdoneRows = 1'000;

} // namespace

SearchState::SearchState(const PlanPtr &plan, const Catalogue &catalogue, const SearchOptions &options,
    SearchSpace space, EvaluationPtr own, std::stop_token stop,
    const std::function<void(const SearchProgress &)> &onProgress)
    : m_catalogue(catalogue)
    , m_options(options)
    , m_stop(std::move(stop))
    , m_onProgress(onProgress)
    , m_result { .space = std::make_shared<const SearchSpace>(std::move(space)), .objective = options.objective }
    , m_rules(*m_result.space, catalogue)
    , m_judge(plan, catalogue, options, *own)
    , m_threads(options.threads)
    , m_own(std::move(own))
    , m_baseCandidate(m_result.space->baseCandidate())
    , m_tasksLeft(options.mostTasks)
{
    m_base = m_result.space->number(m_baseCandidate);
    m_roundSize = std::size_t(std::clamp<std::int64_t>(
        kTasksOfRound / (std::int64_t(m_own->metrics.spans) + kTasksOfAny), kLeastOfRound, kMostOfRound));
    for (std::size_t i = 0; i < m_threads.workers(); ++i) {
        m_workers.push_back(std::make_unique<Worker>());
        m_workers.back()->scorer = std::make_unique<Scorer>(*m_result.space, catalogue);
    }
    m_lanes = std::make_unique<BatchTier>(*m_result.space, catalogue, m_threads.workers(), isTabled());
    const auto &datacenters = plan->cluster.datacenters;
    m_hasOnePlace = datacenters.size() == 1 && datacenters.front().pools.size() == 1;
    judge({ { m_base } });
    m_result.own = 0;
}

void SearchState::count(const std::string &reason, std::uint64_t many)
{
    m_pruned[reason] += many;
}

int SearchState::changesOf(std::uint64_t number) const
{
    const Candidate candidate = this->candidate(number);
    int changes = 0;
    for (std::size_t i = 0; i < candidate.size(); ++i)
        changes += candidate[i] != m_baseCandidate[i];
    return changes;
}

/// Of several placements the score has the GPUs of one: another may use fewer.
int SearchState::leastGpus(const Score &score, const Candidate &candidate) const
{
    if (m_hasOnePlace)
        return score.gpusUsed;
    const PlanPtr plan = space().plan(candidate);
    return leastGpusOf(*plan);
}

/// Why a candidate is out before a score is paid for; empty where it may not be.
std::string SearchState::surelyOut(const LeastWork &least) const
{
    if (!(least.seconds > 0))
        return {};
    if (std::string broken = m_judge.surelyBroken(least, 0); !broken.empty())
        return broken;
    const bool isOutdone = m_best && m_judge.leastValue(least) > m_best->value;
    return isOutdone ? kCannotBeBetter : "";
}

std::vector<ScoredCandidate> SearchState::scored(const std::vector<std::uint64_t> &numbers, double mostOfLeft)
{
    struct Scored {
        ScoredCandidate one;
        std::string out = "it was not looked at"; // until it is: a search may be stopped
        bool isScored = false;
        std::int64_t tasks = 0;
    };
    std::vector<Scored> all(numbers.size());
    const std::size_t atOnce = isTabled()
        ? std::clamp(numbers.size() / (kChunksOfWorker * m_threads.workers()), kLeastScoredAtOnce, kMostScoredAtOnce)
        : kScoredAtOnceWithoutTables;
    const std::size_t chunks = (numbers.size() + atOnce - 1) / atOnce;
    m_threads.each(chunks, [&](std::size_t chunk, std::size_t worker) {
        Scorer &scorer = *m_workers[worker]->scorer;
        const std::size_t end = std::min(numbers.size(), (chunk + 1) * atOnce);
        for (std::size_t i = chunk * atOnce; i < end && !m_stop.stop_requested(); ++i) {
            const Candidate candidate = this->candidate(numbers[i]);
            Scored &scored = all[i];
            const LeastWork work = scorer.leastWork(candidate);
            if (std::string out = surelyOut(work); !out.empty() && numbers[i] != m_base) {
                scored = { { numbers[i] }, std::move(out), true };
                continue;
            }
            const Score score = scorer.score(candidate);
            scored = { { numbers[i], 0, std::numeric_limits<double>::infinity() }, {}, true };
            if (!isTabled())
                scored.tasks = score.tasks;
            if (numbers[i] == m_base)
                scored.out = "yours";
            else if (score.state == ScoreState::Refused)
                scored.out = scorer.reasonText(score.reason);
            else if (score.state == ScoreState::TooLarge)
                scored.out = "it does not fit the memory of the GPUs";
            LeastWork least { score.leastSeconds, 0, std::max(score.leastComputing, work.computing) };
            if (scored.out.empty()) {
                least.gpus = leastGpus(score, candidate);
                scored.out = m_judge.surelyBroken(least, score.leastFill);
            }
            if (!scored.out.empty())
                continue;
            least.seconds = std::max(least.seconds, work.seconds);
            scored.one.leastValue = m_judge.leastValue(least);
            scored.one.leastComputing = least.computing;
            scored.one.leastSeconds = score.leastSeconds;
            scored.one.gpus = score.gpusUsed;
            if (score.estimate > 0)
                scored.one.promise = m_judge.leastValue({ score.estimate, score.gpusUsed, least.computing });
        }
    });
    std::vector<ScoredCandidate> open;
    std::int64_t tasks = 0;
    for (Scored &scored : all) {
        tasks += scored.tasks;
        m_result.scored += scored.isScored;
        if (scored.out.empty())
            open.push_back(scored.one);
        else if (scored.isScored && scored.one.number != m_base)
            count(scored.out, 1);
    }
    m_tasksLeft -= mostOfLeft < 1 ? std::min(tasks, std::int64_t(mostOfLeft * double(m_tasksLeft))) : tasks;
    return open;
}

void SearchState::tell()
{
    if (!m_onProgress)
        return;
    SearchProgress progress;
    progress.looked = std::max<std::uint64_t>(m_result.scored, m_result.simulated);
    progress.total = m_total;
    progress.simulated = m_result.simulated;
    progress.rows = std::span(m_result.rows).subspan(m_told);
    progress.space = m_result.space;
    m_told = m_result.rows.size();
    if (!m_top.empty())
        progress.best = m_result.rows[m_top.front().second];
    m_onProgress(progress);
}

SearchResult SearchState::finish(bool isComplete, const std::vector<ScoredCandidate> &outdone)
{
    m_result.isComplete = isComplete;
    for (const Axis &axis : space().axes())
        if (axis.thinned > 0) {
            m_result.isComplete = false;
            count("values of " + axis.label + " are too many: the best by GPUs and links were taken", axis.thinned);
        }
    m_result.isStopped = m_stop.stop_requested();
    m_result.looked = std::max<std::uint64_t>(m_result.scored, m_result.simulated);
    for (const auto &[rank, row] : m_top)
        m_result.best.push_back(row);
    std::size_t more = std::min(kOutdoneRows, m_options.mostRows - std::min(m_options.mostRows, m_result.rows.size()));
    for (const ScoredCandidate &one : outdone) {
        if (more == 0)
            break;
        if (verdict(one.number) || !isOutdone(one))
            continue;
        --more;
        SearchRow row { .number = one.number, .state = RowState::Outdone };
        row.reason = kCannotBeBetter;
        row.seconds = one.leastSeconds;
        row.gpus = one.gpus;
        row.value = one.leastValue;
        m_result.rows.push_back(std::move(row));
    }
    for (const auto &[reason, many] : m_pruned)
        m_result.pruned.push_back({ reason, many });
    std::ranges::stable_sort(m_result.pruned, std::ranges::greater {}, &PruneCount::count);
    tellResult(m_result);
    return std::move(m_result);
}

} // namespace trainyard::detail

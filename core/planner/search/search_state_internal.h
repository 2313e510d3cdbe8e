#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One search under way: what is known of candidates, what was simulated, the best so far, and what may still be done.
// The two ways of going through a space (whole, around good plans) ask it to score and to judge; it does so on all
// threads, in rounds whose contents do not depend on how many there are. Private to the folder.

#include "core/planner/score/scorer.h"
#include "core/planner/search/batch_tier.h"
#include "core/planner/search/scenario_judge.h"
#include "core/planner/search/search.h"
#include "core/planner/search/search_threads.h"
#include "core/planner/space/rules.h"

#include <map>
#include <unordered_map>

namespace trainyard::detail {

/// Of what is left out because its bound is above the best.
inline constexpr const char *kCannotBeBetter = "it cannot be better than the best that was found";

/// A candidate before it is simulated.
struct ScoredCandidate {
    std::uint64_t number = 0;
    /// no smaller value is possible
    double leastValue = 0;
    /// the value by the closed form; the smaller the sooner it is looked at
    double promise = 0;
    /// of an iteration; for whoever draws it
    double leastSeconds = 0;
    /// GPU-seconds
    double leastComputing = 0;
    int gpus = 0;
};

/// What makes one feasible candidate better than another: the value, the time, how few axes it changes, its number.
struct Rank {
    double value = 0, seconds = 0;
    int changes = 0;
    std::uint64_t number = 0;
    auto operator<=>(const Rank &) const = default;
};

/// What stays known of one that was simulated.
struct KnownCandidate {
    RowState state = RowState::Refused;
    /// as of its verdict
    double value = 0, seconds = 0, excess = 0;
};

class SearchState {
public:
    SearchState(const PlanPtr &plan, const Catalogue &catalogue, const SearchOptions &options, SearchSpace space,
        EvaluationPtr own, std::stop_token stop, const std::function<void(const SearchProgress &)> &onProgress);

    [[nodiscard]] const SearchSpace &space() const { return *m_result.space; }
    [[nodiscard]] const SpaceRules &rules() const { return m_rules; }
    [[nodiscard]] const SearchOptions &options() const { return m_options; }
    [[nodiscard]] const Catalogue &catalogue() const { return m_catalogue; }
    [[nodiscard]] std::uint64_t baseNumber() const { return m_base; }
    [[nodiscard]] Candidate candidate(std::uint64_t number) const { return space().candidate(number); }
    EvaluationWorkspace &workspace() { return m_workers.front()->workspace; }
    [[nodiscard]] const std::stop_token &stop() const { return m_stop; }

    /// Scores of those that may be feasible, in the order given; the others are counted with their reasons. Whatever it
    /// takes, no more than `mostOfLeft` of what may still be done is taken off for it.
    std::vector<ScoredCandidate> scored(const std::vector<std::uint64_t> &numbers, double mostOfLeft = 1);
    /// Simulates those that were not, round by round, as long as something is left to simulate with. Those whose bound
    /// is above the best found before their round are left out. Whatever the lanes take goes through them first, and
    /// through run() where that leaves it open: one that does not fit, or comes behind all that are told, does not.
    void judge(const std::vector<ScoredCandidate> &candidates);
    /// null where it was not simulated.
    [[nodiscard]] const KnownCandidate *verdict(std::uint64_t number) const;
    /// Of feasible ones that were simulated; empty: none.
    [[nodiscard]] const std::optional<Rank> &best() const { return m_best; }
    [[nodiscard]] bool isOutdone(const ScoredCandidate &one) const { return m_best && one.leastValue > m_best->value; }
    [[nodiscard]] bool isOver() const { return m_stop.stop_requested() || (!m_options.seconds && m_tasksLeft <= 0); }
    [[nodiscard]] std::size_t roundSize() const { return m_roundSize; }
    [[nodiscard]] std::uint64_t looked() const { return m_result.scored + m_result.simulated; }
    void count(const std::string &reason, std::uint64_t many);
    /// Whether scores come from tables; else each costs a placement.
    [[nodiscard]] bool isTabled() const { return m_workers.front()->scorer->isTabled(); }
    void setTotal(std::uint64_t total) { m_total = total; }

    /// Where millions are known. Who calls it then starts anew.
    void forgetMuch();

    SearchResult finish(bool isComplete, const std::vector<ScoredCandidate> &outdone);

private:
    struct Worker {
        EvaluationWorkspace workspace;
        std::unique_ptr<Scorer> scorer;
    };
    using Numbers = std::vector<std::uint64_t>;
    /// What a candidate takes that is run or given to the lanes beside its placements, in tasks: it is resolved, and
    /// its figures are worked out.
    static constexpr std::int64_t kTasksOfAny = 1'500;
    void runWhole(const Numbers &numbers);
    void runInLanes(const std::vector<ScoredCandidate> &candidates);
    [[nodiscard]] std::int64_t tasksInLanes(std::uint64_t number, int gpus) const;
    void take(const CandidateVerdict &verdict);
    /// Values above it are told of nowhere.
    [[nodiscard]] double worstTold() const;

    void offer(const Rank &rank, const SearchRow &row, std::size_t at);
    void tell();
    [[nodiscard]] int changesOf(std::uint64_t number) const;
    [[nodiscard]] std::string surelyOut(const LeastWork &least) const;
    [[nodiscard]] int leastGpus(const Score &score, const Candidate &candidate) const;

    const Catalogue &m_catalogue;
    const SearchOptions &m_options;
    std::stop_token m_stop;
    const std::function<void(const SearchProgress &)> &m_onProgress;
    SearchResult m_result;
    SpaceRules m_rules;
    ScenarioJudge m_judge;
    SearchThreads m_threads;
    std::vector<std::unique_ptr<Worker>> m_workers;
    std::unique_ptr<BatchTier> m_lanes;
    /// of the plan itself
    EvaluationPtr m_own;
    std::uint64_t m_base = 0, m_total = 0;
    Candidate m_baseCandidate;
    /// all placements of a candidate use as many GPUs
    bool m_hasOnePlace = false;
    std::int64_t m_tasksLeft = 0;
    std::size_t m_roundSize = 0, m_told = 0;
    std::unordered_map<std::uint64_t, KnownCandidate> m_verdicts;
    /// best first, with their rows
    std::vector<std::pair<Rank, std::size_t>> m_top;
    std::optional<Rank> m_best;
    std::map<std::string, std::uint64_t> m_pruned;
};

/// Every candidate that goes together: the best is the best of all.
/// `areAll`: else others were not reached, and how many there are in all, or left, is told as not known.
[[nodiscard]] SearchResult exhaustive(SearchState &state, const std::vector<std::uint64_t> &numbers, bool areAll);
/// From good plans by steps along one axis and along two, again and again from elsewhere.
[[nodiscard]] SearchResult localSearch(SearchState &state);
/// Which row comes nearest where none is feasible, and reasons that are of one kind together.
void tellResult(SearchResult &result);

} // namespace trainyard::detail

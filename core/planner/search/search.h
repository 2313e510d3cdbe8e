#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The planner: of all candidates of a space the best by an objective within constraints. Bounds prune (score/), the
// engine decides (run()); a plan that evaluate() calls infeasible is never the answer, and the plan asked
// about is the first candidate, so no answer is worse than it where it keeps the constraints. A search that is not
// stopped looks at its candidates in rounds of a fixed size, each round on all threads, and takes ties by candidate
// number: the answer is the same on every machine and with any number of threads, and it is the best of the space,
// because everything else was simulated or is outdone by its bound. Of a space that is too large only a part, drawn by
// `seed`, is looked at; `isComplete` is false then.
//
//   const auto found = search(plan, builtinCatalogue(), { .objective = Objective::Cost, .seconds = 10 });

#include "core/evaluation/evaluate/run.h"
#include "core/planner/search/scenario.h"
#include "core/planner/space/space.h"

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace trainyard {

enum class Objective : std::uint8_t {
    /// most tokens per second
    Throughput,
    /// fewest USD per million tokens of the plan as it is written (SearchOptions::keepsIdle), egress included
    Cost,
    /// fewest joules per token, of the GPUs that are used
    Energy,
    /// fewest days for all training tokens
    Time,
    /// fewest GPUs, of those the fastest
    Gpus,
};
/// as the command line names them
[[nodiscard]] const char *toString(Objective objective);

struct Constraints {
    /// of the plan as it is written (SearchOptions::keepsIdle), egress included
    std::optional<double> mostUsdPerHour;
    /// likewise: what an iteration may cost
    std::optional<double> mostUsdPerMillionTokens;
    std::optional<int> mostGpus;
    std::optional<double> leastTokensPerSecond;
    /// for workload.training_tokens
    std::optional<double> mostDays;
    /// Share of each GPU's memory that stays free. Absent: 5 %, or what the plan itself leaves where that is less.
    std::optional<double> memoryMargin;
    /// ids of those that may be used; empty: all
    std::vector<std::string> datacenters;
};

struct SearchOptions {
    Objective objective = Objective::Throughput;
    Constraints constraints;
    /// keys that stay (SpaceOptions)
    std::vector<std::string> fixed;
    /// beside the plan's own world; empty: that alone
    std::vector<Scenario> scenarios;
    /// where there are scenarios
    Robustness robustness = Robustness::WorstCase;
    /// stop then and keep the best
    std::optional<double> seconds;
    std::uint64_t seed = 1;
    /// of the best that are told
    std::size_t top = 10;
    /// 0: as many as the processor has cores
    std::size_t threads = 0;
    /// What may be simulated, counted in tasks of iterations, so that a search ends alike on every machine. Where
    /// `seconds` are given they decide instead.
    std::int64_t mostTasks = 120'000'000;
    /// candidates that go together: a larger space is looked at in part
    std::uint64_t mostEnumerated = 1'000'000;
    /// kept for whoever draws them
    std::size_t mostRows = 20'000;
    bool mayTrainOtherwise = false;
    /// The plan that is written keeps nodes that it leaves idle, and all money is that of the whole cluster. Else they
    /// are given back (idle_nodes.h), and money is that of the nodes that hold a stage.
    bool keepsIdle = false;
};

enum class RowState : std::uint8_t { Refused, Outdone, Infeasible, OutOfConstraint, Feasible };

/// A candidate that was looked at.
struct SearchRow {
    /// in the space
    std::uint64_t number = 0;
    RowState state = RowState::Outdone;
    /// why it is out, one sentence; empty of what is feasible
    std::string reason;
    /// of a constraint that it misses, with numbers: "needs 444 days, allowed 1"
    std::string shortfall;
    /// as a share of what is allowed, of the constraint that it misses most; 0: none, or not known
    double missedBy = 0;
    /// an iteration: simulated where feasible or exact, else the least that it may take, or 0
    double seconds = 0;
    /// where simulated; money as the plan is written (SearchOptions::keepsIdle)
    double usdPerMillionTokens = 0, usdPerHour = 0, joulesPerToken = 0, tokensPerSecond = 0;
    /// The same with every GPU of the cluster paid for, idle ones too, as `evaluate` counts; 0: not known.
    double clusterUsdPerMillionTokens = 0, clusterUsdPerHour = 0;
    /// of the fullest GPU
    double fill = 0;
    int gpus = 0;
    /// replicas that it reached, where simulated; 0: not known
    int data = 0;
    /// of the objective, smaller is better; over the scenarios
    double value = 0;
    /// of time against money (search_front.h)
    bool isOnFront = false;
    /// Of one that is outdone: it could run, and its seconds, fill and GPUs (and money, where it is told) are the
    /// engine's; else they are bounds.
    bool isExact = false;
    /// Of SearchOptions::scenarios, the world where the value is largest, or that the row is out for; -1: the plan's
    /// own. All figures above but `value` are of the plan's own world.
    int worstScenario = -1;
};

struct PruneCount {
    std::string reason;
    std::uint64_t count = 0;
    /// of combinations that do not go together: none of those that were looked at
    bool isRule = false;
    /// of several that are told as one: each, most first
    std::vector<PruneCount> details;
};

/// The plan with that number of replicas, where it leaves it open: `data: auto` of a candidate is the most of them.
[[nodiscard]] PlanPtr withReplicas(const PlanPtr &plan, int data);

struct SearchResult {
    std::shared_ptr<const SearchSpace> space;
    /// what was asked for
    std::shared_ptr<const SearchOptions> asked;
    Objective objective = Objective::Throughput;
    /// every candidate was simulated or is outdone by its bound
    bool isComplete = false;
    /// by the token or the clock
    bool isStopped = false;
    std::uint64_t looked = 0, scored = 0;
    /// candidates whose iteration the engine timed, alone or eight at a time
    std::uint64_t simulated = 0;
    /// of these, through run(): with all their figures
    std::uint64_t wholly = 0;
    /// Where the whole space was to be looked at, how many candidates may be better and were not simulated. 0: none, or
    /// not known, as when the search was stopped before it had listed all.
    std::uint64_t left = 0;
    /// the plan's own first, then as they were looked at
    std::vector<SearchRow> rows;
    /// rows, best first; empty: nothing feasible within the constraints
    std::vector<std::size_t> best;
    /// most first
    std::vector<PruneCount> pruned;
    /// the plan's own row
    std::optional<std::size_t> own;
    /// where none is feasible: of what was simulated, the row that misses least
    std::optional<std::size_t> nearest;
    /// their names, as the options have them
    std::vector<std::string> scenarios;
    Robustness robustness = Robustness::WorstCase;
    /// "8.2 % faster than your plan; proven best of 12,400 combinations, 212 simulated"
    std::string summary;
    /// its end, which hangs on no other plan: "proven best of 12,400 combinations, 212 simulated"
    std::string reach;
    /// what the plan's software has not and was not tried (schedulesLeftOut()); may be empty
    std::string software;
    /// seconds
    double elapsed = 0;

    /// The plan of a row as it was looked at: where `data: auto` was the most replicas of another plan than one's own,
    /// their number is stated.
    [[nodiscard]] PlanPtr plan(std::size_t row) const;
};

/// What a caller is told after each round, on the thread that called search().
struct SearchProgress {
    /// total: 0 where it is not known yet
    std::uint64_t looked = 0, total = 0, simulated = 0;
    /// new ones since the last call
    std::span<const SearchRow> rows;
    std::optional<SearchRow> best;
    /// of the rows' numbers; null where it is not known yet
    std::shared_ptr<const SearchSpace> space;
};

/// Errors: of the plan, as run(); constraints that contradict each other; a fixed key that is not one.
[[nodiscard]] ExpectedAll<SearchResult> search(const PlanPtr &plan, const Catalogue &catalogue,
    const SearchOptions &options, std::stop_token stop = {},
    const std::function<void(const SearchProgress &)> &onProgress = {});

} // namespace trainyard

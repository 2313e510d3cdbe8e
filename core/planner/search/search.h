#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The planner: of all candidates of a space the best by an objective within constraints. Bounds prune (score/), the
// engine decides (run()); a plan that evaluate() calls infeasible is never the answer, and the plan asked
// about is the first candidate, so no answer is worse than it where it keeps the constraints. A search that is not
// stopped looks at its candidates in rounds of a fixed size, each round on all threads, and takes ties by candidate
// number: the answer is the same on every machine and with any number of threads, and it is the best of the space,
// because everything else was simulated or is outdone by its bound. Of a space that is too large to be looked at whole
// a seeded part is: `isComplete` says which.
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
    Throughput, // most tokens per second
    Cost, // fewest USD per million tokens, of the GPUs that are used, egress included
    Energy, // fewest joules per token, of the GPUs that are used
    Time, // fewest days for all training tokens
    Gpus, // fewest GPUs, of those the fastest
};
[[nodiscard]] const char *toString(Objective objective); // as the command line names them

struct Constraints {
    std::optional<double> mostUsdPerHour; // of the GPUs that are used, egress included
    std::optional<double> mostUsdPerMillionTokens; // likewise: what an iteration may cost
    std::optional<int> mostGpus;
    std::optional<double> leastTokensPerSecond;
    std::optional<double> mostDays; // for workload.training_tokens
    /// Share of each GPU's memory that stays free. Absent: 5 %, or what the plan itself leaves where that is less.
    std::optional<double> memoryMargin;
    std::vector<std::string> datacenters; // ids of those that may be used; empty: all
};

struct SearchOptions {
    Objective objective = Objective::Throughput;
    Constraints constraints;
    std::vector<std::string> fixed; // keys that stay (SpaceOptions)
    std::vector<Scenario> scenarios; // beside the plan's own world; empty: that alone
    Robustness robustness = Robustness::WorstCase; // where there are scenarios
    std::optional<double> seconds; // stop then and keep the best
    std::uint64_t seed = 1;
    std::size_t top = 10; // of the best that are told
    std::size_t threads = 0; // 0: as many as the processor has cores
    /// What may be simulated, counted in tasks of iterations, so that a search ends alike on every machine. Where
    /// `seconds` are given they decide instead.
    std::int64_t mostTasks = 120'000'000;
    std::uint64_t mostEnumerated = 1'000'000; // candidates that go together: a larger space is looked at in part
    std::size_t mostRows = 20'000; // kept for whoever draws them
    bool mayTrainOtherwise = false;
};

enum class RowState : std::uint8_t { Refused, Outdone, Infeasible, OutOfConstraint, Feasible };

/// A candidate that was looked at.
struct SearchRow {
    std::uint64_t number = 0; // in the space
    RowState state = RowState::Outdone;
    std::string reason; // why it is out, one sentence; empty of what is feasible
    std::string shortfall; // of a constraint that it misses, with numbers: "needs 444 days, allowed 1"
    double missedBy = 0; // as a share of what is allowed, of the constraint that it misses most; 0: none, or not known
    double seconds = 0; // an iteration: simulated where feasible or exact, else the least that it may take, or 0
    double usdPerMillionTokens = 0, usdPerHour = 0, joulesPerToken = 0, tokensPerSecond = 0; // where simulated
    /// The same with every GPU of the cluster paid for, idle ones too, as `evaluate` counts; 0: not known.
    double clusterUsdPerMillionTokens = 0, clusterUsdPerHour = 0;
    double fill = 0; // of the fullest GPU
    int gpus = 0;
    double value = 0; // of the objective, smaller is better; over the scenarios
    bool isOnFront = false; // of time against money (search_front.h)
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
    bool isRule = false; // of combinations that do not go together: none of those that were looked at
    std::vector<PruneCount> details; // of several that are told as one: each, most first
};

struct SearchResult {
    std::shared_ptr<const SearchSpace> space;
    std::shared_ptr<const SearchOptions> asked; // what was asked for
    Objective objective = Objective::Throughput;
    bool isComplete = false; // every candidate was simulated or is outdone by its bound
    bool isStopped = false; // by the token or the clock
    std::uint64_t looked = 0, scored = 0;
    std::uint64_t simulated = 0; // candidates whose iteration the engine timed, alone or eight at a time
    std::uint64_t wholly = 0; // of these, through run(): with all their figures
    /// Of a space that goes together to be looked at whole: candidates that may be better and were not simulated. 0:
    /// none, or not known, as where it was stopped before all of them were listed.
    std::uint64_t left = 0;
    std::vector<SearchRow> rows; // the plan's own first, then as they were looked at
    std::vector<std::size_t> best; // rows, best first; empty: nothing feasible within the constraints
    std::vector<PruneCount> pruned; // most first
    std::optional<std::size_t> own; // the plan's own row
    std::optional<std::size_t> nearest; // where none is feasible: of what was simulated, the row that misses least
    std::vector<std::string> scenarios; // their names, as the options have them
    Robustness robustness = Robustness::WorstCase;
    std::string summary; // "8.2 % faster than your plan; proven best of 12,400 combinations, 212 simulated"
    double elapsed = 0; // seconds

    [[nodiscard]] PlanPtr plan(std::size_t row) const { return space->plan(space->candidate(rows[row].number)); }
};

/// What a caller is told after each round, on the thread that called search().
struct SearchProgress {
    std::uint64_t looked = 0, total = 0, simulated = 0; // total: 0 where it is not known yet
    std::span<const SearchRow> rows; // new ones since the last call
    std::optional<SearchRow> best;
    std::shared_ptr<const SearchSpace> space; // of the rows' numbers; null where it is not known yet
};

/// Errors: of the plan, as run(); constraints that contradict each other; a fixed key that is not one.
[[nodiscard]] ExpectedAll<SearchResult> search(const PlanPtr &plan, const Catalogue &catalogue,
    const SearchOptions &options, std::stop_token stop = {},
    const std::function<void(const SearchProgress &)> &onProgress = {});

} // namespace trainyard

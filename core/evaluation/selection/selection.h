#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which datacenters to train in. Wider than Algorithm 1 of Atlas (arXiv 2411.14458): for each data-parallel degree, and
// across the WAN each number of whole DP-cells where the plan gives their size, every order of linked datacenters and
// every number of stages in each, by the search that also places a plan. Bounds say what no simulation can better; the
// closed form (estimate.h) says what to simulate first, and what is shown is the simulated value. Whole pipelines in
// each datacenter stand beside them for comparison. Call it from any one thread; docs/model.md, "Datacenter selection".
//
//   const auto selection = selectDatacenters(plan, builtinCatalogue(), workspace, stop, {.objective =
//   SelectionObjective::Cost});

#include "core/engine/schedule/closed_forms.h"
#include "core/evaluation/evaluate/run.h"

#include <string>
#include <vector>

namespace trainyard {

enum class SelectionObjective : std::uint8_t { Throughput, Cost };

struct SelectionOptions {
    SelectionObjective objective = SelectionObjective::Throughput;
    /// pipelines of a DP-cell; auto: the plan's, else as cells come about
    Auto<int> cell;
    /// of a pipeline, as in Algorithm 1; auto: the global batch stays and gives them
    Auto<int> microBatches;
    /// options, the present plan apart
    int mostSimulated = 48;
    /// of all simulations together
    std::int64_t mostTasks = 3'000'000;
};

struct LeftOut {
    int datacenter = 0;
    /// "Oregon's 32 GPUs hold no stage of 4 cells: a stage needs 64"
    std::string reason;
};

struct SelectionOption {
    /// in pipeline order; empty: whole pipelines in several datacenters
    std::vector<DatacenterBlock> blocks;
    /// data-parallel degree = cells · cell
    int cells = 0, cell = 1;
    /// of the fullest pipeline
    int microBatches = 0;
    /// pins the blocks; the present plan itself where isCurrent
    PlanPtr plan;
    /// for undo
    std::string sentence;
    /// of an iteration: bounds that no simulation goes below
    double leastSeconds = 0, leastUsd = 0;
    /// closed form
    double screenedSeconds = 0;
    /// what a micro-batch more waits for, closed form
    Bound bound = Bound::Compute;
    /// the rest is simulated; else from the closed form
    bool isSimulated = false;
    double seconds = 0, sequencesPerSecond = 0;
    int gpusUsed = 0;
    // GPUs that the option uses, and egress: what the search weighs. GPUs that stay idle are not paid for.
    double usdPerIteration = 0, egressUsdPerIteration = 0, usdPerMillionTokens = 0;
    /// The price of `plan` as evaluate tells it, GPUs that stay idle too: what is shown. 0: not simulated.
    double usdWritten = 0;
    /// idle GPUs that `plan` has no longer (given_back.h)
    int givenBack = 0;
    /// of the simulated iteration
    std::optional<Breakdown> breakdown;
    /// of an iteration, both directions
    double wanBytes = 0;
    bool isFeasible = true;
    std::string infeasibleBecause;
    /// how the plan is placed now
    bool isCurrent = false;
    /// no other option is both faster and cheaper
    bool isOnFront = false;
    std::vector<LeftOut> leftOut;

    [[nodiscard]] int data() const { return cells * cell; }
    [[nodiscard]] double egressUsdPerMillionTokens() const
    {
        return usdPerIteration > 0 ? egressUsdPerIteration / usdPerIteration * usdPerMillionTokens : 0;
    }
};

struct Selection {
    /// what was asked about
    PlanPtr plan;
    SelectionObjective objective = SelectionObjective::Throughput;
    /// simulated ones, feasible first, best first
    std::vector<SelectionOption> options;
    /// placements whose bounds were counted
    int looked = 0;
    /// of those in closed form, at least those that were simulated
    int screened = 0;
    /// of those; options that hardly differ from a better one are not listed
    int simulated = 0;
    /// across the WAN only whole cells of so many were looked at; 0: every number of replicas
    int askedCell = 0;
    /// whatever was not simulated is outdone in time and in cost at once by an option that was
    bool isProven = false;
    /// indices of options
    int bestThroughput = -1, bestCost = -1, current = -1;
    /// "Adding Oregon does not help: …"
    std::vector<std::string> remarks;
    /// why there is no choice; empty where there is
    std::string nothingToSelect;
};

/// Errors: as evaluate(), Cancelled. A plan that cannot be placed as it is may still have options.
[[nodiscard]] ExpectedAll<Selection> selectDatacenters(const PlanPtr &plan, const Catalogue &catalogue,
    EvaluationWorkspace &workspace, std::stop_token stop = {}, SelectionOptions options = {});

/// "Virginia ×6 → Ohio ×3", or "whole pipelines in each datacenter".
[[nodiscard]] std::string blocksText(const std::vector<DatacenterBlock> &blocks, const Cluster &cluster);

} // namespace trainyard

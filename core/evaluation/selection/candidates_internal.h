#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Inside of selection: all placements of each degree, what each would cost, and why a datacenter gets no stage. Each
// function is pure; the workload is the one that the selection resolved once.

#include "core/evaluation/selection/selection.h"
#include "core/iteration/placement/location_book.h"

#include <algorithm>
#include <optional>

namespace trainyard::selecting {

/// Whether any of its stages lies in the datacenter.
[[nodiscard]] inline bool uses(const SelectionOption &option, int datacenter)
{
    return std::ranges::find(option.blocks, datacenter, &DatacenterBlock::datacenter) != option.blocks.end();
}

/// Pipelines of a DP-cell, where these options or the plan say how many: then only whole cells go across the WAN.
[[nodiscard]] std::optional<int> askedCell(const Requested &asked, const SelectionOptions &options);

/// A sequence takes no less, of placements that were not kept.
struct LeftBound {
    double seconds = 0, usd = 0;
};

struct Candidates {
    /// each with its bounds
    std::vector<SelectionOption> options;
    /// of everything else
    std::vector<LeftBound> rest;
    /// whose bounds were counted
    int looked = 0;
};

/// Every data-parallel degree, in one datacenter and, in whole cells, across; the placements of each that have the
/// least bounds in time and in cost. Stopped, those of the degrees so far.
[[nodiscard]] Candidates candidates(
    const Requested &asked, const Catalogue &catalogue, const SelectionOptions &options, const std::stop_token &stop);

/// What is worth simulating next, given what has been: nothing where whatever is left is outdone, in time and cost at
/// once, by what was simulated. First the best of the closed form by either measure and with each datacenter, then the
/// objective's order and the other one's in turns.
[[nodiscard]] std::optional<std::size_t> nextToSimulate(
    const std::vector<SelectionOption> &options, std::size_t datacenters, SelectionObjective objective);

/// Whether nothing that was not simulated, nor any of `rest`, can beat what was in time or in cost.
[[nodiscard]] bool isProven(const std::vector<SelectionOption> &options, const std::vector<LeftBound> &rest);

/// Rental of the GPUs that a layout uses, USD an hour; hardware without a price pays for its power at this utilization.
[[nodiscard]] double usdPerHour(const Requested &asked, const Layout &layout, double utilization);

/// Datacenters without a stage, each with the reason in words.
[[nodiscard]] std::vector<LeftOut> leftOut(const Requested &asked, const SelectionOption &option);

/// Marks the Pareto front, sorts, finds the best, and writes the remarks.
void rank(Selection &selection, const Requested &asked, int cell);

} // namespace trainyard::selecting

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Inside of selection: the loop of Algorithm 1, what each candidate would cost, and why a datacenter gets no stage. Each
// function is pure; the workload is the one that the selection resolved once.

#include "core/placement/seating.h"
#include "core/selection/selection.h"

namespace trainyard::selecting {

/// Up to so many datacenters every order is tried, because neighbours in the pipeline need a link; beyond, they are taken
/// by GPUs and by price.
inline constexpr std::size_t kMostForAllOrders = 6;

/// Pipelines of a DP-cell for these options: see SelectionOptions::cell.
[[nodiscard]] int cellFor(const Workload &workload, const SelectionOptions &options);

/// Every feasible number of cells with every set of datacenters that can hold them, in its best order.
[[nodiscard]] std::vector<SelectionOption> candidates(const Workload &workload, int cell, const SelectionOptions &options);

/// Indices of screened options, best first, by the closed form.
struct Orders { std::vector<std::size_t> fast, cheap; };
[[nodiscard]] Orders ordersOf(const std::vector<SelectionOption> &screened);

/// The best by either objective, the best with each datacenter, and by the objective whatever may be on the front.
[[nodiscard]] std::vector<std::size_t> worthSimulating(const std::vector<SelectionOption> &screened, std::size_t datacenters,
                                                       const SelectionOptions &options);

/// Rental of the GPUs that a layout uses, USD an hour; hardware without a price pays for its power at this utilization.
[[nodiscard]] double usdPerHour(const Workload &workload, const Layout &layout, double utilization);
/// Mean price of a GPU-hour in a datacenter.
[[nodiscard]] double gpuPrice(const Workload &workload, int datacenter);

/// Datacenters without a stage, each with the reason in words.
[[nodiscard]] std::vector<LeftOut> leftOut(const Workload &workload, const SelectionOption &option);

/// Marks the Pareto front, sorts, finds the best, and writes the remarks.
void rank(Selection &selection, const Workload &workload, int cell);

} // namespace trainyard::selecting

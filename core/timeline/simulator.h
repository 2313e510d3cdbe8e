#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The one engine. A graph of fixed-order resources without binding shared links takes a single pass over `order`
// (start = max(previous on the resource, predecessors + lag)): no queue, no allocation. Where links are shared or
// priorities decide, an event loop with max-min fair rates runs instead; both give the same spans where both apply.
// Events at one instant: completions, choices of the freed, arrivals, choices. Results are exact and repeatable.

#include "core/base/error.h"
#include "core/timeline/task_graph.h"

#include <stop_token>

namespace trainyard {

/// Buffers kept between simulations so that a drag step allocates nothing. One a thread.
struct SimulationWorkspace {
    std::vector<Nanoseconds> finish, ready;
    std::vector<std::uint32_t> heap, pending;
    std::vector<double> rate, remaining;
};

/// Runs the graph. Errors: Cancelled; Internal where the graph cannot make progress (a cycle), naming the tasks.
[[nodiscard]] Expected<Timeline> simulate(const TaskGraph &graph, SimulationWorkspace &workspace, std::stop_token stop = {});

/// Max-min fair rates of flows (progressive filling): each flow i gets at most cap[i] and no link carries more than its
/// capacity; weight[i] equal flows are meant by flow i, and the rate returned is that of one of them.
/// Flow i crosses links linkIndex[linkBegin[i] .. linkBegin[i+1]). Units: any, the same everywhere.
void maxMinFairRates(const std::vector<double> &linkCapacity, const std::vector<double> &cap,
                     const std::vector<double> &weight, const std::vector<std::uint32_t> &linkBegin,
                     const std::vector<std::uint32_t> &linkIndex, std::vector<double> &rate);

} // namespace trainyard

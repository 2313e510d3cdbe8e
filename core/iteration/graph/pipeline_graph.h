#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The task graph of one training iteration from a program and the costs of its operations: classes of equal pipelines
// side by side, boundaries as lags (inside a datacenter) or as transfers on WAN channels, and gradient sync and step
// (gradient reduction, optimizer, parameter gather). All times in nanoseconds. Each part is a contributor of its own
// (contributors.h).

#include "core/engine/timeline/task_graph.h"
#include "core/iteration/memory/op_memory.h"
#include "core/iteration/times/pipeline_costs.h"

#include <memory>
#include <span>

namespace trainyard {

struct ClassTasks;
class GraphCache;
class Contributor;
/// Makes the part of a further system in the graph of one class of pipelines, after the parts that every iteration has.
using PartOf = std::unique_ptr<Contributor> (*)(ClassTasks &tasks);

/// Errors: Internal where the program deadlocks (an order whose dependencies cannot be met), naming the operation.
[[nodiscard]] Expected<TaskGraph> buildPipelineGraph(const IterationCosts &costs, std::span<const PartOf> more = {});

/// One of the cache made to fit the costs by rewriting its classes only: durations, lags, flows, bytes, memory. A new
/// one where the cache has none of the shape: of all that shape() of a contributor names.
[[nodiscard]] Expected<TaskGraph> pipelineGraph(
    const IterationCosts &costs, GraphCache &cache, std::span<const PartOf> more = {});

/// Where devices chose their order while they ran (OrderRule::WorkConserving), writes into the programs the order that
/// they took, so that memory and recomputation are counted as they happened.
void recordExecutedOrder(IterationCosts &costs, const Timeline &timeline);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a cache makes of a graph when new costs come.

#include "core/engine/timeline/graph_cache.h"
#include "core/iteration/graph/pipeline_graph.h"

namespace trainyard::test {

/// The graph with the numbers of `costs`; nothing where their shape is another, so that one was built anew.
[[nodiscard]] inline std::optional<TaskGraph> rewritten(
    TaskGraph graph, const IterationCosts &costs, std::span<const PartOf> more = {})
{
    GraphCache cache;
    const std::uint64_t shape = graph.fingerprint;
    cache.giveBack(std::move(graph));
    auto found = pipelineGraph(costs, cache, more);
    return found && !cache.take(shape) ? std::optional(*std::move(found)) : std::nullopt;
}

} // namespace trainyard::test

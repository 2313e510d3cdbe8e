#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a workspace keeps between calls: the simulator's buffers, and one topology for each placement that is compared,
// because a drag changes durations far more often than shapes.

#include "core/evaluate/run.h"
#include "core/timeline/graph_cache.h"
#include "core/timeline/simulator.h"

namespace trainyard {

struct EvaluationWorkspace::State {
    SimulationWorkspace simulation;
    std::shared_ptr<GraphCache> graphs;
};

} // namespace trainyard

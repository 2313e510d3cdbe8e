#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The tasks of an expert layer and of a pair, and what they wait for (layer.h says the rules). For the files of layer.h
// alone.

#include "core/engine/timeline/task_graph.h"
#include "core/systems/experts/layer.h"

namespace trainyard {

/// What a task is to whoever looks. A leg's piece is two tasks where bytes do not move from its beginning: what comes
/// first takes its link, but nothing of the link's bandwidth.
struct LayerTask {
    LayerTrack track;
    LayerStep step = LayerStep::Router;
    int piece = 0;
    bool isBackward = false;
    /// the next task is the rest of it
    bool isStart = false;
    /// what the task before moved is on its way, and takes no link
    bool isLag = false;
    /// of a task that moves: how long its lag is
    Nanoseconds lag = 0;
    /// as in LayerSpan; of a piece in two tasks the second knows
    double bytes = 0, nvlinkToo = 0, alone = 0;
};

struct LayerGraph {
    /// each task's micro-batch is its index in `tasks`
    TaskGraph graph;
    std::vector<LayerTask> tasks;
    int ranks = 1;
};

[[nodiscard]] LayerGraph layerGraph(const LayerWork &work);
/// The four phases.
[[nodiscard]] LayerGraph pairGraph(const PairWork &work);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the graph builder needs to know of accumulation layer by layer (Cephalo, arXiv 2411.01075): what ranks exchange
// of each layer once a pass, and what enters a layer and waits in host memory for the backward pass. Plain values;
// core/iteration/iteration_costs makes them.

#include "core/base/units.h"

#include <vector>

namespace trainyard {

struct LayerLoopTimes { // of one class of pipelines, of one stage each; empty where micro-batches go one by one
    /// [layer]; every class joins in them, and each takes as long for all
    std::vector<Nanoseconds> gather, reduce;
    /// the next layer is gathered while one computes
    bool prefetches = true;
    /// of one micro-batch's boundary, or its gradient; both 0: it stays
    Nanoseconds store = 0, load = 0;
    double boundaryBytes = 0;
    /// of those times and bytes, for an input that is kept in fewer bits than its gradient has
    double inputShare = 1;
    [[nodiscard]] bool isEmpty() const { return gather.empty(); }
    [[nodiscard]] bool movesBoundaries() const { return store > 0 && load > 0; }
};

} // namespace trainyard

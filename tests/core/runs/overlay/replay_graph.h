#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The task graph of an iteration spread out over the replicas that it stands for: each task once for every pipeline of
// its class, reductions and gathers of a stage once for all that take part in them.

#include "core/engine/timeline/task_graph.h"
#include "core/evaluation/evaluate/evaluation.h"

#include <vector>

namespace trainyard::test {

struct ReplayWait {
    std::uint32_t unit = 0, member = 0;
    double lag = 0; // ns
    bool isFromStart = false;
    bool isFromAfar = false; // its result comes from another stage
    bool isOrder = false; // it is only the one before on its row
};

struct ReplayMember { // a stage of a replica that takes part
    int replica = 0, stage = 0;
    std::vector<ReplayWait> waits;
};

struct ReplayUnit {
    std::uint32_t task = 0;
    WorkKind kind = WorkKind::Forward;
    std::vector<ReplayMember> members; // several of collectives
    std::uint32_t resource = kNoSpan; // whoever comes first is served first; kNoSpan: its order is among the waits
    std::vector<std::uint32_t> followers;
    int waitsFor = 0;
};

struct ReplayGraph {
    TaskGraph graph;
    std::vector<ReplayUnit> units;
    std::uint32_t resources = 0;
};

/// Between the GPU and its host.
[[nodiscard]] constexpr bool isCopy(WorkKind kind)
{
    return kind == WorkKind::OffloadStore || kind == WorkKind::OffloadLoad || kind == WorkKind::GradientsToHost
        || kind == WorkKind::StatesToHost || kind == WorkKind::StatesToGpu || kind == WorkKind::WeightsToGpu;
}

[[nodiscard]] ReplayGraph replayGraph(const Evaluation &evaluation);

} // namespace trainyard::test

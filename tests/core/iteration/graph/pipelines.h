#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Verbs for tests of the engine: a pipeline of equal stages in one line, and what to ask of its timeline.

#include "core/iteration/graph/pipeline_graph.h"
#include "tests/core/engine/timeline/tasks.h"

#include <QTest>

#include <algorithm>
#include <random>

namespace pipelines {

using namespace trainyard;

using tasks::run;

inline constexpr Nanoseconds kSecond = 1'000'000'000;

struct Times {
    Nanoseconds forward = 1, backward = 2, boundary = 0;
}; // half of a backward is for the weights

inline Program program(ScheduleKind kind, int devices, int microBatches, int chunks = 1)
{
    auto made = makeProgram(kind, { devices, microBatches, chunks, {} });
    if (!made)
        qFatal("%s", toString(made.error()).c_str());
    return std::move(*made);
}

/// Every stage and boundary alike; no gradient sync, no step.
inline IterationCosts even(Program order, Times times)
{
    PipelineCosts pipeline;
    const auto stages = static_cast<std::size_t>(order.virtualStages());
    pipeline.ops.assign(stages,
        { .forward = times.forward,
            .backward = times.backward,
            .inputGrad = times.backward - times.backward / 2,
            .weightGrad = times.backward / 2 });
    if (std::ranges::any_of(order.order.front(), [](const Op &op) { return op.kind == OpKind::PairedForward; }))
        pipeline.pairs.assign(stages * static_cast<std::size_t>(order.shape.chunks), times.forward + times.backward);
    BoundaryTimes boundary;
    boundary.serialization[0] = boundary.serialization[1] = times.boundary;
    pipeline.boundaries.assign(stages - 1, boundary);
    pipeline.syncAndStep.resize(static_cast<std::size_t>(order.shape.devices));
    pipeline.program = std::move(order);
    IterationCosts costs;
    costs.classes.push_back(std::move(pipeline));
    return costs;
}

/// Makes boundary q a WAN channel.
inline BoundaryTimes &wan(PipelineCosts &pipeline, int q, Nanoseconds serialization, Nanoseconds latency)
{
    BoundaryTimes &boundary = pipeline.boundaries[static_cast<std::size_t>(q)];
    boundary.isWan = true;
    boundary.wanLink = 0;
    for (int direction = 0; direction < 2; ++direction) {
        boundary.serialization[direction] = serialization;
        boundary.latency[direction] = latency;
    }
    return boundary;
}

inline TaskGraph graph(const IterationCosts &costs)
{
    auto built = buildPipelineGraph(costs);
    if (!built)
        qFatal("%s", toString(built.error()).c_str());
    return std::move(*built);
}

inline Timeline run(const IterationCosts &costs)
{
    return run(graph(costs));
}

inline Nanoseconds busy(const Timeline &timeline, const Track &track)
{
    Nanoseconds sum = 0;
    for (std::uint32_t span = track.first; span < track.last; ++span)
        sum += timeline.end[span] - timeline.start[span];
    return sum;
}

} // namespace pipelines

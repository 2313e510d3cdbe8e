#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The set-up of SSDTrain's measurements as a direct input of the engine: BERT-like layers on a tensor pair, without
// embedding and head, at 60 % of an A100 at 765 MHz. Independent of plans and cost model.

#include "core/engine/timeline/simulator.h"
#include "core/iteration/graph/pipeline_graph.h"
#include "core/iteration/memory/live_memory.h"
#include "core/iteration/offload/amount.h"
#include "tests/core/iteration/offload/curves.h"

#include <QTest>

#include <cmath>
#include <cstring>

namespace offload {

using namespace trainyard;

struct Case {
    double hidden = 8192, layers = 4, microBatch = 4;
    double writeRate = 20e9, readRate = 20e9;
    int microBatches = 1;
    int ahead = 1;
    bool offloads = true;
};

inline std::vector<AmountModule> modules(const Case &c)
{
    const double s = 1024, b = c.microBatch, h = c.hidden, rate = 0.6 * 312e12 * 765 / 1410;
    std::vector<AmountModule> list;
    for (int layer = 0; layer < int(c.layers); ++layer) { // bytes: 22 sbh a layer, two norms and dropout masks included
        list.push_back({ 9 * s * b * h, (8 * b * s * h * h + 4 * b * s * s * h) / 2 / rate, layer });
        list.push_back({ 13 * s * b * h, 16 * b * s * h * h / 2 / rate, layer });
    }
    return list;
}

struct Run {
    Timeline timeline;
    LiveOverTime live;
    double offered = 0; // bytes chosen to leave, of all micro-batches
    double lastModule = 0; // of them, those of the last module of the model
    [[nodiscard]] double step() const { return toSeconds(timeline.duration).value; }
};

inline IterationCosts costsOf(const Case &c, std::size_t firstKept, StageOffload &bytes)
{
    IterationCosts costs;
    PipelineCosts &pipeline = costs.classes.emplace_back();
    pipeline.program = *makeProgram(ScheduleKind::OneFOneB, { 1, c.microBatches, 1, {} });
    pipeline.syncAndStep.resize(1);
    OpTimes &op = pipeline.ops.emplace_back();
    std::vector<OffloadSegment> segments;
    auto &kept = bytes.chunks.emplace_back();
    const std::vector<AmountModule> list = modules(c);
    for (std::size_t i = 0; i < list.size(); ++i) {
        const bool leaves = i < firstKept;
        const auto time = [&](double rate) {
            return leaves ? std::max<Nanoseconds>(1, toNanoseconds(Seconds { list[i].bytes / rate })) : 0;
        };
        segments.push_back({ toNanoseconds(Seconds { list[i].forward }), 0,
            2 * toNanoseconds(Seconds { list[i].forward }), time(c.writeRate), time(c.readRate), i + 1 == list.size(),
            list[i].layer, -1, leaves ? list[i].bytes : 0 });
        kept.push_back({ leaves ? list[i].bytes : 0, leaves ? 0 : list[i].bytes, false, true, false });
        op.forward += segments.back().forward;
        op.backward += segments.back().backward;
    }
    op.inputGrad = op.backward;
    pipeline.offload = { { segments }, { OffloadPath { c.writeRate, c.readRate, 1, {}, {} } }, { c.ahead } };
    ChunkMemory chunk;
    for (const SegmentBytes &segment : kept)
        chunk.kept += segment.offloaded + segment.resident;
    chunk.whole = chunk.kept;
    pipeline.memory = { std::make_shared<const OpMemory>(std::vector { chunk }, &bytes, OpMemory::Program {}) };
    return costs;
}

inline Run run(const TaskGraph &graph, const StageOffload &bytes, const Case &c)
{
    Run result;
    SimulationWorkspace workspace;
    auto timeline = simulate(graph, workspace);
    if (!timeline)
        qFatal("%s", toString(timeline.error()).c_str());
    result.timeline = std::move(*timeline);
    for (const SegmentBytes &segment : bytes.chunks.front())
        result.offered += segment.offloaded * c.microBatches;
    result.lastModule = bytes.chunks.front().back().offloaded;
    result.live = liveOverTime(result.timeline, 0, 0, true, true);
    return result;
}

inline TaskGraph graphOf(const Case &c, std::size_t firstKept, StageOffload &bytes)
{
    auto graph = buildPipelineGraph(costsOf(c, firstKept, bytes));
    if (!graph)
        qFatal("%s", toString(graph.error()).c_str());
    return std::move(*graph);
}

inline std::size_t firstKept(const Case &c)
{
    return c.offloads ? firstModuleKept(modules(c), { c.writeRate, c.readRate, 2, false }) : 0;
}

inline Run run(const Case &c)
{
    StageOffload bytes;
    const TaskGraph graph = graphOf(c, firstKept(c), bytes);
    return run(graph, bytes, c);
}

inline bool isNear(double a, double b, double tolerance)
{
    return std::abs(a - b) <= tolerance;
}

} // namespace offload

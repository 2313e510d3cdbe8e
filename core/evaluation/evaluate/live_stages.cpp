// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/live_stages.h"

#include "core/iteration/memory/stage_memory.h"
#include "core/iteration/placement/class_workload.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace trainyard {

LiveMemory liveMemory(const Costs &costs, const Timeline *timeline, bool wantsCurves)
{
    LiveMemory result;
    const std::vector<PipelineCosts> &classes = costs.iteration.classes;
    result.leaves = costs.movesActivations();
    if (result.leaves && !timeline)
        return result;
    for (std::size_t c = 0; c < classes.size() && !classes[c].memory.empty(); ++c) {
        const PipelineCosts &pipelines = classes[c];
        if (c > 0 && !result.leaves && pipelines.program == classes.front().program
            && pipelines.memory == classes.front().memory) {
            result.of.push_back(result.of.front());
            continue;
        }
        // Opportunistic forwards are counted in the order in which they hold most.
        const bool fromSpans = timeline && (result.leaves || pipelines.program.rule != OrderRule::OpportunisticForward);
        auto &stages = result.of.emplace_back();
        for (std::size_t stage = 0; stage < pipelines.memory.size(); ++stage) {
            const bool isCurve = wantsCurves && timeline && c == 0;
            LiveOverTime curve;
            if (isCurve)
                curve = liveOverTime(*timeline, 0, int(stage), result.leaves, true);
            if (fromSpans && isCurve) {
                stages.push_back(curve.withoutCurves());
            } else {
                stages.push_back(fromSpans ? liveOverTime(*timeline, int(c), int(stage), result.leaves, false)
                                           : liveInOrder(pipelines.program, int(stage), *pipelines.memory[stage],
                                               costs.iteration.isRecomputing));
            }
            if (isCurve)
                result.curves.push_back(std::move(curve));
        }
    }
    return result;
}

std::vector<StageMemory> stageMemory(
    const Workload &workload, const Costs &costs, LiveMemory &live, const Timeline *timeline)
{
    std::vector<StageMemory> stages;
    ClassWorkloads views(workload);
    for (int stage = 0; stage < workload.degrees.pipeline && workload.source.hasMemory; ++stage) {
        const auto at = std::size_t(stage);
        std::optional<StageMemory> fullest;
        double mostOffloaded = 0;
        live.held.emplace_back(workload.layout.classes.size());
        for (const std::vector<LiveOverTime> &ofClass : live.of)
            mostOffloaded = std::max(mostOffloaded, ofClass[at].mostOffloaded);
        for (const PipelineClass *kind : unlikeClasses(workload, stage)) {
            const auto isLike = [&](std::size_t c) {
                return areAlike(workload, *kind, workload.layout.classes[c], stage);
            };
            std::size_t most = 0; // of the classes that have such ranks there, the one that holds most
            bool isFirst = true;
            for (std::size_t c = 0; c < live.of.size(); ++c)
                if (isLike(c) && (std::exchange(isFirst, false) || live.of[c][at].peak > live.of[most][at].peak))
                    most = c;
            const PipelineCosts &pipelines = costs.iteration.classes[most];
            const OpMemory &memoryOfOps = *pipelines.memory[at];
            LiveBytes parts;
            if (!live.of.empty())
                parts = live.of[most][at].isFromSpans
                    ? fullestMoment(live.of[most][at], *timeline, int(most), stage, memoryOfOps)
                    : fullestMoment(
                        live.of[most][at], pipelines.program, stage, memoryOfOps, costs.iteration.isRecomputing);
            StageMemory memory =
                stageMemory(views.of(*kind, stage), rankSet(workload, *kind, stage), parts, memoryOfOps.chunks());
            if (!fullest && !live.curves.empty()) { // the first set is the first class's
                double peak = live.curves[at].peak;
                for (std::size_t c = 1; c < live.of.size(); ++c)
                    if (isLike(c))
                        peak = std::max(peak, live.of[c][at].peak);
                live.base.push_back(memory.device - wholeBytes(peak));
            }
            for (std::size_t c = 0; c < live.held[at].size(); ++c)
                if (isLike(c))
                    live.held[at][c] = { memory.peak, memory.device, memory.capacity };
            const auto fill = [](const StageMemory &m) {
                return double(m.device) / double(std::max<std::int64_t>(1, m.capacity));
            };
            if (!fullest || fill(memory) > fill(*fullest))
                fullest = std::move(memory);
        }
        fullest->activationsOffloaded = wholeBytes(mostOffloaded);
        fullest->offloaded += fullest->activationsOffloaded; // beside states that lie elsewhere
        stages.push_back(std::move(*fullest));
    }
    return stages;
}

MemoryCurves memoryCurves(LiveMemory live, const Timeline &timeline)
{
    MemoryCurves curves;
    for (std::size_t stage = 0; stage < live.base.size(); ++stage) {
        LiveOverTime &curve = live.curves[stage];
        if (!live.leaves)
            curve.gpu.push_back({ timeline.duration, curve.gpu.back().bytes });
        for (auto *steps : { &curve.gpu, &curve.whole })
            for (MemoryStep &step : *steps)
                step.bytes += live.base[stage];
        curves.with.push_back(std::move(curve.gpu));
        if (live.leaves)
            curves.kept.push_back(std::move(curve.whole));
    }
    return curves;
}

} // namespace trainyard

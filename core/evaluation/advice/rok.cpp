// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/rok.h"

#include "core/evaluation/evaluate/comparable.h"
#include "core/iteration/memory/off_gpu.h"
#include "core/iteration/memory/stage_memory.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>
#include <array>
#include <set>

namespace trainyard {

namespace {

constexpr int kLargestMicroBatch = 128;
constexpr std::array kNames { "recompute", "offload", "keep" };
constexpr std::array kSentences { "Recompute", "Offload activations", "Keep activations" };

void withoutFullRecompute(MemoryStrategy &memory)
{
    if (memory.recompute != Recompute::Full)
        return;
    memory.recompute = Recompute::None;
    memory.recomputeLayers.reset();
}

MemoryStrategy treatedAs(ActivationWay way, const Plan &plan)
{
    MemoryStrategy memory = plan.memory;
    switch (way) {
    case ActivationWay::Recompute:
        memory.activationOffload = ActivationOffload::None;
        memory.offloadExpertInput = false;
        if (memory.recompute != Recompute::Full) {
            memory.recompute = Recompute::Full;
            memory.recomputeLayers.reset();
        }
        break;
    case ActivationWay::Offload:
        if (memory.activationOffload != ActivationOffload::None)
            break; // as the plan has it
        memory.activationOffload = allHaveDrives(plan.cluster) ? ActivationOffload::Ssd : ActivationOffload::Host;
        withoutFullRecompute(memory);
        break;
    case ActivationWay::Keep:
        memory.activationOffload = ActivationOffload::None;
        memory.offloadExpertInput = false;
        withoutFullRecompute(memory);
        break;
    }
    return memory;
}

} // namespace

const char *toString(ActivationWay way)
{
    return kNames[std::size_t(way)];
}

std::vector<RokPoint> rokPlans(const PlanPtr &plan, ActivationWay way)
{
    const int batch = plan->workload.globalBatch, now = plan->workload.microBatch;
    std::set<int> sizes { now };
    for (int b = 1; b <= std::min(batch, kLargestMicroBatch); b *= 2)
        if (batch % b == 0)
            sizes.insert(b);
    std::vector<RokPoint> points;
    for (const int size : sizes) {
        Plan next = *plan;
        next.workload.microBatch = size;
        next.memory = treatedAs(way, *plan);
        RokPoint point;
        point.way = way;
        point.microBatch = size;
        point.isCurrent = next == *plan;
        point.plan = point.isCurrent ? plan : std::make_shared<const Plan>(std::move(next));
        point.sentence = kSentences[std::size_t(way)];
        if (size != now)
            point.sentence += ", micro-batch " + std::to_string(now) + " → " + std::to_string(size);
        points.push_back(std::move(point));
    }
    return points;
}

bool readRokPoint(RokPoint &point, const Evaluation &evaluation)
{
    const Metrics &metrics = evaluation.metrics;
    if (!whyNotCompared(evaluation).empty() || !metrics.memory || metrics.memory->perStage.empty()
        || !metrics.modelTflopsPerGpu || !metrics.iterationTime)
        return false;
    for (const StageMemory &stage : metrics.memory->perStage) {
        if (const auto bytes = double(bytesOfMicroBatches(stage)); bytes > point.activationPeak) {
            point.activationPeak = bytes;
            point.kept = double(stage.activations);
        }
        if (stage.stage == metrics.memory->fullestStage) {
            point.device = stage.device;
            point.capacity = stage.capacity;
        }
    }
    point.tflopsPerGpu = *metrics.modelTflopsPerGpu;
    point.iterationTime = *metrics.iterationTime;
    point.stall = metrics.offload ? metrics.offload->stall : 0;
    point.fits = metrics.memory->fits;
    return true;
}

RokCurve rokCurve(
    const PlanPtr &plan, const Catalogue &catalogue, EvaluationWorkspace &workspace, const std::stop_token &stop)
{
    RokCurve curve;
    for (int way = 0; way < kActivationWays; ++way)
        for (RokPoint &point : rokPlans(plan, ActivationWay(way))) {
            const auto evaluation =
                run(point.plan, Depth::Score, { .catalogue = catalogue, .workspace = workspace, .stop = stop });
            if (stop.stop_requested()) {
                curve.isStopped = true;
                return curve;
            }
            if (evaluation && readRokPoint(point, **evaluation)) {
                curve.points.push_back(std::move(point));
                continue;
            }
            std::string why = "the plan has no time or no memory to show";
            if (!evaluation)
                why = toString(evaluation.error().front());
            else if (std::string unknown = whyNotCompared(**evaluation); !unknown.empty())
                why = std::move(unknown);
            else if (const auto &problems = (*evaluation)->problems; !problems.empty())
                why = problems.front().text;
            curve.gaps.push_back({ point.way, point.microBatch, std::move(why) });
        }
    return curve;
}

std::string whyNoRok(const Plan &plan)
{
    if (!stageFacts(plan).hasMemory)
        return "The plan's measured profile says nothing of activations, so there is nothing to recompute or to "
               "offload";
    return {};
}

} // namespace trainyard

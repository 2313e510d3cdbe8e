// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/overlay/curve_predictions.h"

#include "core/overlay/job_stages.h"
#include "core/telemetry/sample_names.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Peak of the GPUs that the rank is one of; empty where the plan has no such rank.
std::optional<double> peakOf(const CurvesAsked &asked, int rank)
{
    if (!asked.map || rank >= asked.map->worldSize())
        return std::nullopt;
    const RankPlace place = asked.map->placeOf(rank);
    const auto &classes = asked.plan->layout.classes;
    for (const DeviceMetrics &device : asked.plan->metrics.devices) {
        const auto c = static_cast<std::size_t>(device.pipelineClass);
        if (device.stage == place.stage && c < classes.size() && place.replica >= classes[c].firstPipeline
            && place.replica < classes[c].firstPipeline + classes[c].pipelines && device.peak > 0)
            return static_cast<double>(device.peak);
    }
    return std::nullopt;
}

} // namespace

std::optional<double> predictedOf(const CurvesAsked &asked, std::string_view name, int rank)
{
    if (!asked.plan)
        return std::nullopt;
    const Metrics &metrics = asked.plan->metrics;
    if (name == samples::kStepTime)
        return metrics.iterationTime;
    if (name == samples::kTflopsPerGpu)
        return metrics.modelTflopsPerGpu;
    if (name == samples::kMfu)
        return metrics.mfu;
    if (name == samples::kTokensPerSecondPerGpu)
        return metrics.tokensPerSecondPerGpu;
    const double batch = asked.plan->plan ? asked.plan->plan->workload.globalBatch : 0;
    if (name == samples::kSamplesPerSecond && metrics.iterationTime && *metrics.iterationTime > 0 && batch > 0)
        return batch / *metrics.iterationTime;
    if (name == samples::kGlobalBatch && batch > 0)
        return batch;
    if (name == samples::kMemoryAllocated && rank >= 0)
        return peakOf(asked, rank);
    if (name == samples::kMemoryAllocated && metrics.memory)
        return static_cast<double>(metrics.memory->peak);
    if (name == curves::kComputeShare && rank < 0 && metrics.breakdown && metrics.breakdown->total() > 0)
        return (metrics.breakdown->compute + metrics.breakdown->optimizer) / metrics.breakdown->total();
    return std::nullopt;
}

StepWork workOf(const CurvesAsked &asked)
{
    StepWork work;
    if (!asked.plan || !asked.plan->plan)
        return work;
    const WorkloadSpec &workload = asked.plan->plan->workload;
    const Metrics &metrics = asked.plan->metrics;
    if (workload.globalBatch <= 0 || metrics.gpusUsed <= 0)
        return work;
    double batch = workload.globalBatch;
    for (const SampleSeries &series : asked.run->recording->series)
        if (series.name == samples::kGlobalBatch && series.rank < 0 && !series.value.empty() && series.value.back() > 0)
            batch = series.value.back();
    const int world = worldSizeOf(*asked.run->recording);
    const double gpus = world > 0 ? world : metrics.gpusUsed;
    work.samples = batch;
    work.tokens = batch * workload.sequenceLength / gpus;
    const double more = batch / workload.globalBatch * metrics.gpusUsed / gpus; // work of a GPU, over the plan's
    const double seconds = metrics.iterationTime.value_or(0);
    work.tflops = metrics.modelTflopsPerGpu.value_or(0) * seconds * more;
    work.mfu = metrics.mfu.value_or(0) * seconds * more;
    return work;
}

} // namespace trainyard

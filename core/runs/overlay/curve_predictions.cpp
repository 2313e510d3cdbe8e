// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/curve_predictions.h"

#include "core/runs/overlay/plan_notes.h"
#include "core/runs/overlay/reported_job.h"
#include "core/runs/telemetry/sample_names.h"

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

double StepWork::samplesOf(std::int64_t step) const
{
    if (!batches)
        return batch;
    const auto after = std::ranges::upper_bound(batches->at, step) - batches->at.begin();
    const double told = batches->value[static_cast<std::size_t>(std::max<std::ptrdiff_t>(after, 1) - 1)];
    return told > 0 ? told : 0;
}

StepWork workOf(const CurvesAsked &asked)
{
    StepWork work;
    const Recording &recording = *asked.run->recording;
    const ReportedJob job = reportedJob(recording);
    for (const SampleSeries &series : recording.series)
        if (series.name == samples::kGlobalBatch && series.isByStep && series.rank < 0 && !series.at.empty()
            && series.at.size() == series.value.size() && (!work.batches || series.at.size() > work.batches->at.size()))
            work.batches = &series;
    work.batch = job.globalBatch.value_or(0);
    double sequence = job.sequenceLength.value_or(0), gpus = job.ranks;
    const bool isPlanned = asked.plan && asked.plan->plan && asked.plan->metrics.gpusUsed > 0
        && asked.plan->plan->workload.globalBatch > 0 && jobNotes(*asked.plan, recording).empty();
    if (isPlanned) {
        const WorkloadSpec &workload = asked.plan->plan->workload;
        const Metrics &metrics = asked.plan->metrics;
        work.isOfPlan = true;
        if (work.batch <= 0)
            work.batch = workload.globalBatch;
        if (sequence <= 0)
            sequence = workload.sequenceLength;
        if (gpus <= 0)
            gpus = metrics.gpusUsed;
        const double perSequence = metrics.iterationTime.value_or(0) / workload.globalBatch;
        work.tflops = metrics.modelTflopsPerGpu.value_or(0) * perSequence;
        work.mfu = metrics.mfu.value_or(0) * perSequence;
    }
    work.tokens = gpus > 0 ? sequence / gpus : 0;
    return work;
}

} // namespace trainyard

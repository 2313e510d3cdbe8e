// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/run_numbers.h"

#include "core/runs/overlay/job_stages.h"
#include "core/runs/overlay/memory_verdict.h"
#include "core/runs/overlay/reported_job.h"
#include "core/runs/telemetry/sample_names.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

using namespace samples;

constexpr const char *kMedianStep = "median_step_time", *kGpus = "gpus";

struct ListedNumber {
    const char *name, *title, *unit;
    int better;
};
constexpr ListedNumber kListed[] {
    { kStepTime, QT_TRANSLATE_NOOP("RunNumbers", "Step time"), "s", -1 },
    { kMedianStep, QT_TRANSLATE_NOOP("RunNumbers", "Median of its steps"), "s", -1 },
    { kTokensPerSecondPerGpu, QT_TRANSLATE_NOOP("RunNumbers", "Tokens per second per GPU"), "1/s", 1 },
    { kSamplesPerSecond, QT_TRANSLATE_NOOP("RunNumbers", "Sequences per second"), "1/s", 1 },
    { kTflopsPerGpu, QT_TRANSLATE_NOOP("RunNumbers", "Model TFLOP/s per GPU"), "TFLOP/s", 1 },
    { kMfu, QT_TRANSLATE_NOOP("RunNumbers", "MFU"), "1", 1 },
    { kMemoryAllocated, QT_TRANSLATE_NOOP("RunNumbers", "Memory allocated, fullest GPU"), "B", -1 },
    { kMemoryReserved, QT_TRANSLATE_NOOP("RunNumbers", "Memory reserved, fullest GPU"), "B", -1 },
    { kMemoryUsed, QT_TRANSLATE_NOOP("RunNumbers", "Memory taken on the device, fullest GPU"), "B", -1 },
    { kGlobalBatch, QT_TRANSLATE_NOOP("RunNumbers", "Sequences per step"), "1", 0 },
    { kGpus, QT_TRANSLATE_NOOP("RunNumbers", "GPUs"), "1", 0 },
};

void put(SideNumbers &numbers, const char *name, const std::optional<double> &value)
{
    if (value && std::isfinite(*value) && *value > 0)
        numbers[name] = *value;
}

/// Of the job, at that step.
std::optional<double> valueAt(const std::vector<RunCurve> &curves, const char *name, std::int64_t step)
{
    for (const RunCurve &curve : curves) {
        if (curve.name != name || !curve.where.empty() || curve.isOverTime)
            continue;
        const auto at = std::ranges::find(curve.step, double(step));
        if (at != curve.step.end())
            return curve.value[std::size_t(at - curve.step.begin())];
    }
    return std::nullopt;
}

std::optional<double> mostOf(const Recording &recording, const char *name)
{
    std::optional<double> most;
    for (const SampleSeries &series : recording.series)
        if (series.name == name)
            for (const double value : series.value)
                if (std::isfinite(value) && (!most || value > *most))
                    most = value;
    return most;
}

const char *nameOfLevel(MemoryLevel level)
{
    return level == MemoryLevel::Allocated ? kMemoryAllocated
        : level == MemoryLevel::Reserved   ? kMemoryReserved
                                           : kMemoryUsed;
}

} // namespace

SideNumbers numbersOfPlan(const Evaluation &evaluation)
{
    const Metrics &metrics = evaluation.metrics;
    SideNumbers numbers;
    put(numbers, kStepTime, metrics.iterationTime);
    put(numbers, kTokensPerSecondPerGpu, metrics.tokensPerSecondPerGpu);
    put(numbers, kTflopsPerGpu, metrics.modelTflopsPerGpu);
    put(numbers, kMfu, metrics.mfu);
    put(numbers, kGpus, double(metrics.gpusUsed));
    const double batch = evaluation.plan ? evaluation.plan->workload.globalBatch : 0;
    put(numbers, kGlobalBatch, batch);
    if (metrics.iterationTime && *metrics.iterationTime > 0)
        put(numbers, kSamplesPerSecond, batch / *metrics.iterationTime);
    if (!metrics.memory)
        return numbers;
    put(numbers, kMemoryAllocated, double(metrics.memory->peak));
    double reserved = 0, device = 0;
    for (const StageMemory &stage : metrics.memory->perStage) {
        reserved = std::max(reserved, double(stage.reserved));
        device = std::max(device, double(stage.device));
    }
    put(numbers, kMemoryReserved, reserved);
    put(numbers, kMemoryUsed, device);
    return numbers;
}

SideNumbers numbersOfRun(const Run &run, const RunStep *step, const std::vector<RunCurve> &curves)
{
    SideNumbers numbers;
    put(numbers, kMedianStep, run.medianSeconds);
    put(numbers, kGpus, double(worldSizeOf(*run.recording)));
    for (const char *name : { kMemoryAllocated, kMemoryReserved, kMemoryUsed })
        put(numbers, name, mostOf(*run.recording, name));
    if (const auto told = reportedJob(*run.recording).globalBatch)
        put(numbers, kGlobalBatch, double(*told));
    if (!step)
        return numbers;
    put(numbers, kStepTime, step->seconds);
    for (const char *name : { kTokensPerSecondPerGpu, kSamplesPerSecond, kTflopsPerGpu, kMfu, kGlobalBatch })
        put(numbers, name, valueAt(curves, name, step->number));
    return numbers;
}

QString takeMemory(const Evaluation &evaluation, const RunOverlay &overlay, SideNumbers &plan, SideNumbers &run)
{
    const auto found = memoryVerdict(evaluation, *overlay.run->recording, overlay.order);
    if (!found)
        return {};
    for (const char *name : { kMemoryAllocated, kMemoryReserved, kMemoryUsed })
        for (SideNumbers *numbers : { &plan, &run })
            numbers->erase(name);
    if (found->peakMeasured) {
        put(plan, kMemoryAllocated, found->peakPredicted);
        put(run, kMemoryAllocated, found->peakMeasured);
    }
    put(plan, nameOfLevel(found->level), found->predictedBytes);
    put(run, nameOfLevel(found->level), found->measuredBytes);
    return QCoreApplication::translate("RunNumbers", "Memory is that of %1, on both sides.")
        .arg(QString::fromStdString(found->of));
}

std::vector<ComparedNumber> besideEachOther(const SideNumbers &before, const SideNumbers &after)
{
    const auto valueOf = [](const SideNumbers &numbers, const char *name) {
        const auto at = numbers.find(name);
        return at == numbers.end() ? std::optional<double>() : at->second;
    };
    std::vector<ComparedNumber> rows;
    for (const ListedNumber &one : kListed) {
        ComparedNumber row { one.name, QCoreApplication::translate("RunNumbers", one.title), one.unit,
            valueOf(before, one.name), valueOf(after, one.name), one.better };
        if (row.before || row.after)
            rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace trainyard

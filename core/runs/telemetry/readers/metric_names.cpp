// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/metric_names.h"

#include "core/base/units.h"
#include "core/runs/telemetry/readers/text_scan.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <array>

namespace trainyard::readers {

namespace {

using namespace samples;

struct Row {
    std::string_view theirs; // lower case, '_' and '-' as blanks
    const char *name;
    const char *unit;
    double factor;
};

constexpr auto kRows = std::to_array<Row>({
    // Megatron-LM and what grew from it
    { "elapsed time per iteration (ms)", kStepTime, "s", 1e-3 },
    { "elapsed time per iteration ms", kStepTime, "s", 1e-3 },
    { "iteration time", kStepTime, "s", 1 },
    { "throughput per gpu (tflop/s/gpu)", kTflopsPerGpu, "TFLOP/s", 1 },
    { "tflops", kTflopsPerGpu, "TFLOP/s", 1 },
    { "[lm]tflops", kTflopsPerGpu, "TFLOP/s", 1 },
    { "tflops per gpu", kTflopsPerGpu, "TFLOP/s", 1 },
    { "approx flops per gpu", kTflopsPerGpu, "TFLOP/s", 1 },
    { "samples per second", kSamplesPerSecond, "1/s", 1 },
    { "samples/sec", kSamplesPerSecond, "1/s", 1 },
    { "tokens per gpu per second tgs", kTokensPerSecondPerGpu, "1/s", 1 },
    { "tokens per gpu per second (tgs)", kTokensPerSecondPerGpu, "1/s", 1 },
    { "tokens per gpu per second", kTokensPerSecondPerGpu, "1/s", 1 },
    { "tokens per sec per gpu", kTokensPerSecondPerGpu, "1/s", 1 }, // nanotron
    { "model tflops per gpu", kTflopsPerGpu, "TFLOP/s", 1 },
    { "tokens/sec/gpu", kTokensPerSecondPerGpu, "1/s", 1 },
    { "lm loss", kLoss, "1", 1 },
    { "grad norm", kGradNorm, "1", 1 },
    { "learning rate", kLearningRate, "1", 1 },
    { "global batch size", kGlobalBatch, "1", 1 },
    { "batch size", kGlobalBatch, "1", 1 },
    { "consumed samples", kConsumedSamples, "1", 1 },
    { "power per gpu (w/gpu)", kPower, "W", 1 },
    { "energy per gpu (j/iter/gpu)", kEnergyPerStep, "J", 1 },
    { "mem max allocated bytes", kMemoryAllocated, "B", 1 },
    { "mem allocated bytes", "log.mem-allocated-bytes", "B", 1 },
    { "mem reserved bytes", kMemoryReserved, "B", 1 },
    // torchtitan
    { "loss", kLoss, "1", 1 },
    { "tps", kTokensPerSecondPerGpu, "1/s", 1 },
    { "wps", kTokensPerSecondPerGpu, "1/s", 1 },
    { "throughput(tps)", kTokensPerSecondPerGpu, "1/s", 1 },
    { "mfu", kMfu, "1", 1 },
    { "mfu(%)", kMfu, "1", 1e-2 },
    { "loss metrics/global avg loss", kLoss, "1", 1 },
    { "time metrics/end to end(s)", kStepTime, "s", 1 },
    { "time metrics/data loading(s)", "timer.data_loading", "s", 1 },
    { "memory/max active(gib)", kMemoryAllocated, "B", kBytesPerGiB },
    { "memory/max reserved(gib)", kMemoryReserved, "B", kBytesPerGiB },
    { "max memory allocated", kMemoryAllocated, "B", 1 },
    { "max memory reserved", kMemoryReserved, "B", 1 },
    // Primus: of the device, in GiB
    { "hip mem usage/free/total/usage ratio", kMemoryReserved, "B", kBytesPerGiB },
    { "tokens per gpu (tokens/s/gpu)", kTokensPerSecondPerGpu, "1/s", 1 },
    // ms-swift, Axolotl
    { "memory(gib)", kMemoryReserved, "B", kBytesPerGiB },
    { "memory/max mem active(gib)", kMemoryAllocated, "B", kBytesPerGiB },
    { "memory/max mem allocated(gib)", kMemoryAllocated, "B", kBytesPerGiB },
    { "memory/device mem reserved(gib)", kMemoryReserved, "B", kBytesPerGiB },
    { "memory/max active (gib)", kMemoryAllocated, "B", kBytesPerGiB },
    { "memory/max allocated (gib)", kMemoryAllocated, "B", kBytesPerGiB },
    { "memory/device reserved (gib)", kMemoryReserved, "B", kBytesPerGiB },
    // NeMo, Lightning
    { "reduced train loss", kLoss, "1", 1 },
    { "train loss", kLoss, "1", 1 },
    { "train step timing in s", kStepTime, "s", 1 },
    { "train backward timing in s", "timer.backward", "s", 1 },
    { "validation step timing in s", "timer.validation_step", "s", 1 },
    { "lr", kLearningRate, "1", 1 },
    // DeepSpeed, Hugging Face, MLPerf
    { "iter time (s)", kStepTime, "s", 1 },
    { "train samples per second", kSamplesPerSecond, "1/s", 1 },
    { "samples/train loss", kLoss, "1", 1 },
    { "samples/lr", kLearningRate, "1", 1 },
    { "train step time", kStepTime, "s", 1 },
    { "step time", kStepTime, "s", 1 },
});

std::string plain(std::string_view theirs)
{
    std::string result = lowered(trimmed(theirs));
    std::ranges::replace_if(
        result, [](char c) { return c == '_' || c == '-'; }, ' ');
    return result;
}

} // namespace

MetricName metricNamed(std::string_view theirs)
{
    const std::string key = plain(theirs);
    for (std::string_view sought(key); !sought.empty();) {
        if (const auto row = std::ranges::find(kRows, sought, &Row::theirs); row != kRows.end())
            return { row->name, row->unit, row->factor, true };
        if (!takeText(sought, "train/"))
            break;
    }
    return { "log." + std::string(trimmed(theirs)) };
}

MetricName metricOfTag(std::string_view tag)
{
    const std::string key = plain(tag);
    if (key == "throughput")
        return { kTflopsPerGpu, "TFLOP/s", 1, true };
    MetricName made = metricNamed(tag);
    if (!made.isKnown && tag.ends_with("-time") && tag.size() > 5)
        return { kTimerPrefix + std::string(tag.substr(0, tag.size() - 5)), "s", 1, true };
    return made;
}

} // namespace trainyard::readers

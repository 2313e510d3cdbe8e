// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/overlay/log_timers.h"

#include "core/telemetry/sample_names.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace trainyard {

namespace {

enum class Told : std::uint8_t { Optimizer, ForwardAndBackward, Exchange, Receive, Batch };

struct Timer {
    std::string_view name;
    Told told;
};
// Timers that contain others, or are in them, stand here once: "optimizer-…" are parts of "optimizer",
// "forward-backward" contains what level 2 tells.
constexpr auto kTimers = std::to_array<Timer>({
    { "optimizer", Told::Optimizer },
    { "step", Told::Optimizer }, // DeepSpeed
    { "forward-compute", Told::ForwardAndBackward },
    { "backward-compute", Told::ForwardAndBackward },
    { "forward", Told::ForwardAndBackward }, // DeepSpeed
    { "backward_inner", Told::ForwardAndBackward }, // "backward" without the all-reduce
    { "all-grads-sync", Told::Exchange },
    { "grads-all-reduce", Told::Exchange },
    { "grads-reduce-scatter", Told::Exchange },
    { "backward-params-all-reduce", Told::Exchange },
    { "backward-embedding-all-reduce", Told::Exchange },
    { "backward-layernorm-all-reduce", Told::Exchange },
    { "layernorm-grads-all-reduce", Told::Exchange },
    { "embedding-grads-all-reduce", Told::Exchange },
    { "params-all-gather", Told::Exchange },
    { "backward_allreduce", Told::Exchange }, // DeepSpeed
    { "forward-send", Told::Exchange },
    { "backward-send", Told::Exchange },
    { "forward-recv", Told::Receive },
    { "backward-recv", Told::Receive },
    { "forward-send-forward-recv", Told::Receive },
    { "forward-send-backward-recv", Told::Receive },
    { "backward-send-forward-recv", Told::Receive },
    { "backward-send-backward-recv", Told::Receive },
    { "forward-backward-send-forward-backward-recv", Told::Receive },
    { "batch-generator", Told::Batch },
});

/// The value of a step, else the last one before it; empty without.
std::optional<double> valueAt(const SampleSeries &series, std::int64_t number)
{
    const auto after = std::ranges::upper_bound(series.at, number);
    const auto count = std::min<std::size_t>(static_cast<std::size_t>(after - series.at.begin()), series.value.size());
    if (count == 0 || !(series.value[count - 1] >= 0))
        return std::nullopt;
    return series.value[count - 1];
}

void add(std::optional<double> &part, double seconds)
{
    part = part.value_or(0) + seconds;
}

} // namespace

LogTimers logTimers(const Recording &recording, const RunStep &step)
{
    LogTimers timers;
    bool isForwardTold = false;
    for (const SampleSeries &series : recording.series) {
        constexpr std::string_view kPrefix = samples::kTimerPrefix;
        if (!series.isByStep || series.rank >= 0 || !series.where.empty() || !series.name.starts_with(kPrefix))
            continue;
        std::string_view name = std::string_view(series.name).substr(kPrefix.size());
        double share = 1; // of a smallest and a largest over the ranks the middle
        if (name.ends_with(".min") || name.ends_with(".max")) {
            name.remove_suffix(4);
            share = 0.5;
        }
        const auto timer = std::ranges::find(kTimers, name, &Timer::name);
        auto seconds = timer != kTimers.end() ? valueAt(series, step.number) : std::nullopt;
        if (!seconds)
            continue;
        *seconds *= share;
        switch (timer->told) {
        case Told::ForwardAndBackward:
            isForwardTold = true;
            [[fallthrough]];
        case Told::Optimizer:
            add(timers.compute, *seconds);
            break;
        case Told::Exchange:
            add(timers.communication, *seconds);
            break;
        case Told::Receive:
            add(timers.bubble, *seconds);
            break;
        case Told::Batch:
            add(timers.host, *seconds);
        }
    }
    if (timers.sum() > step.seconds) {
        timers = {};
        timers.notes.push_back("The timers of the log add up to more than the step, so that they do not take it apart");
        return timers;
    }
    const bool isAnyTold = timers.sum() > 0;
    timers.notes.push_back(isAnyTold
            ? "No spans of a GPU show this step: what is told apart is by the timers of the log, the rest is untold"
            : "No spans of a GPU show this step, and no timers of a log take it apart");
    if (timers.compute)
        timers.notes.push_back(isForwardTold
                ? "Compute has the collectives in it that run inside forward and backward"
                : "Compute is the optimizer's step alone: forward and backward are untold");
    return timers;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/overlay/log_timers.h"

#include "core/telemetry/sample_names.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace trainyard {

namespace {

using enum TimerPart;

struct Timer {
    std::string_view name;
    TimerPart part;
};
// Parts of others are not here: "optimizer-…" are of "optimizer". "forward-backward" contains what level 2 tells.
constexpr auto kTimers = std::to_array<Timer>({
    { "optimizer", Optimizer },
    { "step", Optimizer }, // DeepSpeed
    { "forward-backward", WholeForwardBackward },
    { "forward-compute", ForwardAndBackward },
    { "backward-compute", ForwardAndBackward },
    { "forward", ForwardAndBackward }, // DeepSpeed
    { "backward_inner", ForwardAndBackward }, // "backward" without the all-reduce
    { "all-grads-sync", Exchange },
    { "grads-all-reduce", Exchange },
    { "grads-reduce-scatter", Exchange },
    { "backward-params-all-reduce", Exchange },
    { "backward-embedding-all-reduce", Exchange },
    { "backward-layernorm-all-reduce", Exchange },
    { "layernorm-grads-all-reduce", Exchange },
    { "embedding-grads-all-reduce", Exchange },
    { "params-all-gather", ParameterGather },
    { "backward_allreduce", Exchange }, // DeepSpeed
    { "forward-send", Send },
    { "backward-send", Send },
    { "forward-recv", Receive },
    { "backward-recv", Receive },
    { "forward-send-forward-recv", Receive },
    { "forward-send-backward-recv", Receive },
    { "backward-send-forward-recv", Receive },
    { "backward-send-backward-recv", Receive },
    { "forward-backward-send-forward-backward-recv", Receive },
    { "batch-generator", Batch },
});

constexpr std::string_view kNestedSign = "all-grads-sync";

/// The value of a step, else the last one before it; empty without.
std::optional<double> valueAt(const SampleSeries &series, std::int64_t number)
{
    const auto after = std::ranges::upper_bound(series.at, number);
    const auto count = std::min<std::size_t>(static_cast<std::size_t>(after - series.at.begin()), series.value.size());
    if (count == 0 || !(series.value[count - 1] >= 0))
        return std::nullopt;
    return series.value[count - 1];
}

/// Without the prefix of series; whether it is the smallest or the largest over the ranks.
struct TimerName {
    std::string_view name;
    bool isBound = false;
};
std::optional<TimerName> timerName(const SampleSeries &series)
{
    constexpr std::string_view kPrefix = samples::kTimerPrefix;
    if (!series.isByStep || series.rank >= 0 || !series.where.empty() || !series.name.starts_with(kPrefix))
        return std::nullopt;
    std::string_view name = std::string_view(series.name).substr(kPrefix.size());
    const bool isBound = name.ends_with(".min") || name.ends_with(".max");
    return TimerName { isBound ? name.substr(0, name.size() - 4) : name, isBound };
}

double medianOfAll(std::vector<double> values)
{
    std::ranges::sort(values);
    return (values[values.size() / 2] + values[(values.size() - 1) / 2]) / 2;
}

void add(std::optional<double> &part, double seconds)
{
    part = part.value_or(0) + seconds;
}

} // namespace

std::optional<TimerPart> timerPart(std::string_view name)
{
    const auto timer = std::ranges::find(kTimers, name, &Timer::name);
    return timer == kTimers.end() ? std::nullopt : std::optional(timer->part);
}

std::vector<ToldTimer> toldTimers(const Recording &recording, const std::vector<std::int64_t> &steps)
{
    std::vector<ToldTimer> timers;
    for (const SampleSeries &series : recording.series) {
        const auto name = timerName(series);
        const auto part = name ? timerPart(name->name) : std::nullopt;
        if (!part)
            continue;
        std::vector<double> counted, all;
        for (std::size_t i = 0; i < std::min(series.at.size(), series.value.size()); ++i) {
            if (!(series.value[i] >= 0))
                continue;
            all.push_back(series.value[i]);
            if (std::ranges::binary_search(steps, series.at[i]))
                counted.push_back(series.value[i]);
        }
        if (all.empty())
            continue;
        const std::vector<double> &values = counted.empty() ? all : counted;
        auto made = std::ranges::find(timers, name->name, &ToldTimer::name);
        if (made == timers.end())
            made = timers.insert(timers.end(), ToldTimer { std::string(name->name), *part });
        made->seconds += medianOfAll(values) * (name->isBound ? 0.5 : 1);
        made->steps = std::max(made->steps, static_cast<int>(values.size()));
    }
    std::ranges::sort(timers, {}, &ToldTimer::name);
    return timers;
}

bool areExchangesNested(const std::vector<ToldTimer> &timers)
{
    return std::ranges::find(timers, kNestedSign, &ToldTimer::name) != timers.end();
}

LogTimers logTimers(const Recording &recording, const RunStep &step)
{
    LogTimers timers;
    bool isForwardTold = false, isNested = false;
    double gather = 0;
    for (const SampleSeries &series : recording.series) {
        const auto told = timerName(series);
        const auto part = told ? timerPart(told->name) : std::nullopt;
        auto seconds = part ? valueAt(series, step.number) : std::nullopt;
        if (!seconds)
            continue;
        isNested = isNested || told->name == kNestedSign;
        *seconds *= told->isBound ? 0.5 : 1;
        switch (*part) {
        case WholeForwardBackward:
            break;
        case ForwardAndBackward:
            isForwardTold = true;
            [[fallthrough]];
        case Optimizer:
            add(timers.compute, *seconds);
            break;
        case ParameterGather:
            gather += *seconds;
            [[fallthrough]];
        case Exchange:
        case Send:
            add(timers.communication, *seconds);
            break;
        case Receive:
            add(timers.bubble, *seconds);
            break;
        case Batch:
            add(timers.host, *seconds);
        }
    }
    if (isNested && timers.compute)
        *timers.compute = std::max(0.0, *timers.compute - gather);
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

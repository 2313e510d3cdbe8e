// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/log_timers.h"

#include "core/base/median.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace trainyard {

namespace {

struct Timer {
    std::string_view name;
    TimerPart part;
};
// Timers that contain others, or are in them, stand here once: "optimizer-…" are parts of "optimizer". One is in
// another that stands here: Megatron-Core gathers parameters ("params-all-gather") inside "optimizer"; releases before
// it did so behind it ("backward-params-all-gather"). "forward-backward" contains what level 2 tells.
constexpr auto kTimers = std::to_array<Timer>({
    { "optimizer", TimerPart::Optimizer },
    { "step", TimerPart::Optimizer }, // DeepSpeed
    { "forward-backward", TimerPart::WholeForwardBackward },
    { "forward-compute", TimerPart::ForwardAndBackward },
    { "backward-compute", TimerPart::ForwardAndBackward },
    { "forward", TimerPart::ForwardAndBackward }, // DeepSpeed
    { "backward_inner", TimerPart::ForwardAndBackward }, // "backward" without the all-reduce
    { "all-grads-sync", TimerPart::Exchange },
    { "grads-all-reduce", TimerPart::Exchange },
    { "grads-reduce-scatter", TimerPart::Exchange },
    { "backward-params-all-reduce", TimerPart::Exchange },
    { "backward-embedding-all-reduce", TimerPart::Exchange },
    { "backward-layernorm-all-reduce", TimerPart::Exchange },
    { "layernorm-grads-all-reduce", TimerPart::Exchange },
    { "embedding-grads-all-reduce", TimerPart::Exchange },
    { "params-all-gather", TimerPart::ParameterGather },
    { "backward-params-all-gather", TimerPart::Exchange },
    { "backward_allreduce", TimerPart::Exchange }, // DeepSpeed
    { "forward-send", TimerPart::Send },
    { "backward-send", TimerPart::Send },
    { "forward-recv", TimerPart::Receive },
    { "backward-recv", TimerPart::Receive },
    { "forward-send-forward-recv", TimerPart::Receive },
    { "forward-send-backward-recv", TimerPart::Receive },
    { "backward-send-forward-recv", TimerPart::Receive },
    { "backward-send-backward-recv", TimerPart::Receive },
    { "forward-backward-send-forward-backward-recv", TimerPart::Receive },
    { "batch-generator", TimerPart::Batch },
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

void add(std::optional<double> &part, double seconds)
{
    part = part.value_or(0) + seconds;
}

/// What the series is called as a timer of the whole job, ".min" and ".max" behind it; empty: it is none.
std::string_view timerOf(const SampleSeries &series)
{
    constexpr std::string_view kPrefix = samples::kTimerPrefix;
    const std::string_view name = series.name;
    if (!series.isByStep || series.rank >= 0 || !series.where.empty() || !name.starts_with(kPrefix))
        return {};
    return name.substr(kPrefix.size());
}

std::string_view withoutEnd(std::string_view name)
{
    return name.ends_with(".min") || name.ends_with(".max") ? name.substr(0, name.size() - 4) : name;
}

const Timer *known(std::string_view name)
{
    const auto timer = std::ranges::find(kTimers, withoutEnd(name), &Timer::name);
    return timer == kTimers.end() ? nullptr : &*timer;
}

/// The one that tells most: several logs of one job print the same timers.
std::uint32_t sourceOf(const Recording &recording, std::vector<std::string> &notes)
{
    std::map<std::uint32_t, std::size_t> told;
    for (const SampleSeries &series : recording.series)
        if (known(timerOf(series)))
            told[series.source] += series.at.size();
    if (told.empty())
        return kNoIndex;
    const auto most = std::ranges::max_element(told, {}, [](const auto &entry) { return entry.second; });
    if (told.size() > 1 && most->first < recording.sources.size())
        notes.push_back("Several sources tell timers: those of " + recording.sources[most->first].file
            + " count, which tells most of them");
    return most->first;
}

/// Seconds of a timer in a step: the mean over the ranks where it is told, else the middle of smallest and largest.
struct TimerValue {
    std::optional<double> mean, least, most;
    [[nodiscard]] double seconds() const
    {
        if (mean)
            return *mean;
        return least && most ? (*least + *most) / 2 : least.value_or(most.value_or(0));
    }
};

/// Where a series with this end to its name belongs.
std::optional<double> &boundOf(TimerValue &value, std::string_view name)
{
    return name.ends_with(".min") ? value.least : name.ends_with(".max") ? value.most : value.mean;
}

using TimerValues = std::map<std::string_view, TimerValue>;

TimerValues valuesOf(const Recording &recording, std::uint32_t source, std::int64_t step)
{
    TimerValues values;
    for (const SampleSeries &series : recording.series) {
        const std::string_view name = timerOf(series);
        if (series.source != source || !known(name))
            continue;
        if (const auto seconds = valueAt(series, step)) {
            TimerValue &value = values[withoutEnd(name)];
            if (std::optional<double> &part = boundOf(value, name); !part) // else the same line twice
                part = seconds;
        }
    }
    return values;
}

} // namespace

std::vector<ToldTimer> toldTimers(const Recording &recording, const std::vector<std::int64_t> &steps)
{
    std::vector<std::string> unsaid;
    const std::uint32_t source = sourceOf(recording, unsaid);
    std::map<std::string_view, TimerValue> medians;
    std::map<std::string_view, std::size_t> told;
    for (const SampleSeries &series : recording.series) {
        const std::string_view name = timerOf(series);
        if (series.source != source || !known(name))
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
        if (std::optional<double> &part = boundOf(medians[withoutEnd(name)], name); !part)
            part = medianOf(values);
        std::size_t &most = told[withoutEnd(name)];
        most = std::max(most, values.size());
    }
    std::vector<ToldTimer> timers; // by name, as the map is
    for (const auto &[name, value] : medians)
        timers.push_back({ std::string(name), known(name)->part, value.seconds(), static_cast<int>(told[name]) });
    return timers;
}

bool areExchangesNested(const std::vector<ToldTimer> &timers)
{
    return std::ranges::find(timers, kNestedSign, &ToldTimer::name) != timers.end();
}

LogTimers logTimers(const Recording &recording, const RunStep &step)
{
    LogTimers timers;
    const std::uint32_t source = sourceOf(recording, timers.notes);
    const TimerValues values = valuesOf(recording, source, step.number);
    bool isForwardTold = false, isSynchronised = false;
    for (const auto &[name, value] : values) {
        double seconds = value.seconds();
        const TimerPart told = known(name)->part;
        isSynchronised |= told == TimerPart::ForwardAndBackward || told == TimerPart::Receive;
        switch (told) {
        case TimerPart::ForwardAndBackward:
            isForwardTold = true;
            add(timers.compute, seconds);
            break;
        case TimerPart::Optimizer:
            if (const auto gather = values.find("params-all-gather");
                name == "optimizer" && gather != values.end() && gather->second.seconds() <= seconds)
                seconds -= gather->second.seconds();
            add(timers.compute, seconds);
            break;
        case TimerPart::WholeForwardBackward:
            break;
        case TimerPart::Exchange:
        case TimerPart::ParameterGather:
        case TimerPart::Send:
            add(timers.communication, seconds);
            break;
        case TimerPart::Receive:
            add(timers.bubble, seconds);
            break;
        case TimerPart::Batch:
            add(timers.host, seconds);
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
    if (isSynchronised)
        timers.notes.push_back("Timers around forward, backward and receives wait for the GPU each time (Megatron's "
                               "--timing-log-level 2, DeepSpeed's wall_clock_breakdown): steps take longer with them");
    return timers;
}

} // namespace trainyard

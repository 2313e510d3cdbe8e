// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/run_signs.h"

#include "core/base/median.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

std::vector<double> finite(const SampleSeries &series)
{
    std::vector<double> values;
    for (const double value : series.value)
        if (std::isfinite(value) && value > 0)
            values.push_back(value);
    return values;
}

} // namespace

std::optional<MemorySign> fullestMemory(const Recording &recording, const Evaluation &plan)
{
    MemorySign sign;
    for (const SampleSeries &series : recording.series)
        if (series.name == samples::kMemoryAllocated || series.name == samples::kMemoryReserved
            || series.name == samples::kMemoryUsed)
            for (const double value : series.value)
                sign.bytes = value > sign.bytes && value < 1e15 ? value : sign.bytes;
    if (plan.metrics.memory)
        sign.capacity = static_cast<double>(plan.metrics.memory->capacity);
    return sign.bytes > 0 ? std::optional(sign) : std::nullopt;
}

std::optional<ClockSign> lowestClock(const Recording &recording)
{
    ClockSign sign;
    for (const SampleSeries &series : recording.series) {
        if (series.name != samples::kSmClock)
            continue;
        std::vector<double> values = finite(series);
        const double clock = medianOf(std::move(values));
        if (!(clock > 0))
            continue;
        sign.highest = std::max(sign.highest, clock);
        if (sign.hertz == 0 || clock < sign.hertz) {
            sign.hertz = clock;
            sign.where = !series.where.empty() ? series.where
                : series.rank >= 0             ? "rank " + std::to_string(series.rank)
                                               : std::string("a GPU");
        }
    }
    return sign.hertz > 0 ? std::optional(sign) : std::nullopt;
}

std::optional<ThrottleSign> throttling(const Recording &recording)
{
    double highest = 0;
    for (const SampleSeries &series : recording.series)
        if (series.name == samples::kSmClock)
            for (const double value : finite(series))
                highest = std::max(highest, value);
    if (!(highest > 0))
        return std::nullopt;
    std::map<std::pair<int, std::string>, const SampleSeries *> power;
    for (const SampleSeries &series : recording.series)
        if (series.name == samples::kPower)
            power[{ series.rank, series.where }] = &series;
    std::size_t all = 0, low = 0;
    std::vector<double> watts;
    for (const SampleSeries &series : recording.series) {
        if (series.name != samples::kSmClock)
            continue;
        const auto own = power.find({ series.rank, series.where });
        for (std::size_t i = 0; i < std::min(series.at.size(), series.value.size()); ++i) {
            if (!(series.value[i] > 0))
                continue;
            ++all;
            if (series.value[i] >= kLowClock * highest)
                continue;
            ++low;
            if (own == power.end())
                continue;
            const SampleSeries &beside = *own->second;
            const auto at = std::ranges::lower_bound(beside.at, series.at[i]) - beside.at.begin();
            if (static_cast<std::size_t>(at) < std::min(beside.at.size(), beside.value.size())
                && beside.value[static_cast<std::size_t>(at)] > 0)
                watts.push_back(beside.value[static_cast<std::size_t>(at)]);
        }
    }
    if (all == 0)
        return std::nullopt;
    return ThrottleSign { static_cast<double>(low) / static_cast<double>(all), medianOf(std::move(watts)) };
}

std::optional<bool> isSwitchedOn(const Recording &recording, const char *name)
{
    const auto at = recording.arguments.find(name);
    if (at == recording.arguments.end())
        return std::nullopt;
    const std::string &value = at->second;
    return value != "False" && value != "false" && value != "0" && value != "None" && value != "no";
}

} // namespace trainyard

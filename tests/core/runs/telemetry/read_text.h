#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Readers on texts of tests: the surest reader reads, as it would of a file, and single values are looked up.

#include "core/runs/telemetry/read_sources.h"

#include <cmath>
#include <limits>
#include <random>

namespace trainyard::tests {

inline Recording readText(const std::string &text, const std::string &name = "a.log")
{
    std::string bytes = text;
    bytes.resize(text.size() + kSourcePadding);
    const std::string_view own = std::string_view(bytes).substr(0, text.size());
    const SourceReader *reader = readerFor(name, own.substr(0, std::size_t(64) << 10));
    Recording refused;
    refused.sources.emplace_back().refused = "nobody knows it";
    if (!reader)
        return refused;
    auto recording = reader->read({ name, own, static_cast<std::int64_t>(text.size()) }, {});
    if (recording)
        return *std::move(recording);
    refused.sources.front().refused = recording.error().what;
    return refused;
}

inline const SampleSeries *seriesOf(const Recording &recording, std::string_view name, int rank = -1)
{
    for (const SampleSeries &series : recording.series)
        if (series.name == name && series.rank == rank)
            return &series;
    return nullptr;
}

/// The value at a step; NaN where there is none.
inline double valueAt(const Recording &recording, std::string_view name, std::int64_t step, int rank = -1)
{
    const SampleSeries *series = seriesOf(recording, name, rank);
    for (std::size_t i = 0; series && i < series->at.size(); ++i)
        if (series->at[i] == step)
            return series->value[i];
    return std::numeric_limits<double>::quiet_NaN();
}

inline bool hasNote(const Recording &recording, std::string_view part)
{
    for (const std::string &note : recording.sources.front().notes)
        if (note.find(part) != std::string::npos)
            return true;
    return false;
}

inline std::int64_t droppedOf(const Recording &recording, std::string_view part)
{
    std::int64_t count = 0;
    for (const Dropped &dropped : recording.sources.front().dropped)
        count += dropped.reason.find(part) != std::string::npos ? dropped.count : 0;
    return count;
}

/// Each series has as many moments as values, in order, and its source.
inline bool isSound(const Recording &recording)
{
    for (const SampleSeries &series : recording.series) {
        if (series.at.size() != series.value.size() || series.at.empty() || series.source != 0 || series.name.empty())
            return false;
        for (std::size_t i = 1; i < series.at.size(); ++i)
            if (series.at[i] < series.at[i - 1] || (series.isByStep && series.at[i] == series.at[i - 1]))
                return false;
    }
    return recording.sources.size() == 1;
}

/// A few bytes of the text otherwise.
inline std::string mutated(std::string text, std::mt19937_64 &random)
{
    static constexpr std::string_view kBytes = "0123456789-+.eE|:={}[]()\"'\\\r\n\t ";
    for (std::uint64_t i = random() % 10 + 1; i > 0 && !text.empty(); --i) {
        const std::size_t at = random() % text.size(), length = random() % 40;
        switch (random() % 4) {
        case 0:
            text[at] = static_cast<char>(random());
            break;
        case 1:
            text.erase(at, length);
            break;
        case 2:
            text.insert(at, text.substr(random() % text.size(), length));
            break;
        default:
            text[at] = kBytes[random() % kBytes.size()];
        }
    }
    return text;
}

} // namespace trainyard::tests

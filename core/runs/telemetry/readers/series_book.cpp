// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/series_book.h"

#include "core/runs/telemetry/readers/held_bytes.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace trainyard::readers {

namespace {

constexpr std::size_t kMostSeries = 20000; // a file that names more is no log
constexpr std::size_t kMostSeriesText = std::size_t(16) << 20; // bytes of their names, units and places
constexpr std::size_t kMostNotes = 40;

} // namespace

std::int64_t sortSamples(SampleSeries &series, Repeated stays)
{
    const bool isInOrder =
        std::ranges::adjacent_find(series.at, [](Moment a, Moment b) { return a >= b; }) == series.at.end();
    if (isInOrder)
        return 0;
    std::vector<std::size_t> order(series.at.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return series.at[i]; });
    std::vector<Moment> at;
    std::vector<double> value;
    std::int64_t gaveWay = 0;
    for (const std::size_t i : order)
        if (stays != Repeated::AllStay && !at.empty() && at.back() == series.at[i]) {
            if (stays == Repeated::LastStays)
                value.back() = series.value[i];
            ++gaveWay;
        } else {
            at.push_back(series.at[i]);
            value.push_back(series.value[i]);
        }
    series.at = std::move(at);
    series.value = std::move(value);
    return gaveWay;
}

SampleSeries &SeriesBook::of(const Sought &key, std::string_view unit)
{
    if (const auto known = m_series.find(key); known != m_series.end())
        return known->second;
    if (key.name.size() > kLongestHeldText || key.where.size() > kLongestHeldText || unit.size() > kLongestHeldText) {
        const std::string name = heldText(key.name), where = heldText(key.where);
        return of({ name, where, key.rank, key.isByStep }, heldText(unit));
    }
    const std::size_t text = m_texts.bytesFor(key.name) + m_texts.bytesFor(key.where) + m_texts.bytesFor(unit);
    if (m_series.size() >= kMostSeries
        || m_texts.bytes() + text > kMostSeriesText) // what is beyond goes to one that tells so
        return m_series[Key { "log.too many series", "", -1, key.isByStep }];
    const Key own { m_texts(key.name), m_texts(key.where), key.rank, key.isByStep };
    SampleSeries &made = m_series[own];
    made.name = own.name;
    made.unit = m_texts(unit);
    made.rank = key.rank;
    made.where = own.where;
    made.isByStep = key.isByStep;
    m_begun.push_back(&made);
    return made;
}

void SeriesBook::addStep(std::string_view name, std::string_view unit, std::int64_t step, double value, int rank)
{
    SampleSeries &series = of({ name, "", rank, true }, unit);
    series.at.push_back(step);
    series.value.push_back(value);
}

void SeriesBook::addMoment(
    std::string_view name, std::string_view unit, Moment at, double value, std::string_view where)
{
    SampleSeries &series = of({ name, where, -1, false }, unit);
    series.at.push_back(at);
    series.value.push_back(value);
}

const SampleSeries *SeriesBook::find(std::string_view name, int rank) const
{
    const auto known = m_series.find(Sought { name, "", rank, true });
    return known != m_series.end() ? &known->second : nullptr;
}

SampleSeries *SeriesBook::find(std::string_view name, int rank)
{
    return const_cast<SampleSeries *>(std::as_const(*this).find(name, rank));
}

std::int64_t SeriesBook::close(Recording &recording, std::uint32_t source, std::string_view family)
{
    const std::size_t known = recording.series.size();
    const auto nameOf = [&](const SampleSeries &series) {
        const auto isSame = [&](const SampleSeries &other) {
            return other.name == series.name && other.rank == series.rank && other.where == series.where
                && other.isByStep == series.isByStep;
        };
        const auto end = recording.series.begin() + static_cast<std::ptrdiff_t>(known);
        return known < 1000 && std::any_of(recording.series.begin(), end, isSame)
            ? SharedText(std::string(family) + "." + series.name.text())
            : series.name;
    };
    const std::int64_t gaveWay = give(recording, source, nameOf);
    m_series.clear();
    m_texts = {};
    m_begun.clear();
    return gaveWay;
}

std::int64_t SeriesBook::give(Recording &recording, std::uint32_t source, const Naming &nameOf)
{
    if (recording.zero == 0) {
        Moment first = std::numeric_limits<Moment>::max();
        for (const auto &[key, series] : m_series)
            if (!series.isByStep && !series.at.empty())
                first = std::min(first, *std::ranges::min_element(series.at));
        recording.zero = first != std::numeric_limits<Moment>::max() ? first : 0;
    }
    std::int64_t gaveWay = 0;
    for (auto &[key, series] : m_series) {
        if (series.at.empty())
            continue;
        gaveWay += sortSamples(series, series.isByStep ? Repeated::LastStays : Repeated::AllStay);
        if (!series.isByStep)
            for (Moment &at : series.at)
                at -= recording.zero;
        SharedText name = nameOf(series);
        SampleSeries &made = recording.series.emplace_back();
        made.name = std::move(name);
        made.unit = series.unit;
        made.rank = series.rank;
        made.where = series.where;
        made.isByStep = series.isByStep;
        made.at = std::exchange(series.at, {});
        made.value = std::exchange(series.value, {});
        made.source = source;
    }
    return gaveWay;
}

void drop(RecordedSource &source, std::string_view reason, std::int64_t count)
{
    if (count <= 0)
        return;
    const auto known = std::ranges::find(source.dropped, reason, &Dropped::reason);
    if (known != source.dropped.end())
        known->count += count;
    else
        source.dropped.push_back({ std::string(reason), count });
}

void note(RecordedSource &source, std::string text)
{
    if (!text.empty() && source.notes.size() < kMostNotes
        && std::ranges::find(source.notes, text) == source.notes.end())
        source.notes.push_back(std::move(text));
}

Recording recordingOf(const SourceText &source, SourceKind kind)
{
    Recording recording;
    RecordedSource &made = recording.sources.emplace_back();
    made.file = source.file;
    made.kind = kind;
    made.bytes = source.packedBytes;
    made.isTruncated = source.isTruncated;
    return recording;
}

} // namespace trainyard::readers

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/recording_builder.h"

#include "core/base/printable.h"
#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

constexpr std::size_t kLongestNote = 400;
constexpr std::size_t kOfSeries = sizeof(SampleSeries) + 64; // with what tables hold beside it, about
constexpr std::size_t kOfKey = 96; // with its place in a table, about
constexpr std::size_t kOfSample = sizeof(Moment) + sizeof(double);

/// Calls `visit` with every moment of the recording.
template <class Visit> void visitMoments(Recording &recording, Visit visit)
{
    for (SampleSeries &series : recording.series)
        if (!series.isByStep)
            std::ranges::for_each(series.at, visit);
    for (RankRecording &rank : recording.ranks) {
        for (RecordedStream &stream : rank.streams)
            std::ranges::for_each(stream.spans.start, visit);
        for (RecordedCollective &collective : rank.collectives)
            visit(collective.start);
        for (RecordedStep &step : rank.steps) {
            visit(step.start);
            visit(step.end);
        }
    }
}

constexpr std::int64_t kLatest = 4'000'000'000'000'000'000; // the year 2096
constexpr std::string_view kNoTimes = "events at times that cannot be";

bool isTime(std::int64_t unixNanoseconds, std::int64_t duration = 0)
{
    const bool isStart = unixNanoseconds >= 0 && unixNanoseconds < kLatest;
    return (isStart || unixNanoseconds == RecordingBuilder::kNoTime) && duration >= 0 && duration < kLatest / 16;
}

template <class T> void keep(std::vector<T> &values, const std::vector<std::size_t> &kept)
{
    for (std::size_t i = 0; !values.empty() && i < kept.size(); ++i)
        values[i] = values[kept[i]];
    values.resize(std::min(values.size(), kept.size()));
}

/// Leaves out what no recording can tell the time of; the number of it.
std::int64_t dropTimeless(RankRecording &rank)
{
    std::int64_t dropped = 0;
    for (std::size_t number = 0; number < rank.streams.size(); ++number) {
        RecordedSpans &spans = rank.streams[number].spans;
        std::vector<std::size_t> kept;
        std::vector<std::uint32_t> place(spans.size(), kNoIndex);
        for (std::size_t i = 0; i < spans.size(); ++i)
            if (isTime(spans.start[i], spans.duration[i])) {
                place[i] = static_cast<std::uint32_t>(kept.size());
                kept.push_back(i);
            }
        if (kept.size() == spans.size())
            continue;
        dropped += static_cast<std::int64_t>(spans.size() - kept.size());
        keep(spans.duration, kept);
        keep(spans.name, kept);
        keep(spans.work, kept);
        keep(spans.launch, kept);
        keep(spans.launchedAt, kept);
        keep(spans.shape, kept);
        keep(spans.start, kept);
        for (RecordedCollective &one : rank.collectives)
            if (one.stream == number && one.span < place.size())
                one.span = place[one.span];
    }
    dropped += static_cast<std::int64_t>(std::erase_if(rank.collectives,
        [](const RecordedCollective &one) { return !isTime(one.start, one.duration) || !isFigure(one.bytes); }));
    return dropped + static_cast<std::int64_t>(std::erase_if(rank.steps, [](const RecordedStep &step) {
        return !isTime(step.start) || !isTime(step.end) || step.end < step.start;
    }));
}

} // namespace

RecordingBuilder::RecordingBuilder(const SourceText &text, SourceKind kind)
    : m_recording(recordingOf(text, kind))
    , m_held(text.text.size())
{
}

void RecordingBuilder::drop(std::string_view reason, std::int64_t count)
{
    readers::drop(source(), reason, count);
}

void RecordingBuilder::note(std::string_view sentence)
{
    readers::note(source(), shortened(printable(sentence), kLongestNote));
}

std::size_t RecordingBuilder::seriesOf(std::string_view key) const
{
    const auto known = m_series.find(std::string(key));
    return known != m_series.end() ? known->second : kNewSeries;
}

std::size_t RecordingBuilder::addSeries(SampleSeries series)
{
    series.source = 0;
    std::size_t bytes = kOfSeries + kOfSample * series.at.size();
    for (SharedText *text : { &series.name, &series.unit, &series.where }) {
        if (text->size() > kLongestHeldText)
            *text = SharedText(heldText(*text));
        bytes += m_texts.bytesFor(*text);
    }
    if (!m_held.take(bytes))
        return kNewSeries;
    for (SharedText *text : { &series.name, &series.unit, &series.where })
        *text = m_texts(*text);
    m_recording.series.push_back(std::move(series));
    return m_recording.series.size() - 1;
}

std::size_t RecordingBuilder::addSeries(std::string key, SampleSeries series)
{
    const std::size_t bytes = key.size() + kOfKey;
    if (!m_held.take(bytes))
        return kNewSeries;
    const std::size_t index = addSeries(std::move(series));
    if (index == kNewSeries)
        m_held.giveBack(bytes);
    else
        m_series.emplace(std::move(key), index);
    return index;
}

void RecordingBuilder::add(std::size_t series, std::int64_t unixNanoseconds, double value)
{
    if (!isTime(unixNanoseconds))
        return drop(kNoTimes);
    if (series == kNewSeries || !m_held.take(kOfSample))
        return drop("samples that there is no room for: this source makes more of few bytes than is held");
    SampleSeries &to = m_recording.series[series];
    to.at.push_back(unixNanoseconds);
    to.value.push_back(value);
    ++source().taken;
}

void RecordingBuilder::add(BenchmarkPoint point)
{
    for (const double figure :
        { point.bytes, point.seconds, point.bytesPerSecond, point.busBytesPerSecond, point.rttSeconds })
        if (!isFigure(figure))
            return drop("points with a figure that is none");
    point.source = 0;
    m_recording.benchmarks.push_back(std::move(point));
    ++source().taken;
}

void RecordingBuilder::tidy(SampleSeries &series)
{
    const auto timeless = std::max<std::int64_t>(1, std::ranges::count(series.at, kNoTime)) - 1;
    const std::int64_t repeated = sortSamples(series, Repeated::FirstStays);
    drop("samples repeated without a time", timeless);
    drop("samples repeated at the same time", repeated - timeless);
    source().taken -= repeated;
}

Expected<Recording> RecordingBuilder::finish()
{
    for (SampleSeries &series : m_recording.series)
        tidy(series);
    std::erase_if(m_recording.series, [](const SampleSeries &series) { return series.at.empty(); });
    for (RankRecording &rank : m_recording.ranks)
        drop(kNoTimes, dropTimeless(rank));
    Moment zero = kNoTime;
    visitMoments(m_recording, [&](Moment at) {
        if (at != kNoTime && (zero == kNoTime || at < zero))
            zero = at;
    });
    if (zero != kNoTime)
        visitMoments(m_recording, [&](Moment &at) { at = at == kNoTime ? 0 : at - zero; });
    else
        visitMoments(m_recording, [](Moment &at) { at = 0; });
    m_recording.zero = zero == kNoTime ? 0 : zero;
    for (RankRecording &rank : m_recording.ranks)
        for (RecordedStream &stream : rank.streams)
            for (Moment &launched : stream.spans.launchedAt)
                launched -= launched == kNoMoment ? 0 : m_recording.zero;
    return std::move(m_recording);
}

std::unexpected<Error> refusal(const SourceText &text, std::string sentence)
{
    return std::unexpected(Error { ErrorCode::BadSyntax, text.file, printable(sentence), "" });
}

} // namespace trainyard::readers

// SPDX-License-Identifier: GPL-3.0-or-later
// A recording on a disk that is full: hours of a run are not lost for the last megabyte of it.
#include "core/base/number_text.h"
#include "core/runs/telemetry/recording_file.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kLess = 0.7; // of what was tried before: what is kept is at least so much of what would fit
constexpr double kLeastShare = 1e-3;

/// The moment from which on the latest `share` of spans and collectives begin.
Moment firstOfLatest(const Recording &whole, double share)
{
    std::vector<Moment> starts;
    for (const RankRecording &rank : whole.ranks) {
        for (const RecordedStream &stream : rank.streams)
            starts.insert(starts.end(), stream.spans.start.begin(), stream.spans.start.end());
        for (const RecordedCollective &one : rank.collectives)
            starts.push_back(one.start);
    }
    const auto kept = static_cast<std::size_t>(share * static_cast<double>(starts.size()));
    if (kept == 0)
        return std::numeric_limits<Moment>::max();
    const auto at = starts.end() - static_cast<std::ptrdiff_t>(kept);
    std::ranges::nth_element(starts, at);
    return *at;
}

template <class T> void dropFront(std::vector<T> &values, std::size_t count)
{
    values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(std::min(count, values.size())));
}

/// Without spans and collectives that begin before; how many those are.
std::int64_t dropBefore(RankRecording &rank, Moment first)
{
    std::int64_t dropped = 0;
    std::vector<std::uint32_t> before; // of each stream
    for (RecordedStream &stream : rank.streams) {
        RecordedSpans &spans = stream.spans;
        const auto count = static_cast<std::size_t>(std::ranges::lower_bound(spans.start, first) - spans.start.begin());
        before.push_back(static_cast<std::uint32_t>(count));
        dropped += static_cast<std::int64_t>(count);
        dropFront(spans.start, count);
        dropFront(spans.duration, count);
        dropFront(spans.name, count);
        dropFront(spans.work, count);
        dropFront(spans.launch, count);
        dropFront(spans.launchedAt, count);
        dropFront(spans.shape, count);
    }
    dropped += static_cast<std::int64_t>(
        std::erase_if(rank.collectives, [&](const RecordedCollective &one) { return one.start < first; }));
    for (RecordedCollective &one : rank.collectives) {
        if (one.stream == kNoIndex || one.span == kNoIndex)
            continue;
        one.span = one.span >= before[one.stream] ? one.span - before[one.stream] : kNoIndex;
        one.stream = one.span == kNoIndex ? kNoIndex : one.stream;
    }
    return dropped;
}

/// Names that nothing has any more are left out.
void dropNames(Recording &recording)
{
    std::vector<std::uint32_t> place(recording.names.size(), kNoIndex);
    std::vector<std::string> names;
    const auto keep = [&](std::uint32_t &name) {
        if (place[name] == kNoIndex) {
            place[name] = static_cast<std::uint32_t>(names.size());
            names.push_back(std::move(recording.names[name]));
        }
        name = place[name];
    };
    for (RankRecording &rank : recording.ranks) {
        for (RecordedStream &stream : rank.streams) {
            std::ranges::for_each(stream.spans.name, keep);
            for (std::uint32_t &shape : stream.spans.shape)
                if (shape != kNoIndex)
                    keep(shape);
        }
        for (RecordedCollective &one : rank.collectives)
            keep(one.operation);
    }
    recording.names = std::move(names);
}

struct Part {
    Recording recording;
    /// what it lacks
    std::string sentence;
};

Part latestOf(const Recording &whole, double spans, double samples)
{
    Part part { whole, {} };
    const Moment first = firstOfLatest(whole, spans);
    std::int64_t spansLost = 0, samplesLost = 0;
    for (RankRecording &rank : part.recording.ranks)
        spansLost += dropBefore(rank, first);
    dropNames(part.recording);
    for (SampleSeries &series : part.recording.series) {
        const auto kept = static_cast<std::size_t>(std::ceil(samples * static_cast<double>(series.at.size())));
        samplesLost += static_cast<std::int64_t>(series.at.size() - kept);
        dropFront(series.value, series.at.size() - kept);
        dropFront(series.at, series.at.size() - kept);
    }
    part.sentence = "There was no room on the disk for all of it. The earliest are left out: "
        + wholeText(static_cast<double>(spansLost)) + " spans and collectives, "
        + wholeText(static_cast<double>(samplesLost)) + " samples";
    if (part.recording.sources.empty())
        part.recording.sources.push_back({ .kind = SourceKind::Recording });
    RecordedSource &source = part.recording.sources.front();
    source.notes.push_back(part.sentence);
    if (spansLost > 0)
        source.dropped.push_back({ "spans and collectives that the disk had no room for", spansLost });
    if (samplesLost > 0)
        source.dropped.push_back({ "samples that the disk had no room for", samplesLost });
    return part;
}

} // namespace

Expected<std::string> writeWhatFits(const Recording &recording, const std::string &path, const SourceOptions &options)
{
    Expected<void> written = writeRecording(recording, path, options);
    if (written)
        return std::string();
    for (double spans = kLess, samples = 1; !written && written.error().code == ErrorCode::NoRoom;) {
        Part part = latestOf(recording, spans, samples);
        written = writeRecording(part.recording, path, options);
        if (written)
            return std::move(part.sentence);
        if (spans > 0)
            spans = spans * kLess > kLeastShare ? spans * kLess : 0;
        else if (samples > kLeastShare)
            samples *= kLess;
        else
            break;
    }
    return std::unexpected(written.error());
}

} // namespace trainyard

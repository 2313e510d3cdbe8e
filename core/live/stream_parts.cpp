// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/stream_parts.h"

#include "core/live/recording_slices.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

namespace trainyard::live {

namespace {

constexpr std::int64_t kFarthestApart = 250'000'000; // ns: events whose ends lie further apart do not share a line

/// Where a collective is drawn exactly as it was, its span is told with it.
bool isDrawn(const RankRecording &rank, const RecordedCollective &one)
{
    if (one.stream >= rank.streams.size() || one.span >= rank.streams[one.stream].spans.size())
        return false;
    const RecordedStream &stream = rank.streams[one.stream];
    const RecordedSpans &spans = stream.spans;
    return (!stream.label.empty() || stream.stream != 0) && spans.start[one.span] == one.start
        && spans.duration[one.span] == one.duration;
}

} // namespace

StreamParts::StreamParts(const Recording &recording, std::size_t most)
    : m_recording(recording)
    , m_most(std::max<std::size_t>(most, 1))
{
    collect();
}

/// Cuts `order`, which is sorted by the ends of its events.
template <class End> void StreamParts::cut(StreamPart part, std::vector<std::uint32_t> order, const End &end)
{
    part.order = static_cast<std::uint32_t>(m_orders.size());
    const auto stepOf = [&](Moment at) { return std::ranges::lower_bound(m_stepEnds, at) - m_stepEnds.begin(); };
    for (std::uint32_t i = 0; i < order.size(); i += part.count) {
        const Moment first = end(order[i]);
        const auto step = stepOf(first);
        part.first = i;
        part.count = 1;
        while (i + part.count < order.size() && part.count < m_most
            && end(order[i + part.count]) - first <= kFarthestApart && stepOf(end(order[i + part.count])) == step)
            ++part.count;
        part.at = end(order[i + part.count - 1]);
        m_parts.push_back(part);
    }
    m_orders.push_back(std::move(order));
}

void StreamParts::collect()
{
    for (std::uint32_t r = 0; r < m_recording.ranks.size(); ++r) {
        const RankRecording &rank = m_recording.ranks[r];
        m_stepEnds.clear();
        for (const RecordedStep &step : rank.steps)
            m_stepEnds.push_back(step.end);
        std::ranges::sort(m_stepEnds);
        std::vector<std::vector<bool>> isTold(rank.streams.size()); // with their collectives
        for (std::size_t s = 0; s < rank.streams.size(); ++s)
            isTold[s].resize(rank.streams[s].spans.size());
        collectCollectives(r, isTold);
        for (std::uint32_t s = 0; s < rank.streams.size(); ++s)
            collectSpans(r, s, isTold[s]);
        for (std::uint32_t i = 0; i < rank.steps.size(); ++i)
            m_parts.push_back({ rank.steps[i].end, StreamPartKind::Step, r, 0, 0, i, 1 });
    }
    collectSamples();
    std::ranges::stable_sort(m_parts, {}, [](const StreamPart &part) { return std::pair(part.at, part.kind); });
}

void StreamParts::collectSpans(std::uint32_t r, std::uint32_t s, const std::vector<bool> &isTold)
{
    const RecordedSpans &spans = m_recording.ranks[r].streams[s].spans;
    const auto end = [&](std::uint32_t i) { return spans.start[i] + spans.duration[i]; };
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < spans.size(); ++i)
        if (!isTold[i])
            order.push_back(i);
    std::ranges::stable_sort(order, {}, end);
    cut({ .kind = StreamPartKind::Spans, .owner = r, .list = s }, std::move(order), end);
}

/// Those of one stream together, and those of none.
void StreamParts::collectCollectives(std::uint32_t r, std::vector<std::vector<bool>> &isTold)
{
    const RankRecording &rank = m_recording.ranks[r];
    std::map<std::uint32_t, std::vector<std::uint32_t>> byStream;
    for (std::uint32_t i = 0; i < rank.collectives.size(); ++i) {
        const RecordedCollective &one = rank.collectives[i];
        const bool isWithSpan = isDrawn(rank, one) && !isTold[one.stream][one.span];
        byStream[isWithSpan ? one.stream : kNoIndex].push_back(i);
        if (isWithSpan)
            isTold[one.stream][one.span] = true;
    }
    const auto end = [&](std::uint32_t i) { return rank.collectives[i].start + rank.collectives[i].duration; };
    for (auto &[stream, order] : byStream) {
        std::ranges::stable_sort(order, {}, end);
        cut({ .kind = StreamPartKind::Collectives, .owner = r, .list = stream }, std::move(order), end);
    }
}

void StreamParts::collectSamples()
{
    const std::unordered_map<std::int64_t, Moment> ended = stepEnds(m_recording);
    m_stepEnds.clear();
    for (std::uint32_t s = 0; s < m_recording.series.size(); ++s) {
        const SampleSeries &series = m_recording.series[s];
        std::vector<std::uint32_t> order(series.at.size());
        std::iota(order.begin(), order.end(), 0u);
        Moment last = 0;
        std::vector<Moment> ends;
        for (const Moment at : series.at) {
            const auto step = series.isByStep ? ended.find(at) : ended.end();
            last = !series.isByStep ? at : step != ended.end() ? step->second : last;
            ends.push_back(last);
        }
        std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return ends[i]; });
        cut({ .kind = StreamPartKind::Samples, .owner = s }, std::move(order),
            [&](std::uint32_t i) { return ends[i]; });
    }
}

} // namespace trainyard::live

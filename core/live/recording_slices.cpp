// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/recording_slices.h"

#include "core/base/units.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace trainyard::live {

namespace {

constexpr double kUsualStep = 1; // s, where nobody tells one
constexpr Moment kLongestRun = Moment(100) * 365 * 86'400 * kNanosecondsPerSecond;
constexpr std::size_t kMostStreams = std::numeric_limits<std::uint16_t>::max();

const SampleSeries *seriesNamed(const Recording &recording, std::string_view name, bool isByStep)
{
    const auto known = std::ranges::find_if(recording.series,
        [&](const SampleSeries &series) { return series.name == name && series.isByStep == isByStep; });
    return known != recording.series.end() ? &*known : nullptr;
}

} // namespace

Moment firstMoment(const Recording &recording)
{
    Moment first = std::numeric_limits<Moment>::max();
    for (const RankRecording &rank : recording.ranks) {
        for (const RecordedStream &stream : rank.streams)
            if (stream.spans.size() > 0)
                first = std::min(first, stream.spans.start.front());
        for (const RecordedCollective &own : rank.collectives)
            first = std::min(first, own.start);
        for (const RecordedStep &step : rank.steps)
            first = std::min(first, step.start);
    }
    for (const SampleSeries &series : recording.series)
        if (!series.isByStep && !series.at.empty())
            first = std::min(first, series.at.front());
    return first != std::numeric_limits<Moment>::max() ? first : 0;
}

std::unordered_map<std::int64_t, Moment> stepEnds(const Recording &recording)
{
    std::unordered_map<std::int64_t, Moment> ends;
    for (const RankRecording &rank : recording.ranks)
        for (const RecordedStep &step : rank.steps) {
            const auto [known, isNew] = ends.try_emplace(step.number, step.end);
            known->second = std::max(known->second, step.end);
        }
    const SampleSeries *ended = seriesNamed(recording, samples::kStepEnded, false);
    for (std::size_t i = 0; ended && i < std::min(ended->at.size(), ended->value.size()); ++i)
        if (std::abs(ended->value[i]) < 9e15)
            ends.try_emplace(static_cast<std::int64_t>(ended->value[i]), ended->at[i]);
    // Steps that have no moment of their own follow the one before
    std::set<std::int64_t> all;
    for (const SampleSeries &series : recording.series)
        if (series.isByStep)
            all.insert(series.at.begin(), series.at.end());
    std::unordered_map<std::int64_t, double> lengths;
    if (const SampleSeries *times = seriesNamed(recording, samples::kStepTime, true))
        for (std::size_t i = 0; i < std::min(times->at.size(), times->value.size()); ++i)
            lengths[times->at[i]] = times->value[i];
    Moment at = firstMoment(recording);
    const Moment longest = at + kLongestRun;
    std::int64_t before = all.empty() ? 0 : *all.begin();
    for (const std::int64_t step : all) {
        const auto length = lengths.find(step);
        double seconds =
            length != lengths.end() && length->second > 0 && length->second < 1e6 ? length->second : kUsualStep;
        seconds *= static_cast<double>(std::clamp<std::int64_t>(step - before, 0, 100'000));
        at = ends.try_emplace(step, std::min(at + static_cast<Moment>(seconds * kNanosecondsPerSecond), longest))
                 .first->second;
        before = step;
    }
    return ends;
}

RecordingSlices::RecordingSlices(const Recording &recording)
    : m_recording(recording)
{
    m_begin = std::numeric_limits<Moment>::max();
    addRanks();
    addSeries();
    std::ranges::stable_sort(m_events, {}, &Event::at);
    if (m_events.empty())
        m_begin = m_end = 0;
    else
        m_end = m_events.back().at;
}

void RecordingSlices::addRanks()
{
    for (std::uint32_t r = 0; r < m_recording.ranks.size(); ++r) {
        const RankRecording &rank = m_recording.ranks[r];
        for (std::size_t s = 0; s < std::min(rank.streams.size(), kMostStreams); ++s) {
            const RecordedSpans &spans = rank.streams[s].spans;
            for (std::uint32_t i = 0; i < spans.size(); ++i) {
                m_begin = std::min(m_begin, spans.start[i]);
                m_events.push_back(
                    { spans.start[i] + spans.duration[i], r, i, static_cast<std::uint16_t>(s), Kind::Span });
            }
        }
        for (std::uint32_t i = 0; i < rank.collectives.size(); ++i) {
            const RecordedCollective &own = rank.collectives[i];
            m_begin = std::min(m_begin, own.start);
            m_events.push_back({ own.start + own.duration, r, i, 0, Kind::Collective });
        }
        for (std::uint32_t i = 0; i < rank.steps.size(); ++i) {
            m_begin = std::min(m_begin, rank.steps[i].start);
            m_events.push_back({ rank.steps[i].end, r, i, 0, Kind::Step });
        }
    }
}

void RecordingSlices::addSeries()
{
    const auto ends = stepEnds(m_recording);
    for (std::uint32_t s = 0; s < m_recording.series.size(); ++s) {
        const SampleSeries &series = m_recording.series[s];
        for (std::uint32_t i = 0; i < std::min(series.at.size(), series.value.size()); ++i) {
            const Moment at = series.isByStep ? ends.at(series.at[i]) : series.at[i];
            m_begin = std::min(m_begin, at);
            m_events.push_back({ at, s, i, 0, Kind::Sample });
        }
    }
}

/// All of the recording but what happened.
Recording RecordingSlices::facts() const
{
    Recording part;
    part.name = m_recording.name;
    part.zero = m_recording.zero;
    part.sources = m_recording.sources;
    part.groups = m_recording.groups;
    for (const RankRecording &rank : m_recording.ranks) {
        RankRecording &own = part.ranks.emplace_back();
        own.rank = rank.rank;
        own.worldSize = rank.worldSize;
        own.source = rank.source;
        own.host = rank.host;
        own.gpu = rank.gpu;
        own.timeBase = rank.timeBase;
        own.clockOffset = rank.clockOffset;
        own.clockDrift = rank.clockDrift;
    }
    part.benchmarks = m_recording.benchmarks;
    part.kernels = m_recording.kernels;
    part.arguments = m_recording.arguments;
    part.argumentsOf = m_recording.argumentsOf;
    part.models = m_recording.models;
    part.nodes = m_recording.nodes;
    part.switches = m_recording.switches;
    part.prices = m_recording.prices;
    part.alignedAt = m_recording.alignedAt;
    return part;
}

/// One slice while it is filled: names, groups, ranks and series are numbered anew, those that it needs.
class RecordingSlices::Filling {
public:
    Filling(const Recording &whole, Recording &part, bool hasFacts)
        : m_whole(whole)
        , m_part(part)
        , m_hasFacts(hasFacts)
    {
    }

    void add(const Event &event)
    {
        switch (event.kind) {
        case Kind::Span:
            return addSpan(event);
        case Kind::Collective:
            return addCollective(m_whole.ranks[event.owner].collectives[event.index], event.owner);
        case Kind::Step:
            return rank(event.owner).steps.push_back(m_whole.ranks[event.owner].steps[event.index]);
        case Kind::Sample:
            return addSample(m_whole.series[event.owner], event);
        }
    }

private:
    using Place = std::pair<std::uint32_t, std::uint32_t>; // rank and stream of the whole

    RankRecording &rank(std::uint32_t index)
    {
        if (m_hasFacts)
            return m_part.ranks[index];
        const auto [known, isNew] = m_ranks.try_emplace(index, static_cast<std::uint32_t>(m_part.ranks.size()));
        if (isNew) {
            const RankRecording &own = m_whole.ranks[index];
            RankRecording &made = m_part.ranks.emplace_back();
            made.rank = own.rank;
            made.worldSize = own.worldSize;
            made.host = own.host;
            made.gpu = own.gpu;
        }
        return m_part.ranks[known->second];
    }

    std::uint32_t name(std::uint32_t index)
    {
        if (index >= m_whole.names.size())
            return kNoIndex;
        const auto [known, isNew] = m_names.try_emplace(index, static_cast<std::uint32_t>(m_part.names.size()));
        if (isNew)
            m_part.names.push_back(m_whole.names[index]);
        return known->second;
    }

    std::uint32_t group(std::uint32_t index)
    {
        if (index >= m_whole.groups.size())
            return kNoIndex;
        if (m_hasFacts)
            return index;
        const auto [known, isNew] = m_groups.try_emplace(index, static_cast<std::uint32_t>(m_part.groups.size()));
        if (isNew)
            m_part.groups.push_back(m_whole.groups[index]);
        return known->second;
    }

    std::uint32_t stream(std::uint32_t rankIndex, std::uint32_t index)
    {
        RankRecording &own = rank(rankIndex);
        const auto [known, isNew] =
            m_streams.try_emplace({ rankIndex, index }, static_cast<std::uint32_t>(own.streams.size()));
        if (isNew) {
            const RecordedStream &of = m_whole.ranks[rankIndex].streams[index];
            RecordedStream &made = own.streams.emplace_back();
            made.isGpu = of.isGpu;
            made.device = of.device;
            made.stream = of.stream;
            made.label = of.label;
            made.namesGpuStream = of.namesGpuStream;
        }
        return known->second;
    }

    void addSpan(const Event &event)
    {
        const RecordedSpans &from = m_whole.ranks[event.owner].streams[event.stream].spans;
        RecordedSpans &to = rank(event.owner).streams[stream(event.owner, event.stream)].spans;
        m_spans[{ { event.owner, event.stream }, event.index }] = static_cast<std::uint32_t>(to.size());
        to.start.push_back(from.start[event.index]);
        to.duration.push_back(from.duration[event.index]);
        to.name.push_back(name(from.name[event.index]));
        to.work.push_back(from.work[event.index]);
        if (!from.launch.empty())
            to.launch.push_back(from.launch[event.index]);
        if (!from.launchedAt.empty())
            to.launchedAt.push_back(from.launchedAt[event.index]);
        if (!from.shape.empty())
            to.shape.push_back(from.shape[event.index] == kNoIndex ? kNoIndex : name(from.shape[event.index]));
    }

    void addCollective(RecordedCollective own, std::uint32_t rankIndex)
    {
        const auto drawn = m_spans.find({ { rankIndex, own.stream }, own.span });
        own.group = group(own.group);
        own.operation = name(own.operation);
        own.span = drawn != m_spans.end() ? drawn->second : kNoIndex;
        own.stream = drawn != m_spans.end() ? stream(rankIndex, own.stream) : kNoIndex;
        rank(rankIndex).collectives.push_back(own);
    }

    void addSample(const SampleSeries &from, const Event &event)
    {
        const auto [known, isNew] = m_series.try_emplace(event.owner, static_cast<std::uint32_t>(m_part.series.size()));
        if (isNew) {
            SampleSeries &made = m_part.series.emplace_back();
            made.name = from.name;
            made.unit = from.unit;
            made.rank = from.rank;
            made.where = from.where;
            made.isByStep = from.isByStep;
            made.source = m_hasFacts ? from.source : kNoIndex;
        }
        SampleSeries &to = m_part.series[known->second];
        to.at.push_back(from.at[event.index]);
        to.value.push_back(from.value[event.index]);
    }

    const Recording &m_whole;
    Recording &m_part;
    const bool m_hasFacts;
    std::unordered_map<std::uint32_t, std::uint32_t> m_ranks, m_names, m_groups, m_series;
    std::map<Place, std::uint32_t> m_streams;
    std::map<std::pair<Place, std::uint32_t>, std::uint32_t> m_spans;
};

Recording RecordingSlices::next(Moment until, std::size_t most)
{
    Recording part;
    const bool hasFacts = !m_isBegun;
    if (hasFacts)
        part = facts();
    part.zero = m_recording.zero;
    m_isBegun = true;
    Filling filling(m_recording, part, hasFacts);
    Moment last = std::numeric_limits<Moment>::min();
    // what ends at one moment stays together: a collective and the span that shows it
    for (std::size_t taken = 0; m_next < m_events.size(); ++taken, ++m_next) {
        const Event &event = m_events[m_next];
        if (event.at > until || (taken >= most && event.at != last) || taken >= 2 * most)
            break;
        last = event.at;
        filling.add(event);
    }
    return part;
}

void RecordingSlices::rewind()
{
    m_next = 0;
    m_isBegun = false;
}

} // namespace trainyard::live

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/decoders/batch_maker.h"

#include "core/base/printable.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace trainyard::live {

namespace {

constexpr std::size_t kMostName = 1'000; // bytes of a name
constexpr std::size_t kMostValue = 64'000; // of an argument
constexpr std::size_t kMostNotes = 40;
constexpr std::size_t kMostStreams = 65'536; // of all ranks of a connection
constexpr std::size_t kMostGroupRanks = std::size_t(1) << 22; // of all groups
constexpr std::size_t kMostTextBytes = std::size_t(16) << 20; // of one table
constexpr std::size_t kOfText = 144; // bytes of one in a table beside its own, about
constexpr std::int64_t kLatest = 4'000'000'000'000'000'000; // the year 2096
constexpr std::int64_t kMostStep = std::int64_t(1) << 53;
constexpr const char *kNoTime = "events at times that cannot be";

bool isTime(Moment at)
{
    return at >= 0 && at < kLatest;
}

bool isDuration(std::int64_t duration)
{
    return duration >= 0 && duration < kLatest / 16;
}

std::string kept(std::string_view name)
{
    return name.size() <= kMostName ? std::string(name) : shortened(name, kMostName);
}

void append(std::string &key, std::int64_t number)
{
    char digits[24];
    const auto written = std::to_chars(digits, digits + sizeof digits, number);
    key.append(digits, written.ptr).push_back('\x01');
}

} // namespace

BatchMaker::BatchMaker(std::string name, SourceKind kind, const DecoderLimits &limits)
    : m_file(std::move(name))
    , m_kind(kind)
    , m_limits(limits)
    , m_names(limits.names, kMostTextBytes)
    , m_groupNames(limits.groups, kMostTextBytes)
    , m_speakers(limits.ranks, kMostTextBytes)
    , m_argumentNames(limits.names, kMostTextBytes)
{
    m_part.sources.push_back({ .file = m_file, .kind = m_kind });
}

void BatchMaker::setRun(std::string_view name)
{
    m_part.name = kept(name);
    m_isTold = true;
}

std::optional<std::uint32_t> BatchMaker::numberOf(Interner &texts, std::string_view text, std::size_t bytes)
{
    if (const auto known = texts.find(text))
        return known;
    if (!m_room.take(kOfText + text.size() + bytes))
        return std::nullopt;
    const auto number = texts(text);
    if (!number)
        m_room.giveBack(kOfText + text.size() + bytes);
    return number;
}

bool BatchMaker::replace(std::string &held, std::string with)
{
    if (with.size() > held.size() && !m_room.take(with.size() - held.size()))
        return false;
    if (with.size() < held.size())
        m_room.giveBack(held.size() - with.size());
    held = std::move(with);
    return true;
}

BatchMaker::KnownRank *BatchMaker::known(const Speaker &who)
{
    m_key.clear();
    append(m_key, who.rank);
    m_key += who.host.substr(0, kMostName);
    const auto number = numberOf(m_speakers, m_key, sizeof(KnownRank) + std::min(who.host.size(), kMostName));
    if (!number) {
        drop("events of more ranks than a connection may speak for");
        return nullptr;
    }
    if (*number == m_ranks.size())
        m_ranks.push_back({ .rank = { .rank = who.rank, .source = 0, .host = kept(who.host) } });
    return &m_ranks[*number];
}

bool BatchMaker::setRank(const Speaker &who, int worldSize, std::string_view gpu)
{
    KnownRank *at = known(who);
    if (!at)
        return false;
    at->rank.worldSize = worldSize;
    if (at->rank.gpu != gpu && !replace(at->rank.gpu, kept(gpu)))
        drop("names of GPUs that there is no room for");
    (void)rank(who); // told, before it has done anything
    m_isTold = true;
    return true;
}

void BatchMaker::addArgument(std::string_view name, std::string_view value)
{
    if (name.size() > kMostName || value.size() > kMostValue || !numberOf(m_argumentNames, name, 0))
        return drop("arguments that are too long or too many");
    m_part.arguments.insert_or_assign(std::string(name), std::string(value));
    m_isTold = true;
}

std::uint32_t BatchMaker::rank(const Speaker &who)
{
    KnownRank *at = known(who);
    if (!at)
        return kNoIndex;
    if (!isPlaced(at->placed)) {
        at->placed = { m_batch, static_cast<std::uint32_t>(m_part.ranks.size()) };
        m_part.ranks.push_back(at->rank);
        m_rankOf.push_back(static_cast<std::uint32_t>(at - m_ranks.data()));
    }
    RankRecording &placed = m_part.ranks[at->placed.place];
    placed.worldSize = at->rank.worldSize;
    if (placed.gpu != at->rank.gpu)
        placed.gpu = at->rank.gpu;
    return at->placed.place;
}

std::uint32_t BatchMaker::stream(std::uint32_t rank, const StreamAsked &asked)
{
    KnownRank &of = m_ranks[m_rankOf[rank]];
    const std::string_view label = asked.label.substr(0, kMostName);
    auto at = std::ranges::find_if(of.streams, [&](const KnownStream &one) {
        return one.stream.label == label && one.stream.isGpu == asked.isGpu && one.stream.device == asked.device
            && one.stream.stream == asked.stream;
    });
    if (at == of.streams.end()) {
        if (m_streamCount >= kMostStreams || of.streams.size() >= 1'024
            || !m_room.take(sizeof(KnownStream) + label.size())) {
            drop("events of more streams than a connection may have");
            return kNoIndex;
        }
        ++m_streamCount;
        of.streams.push_back({ { asked.isGpu, asked.device, asked.stream, std::string(label), false, {} }, {} });
        at = of.streams.end() - 1;
    }
    if (!isPlaced(at->placed)) {
        std::vector<RecordedStream> &streams = m_part.ranks[rank].streams;
        at->placed = { m_batch, static_cast<std::uint32_t>(streams.size()) };
        streams.push_back(at->stream);
    }
    return at->placed.place;
}

std::uint32_t BatchMaker::name(std::string_view text)
{
    std::string shorter;
    if (text.size() > kMostName)
        text = shorter = shortened(text, kMostName);
    auto number = numberOf(m_names, text, sizeof(Placed));
    if (!number) {
        note(m_names.size() < m_limits.names ? std::string("There is no room for further names: they have none")
                                             : "It names more than " + std::to_string(m_limits.names)
                    + " different things: further ones have no name");
        number = m_names("");
        if (!number)
            number = 0;
    }
    if (*number >= m_namePlaces.size())
        m_namePlaces.resize(*number + 1);
    Placed &placed = m_namePlaces[*number];
    if (!isPlaced(placed)) {
        placed = { m_batch, static_cast<std::uint32_t>(m_part.names.size()) };
        m_part.names.push_back(m_names.size() > *number ? m_names[*number] : std::string());
    }
    return placed.place;
}

std::uint32_t BatchMaker::group(std::string_view name)
{
    const std::string_view own = name.substr(0, kMostName);
    const auto number = numberOf(m_groupNames, own, sizeof(KnownGroup) + own.size());
    if (!number)
        return drop("groups beyond those that a connection may name"), kNoIndex;
    if (*number == m_groups.size())
        m_groups.push_back({ { m_groupNames[*number], {}, {} }, {} });
    KnownGroup &at = m_groups[*number];
    if (!isPlaced(at.placed)) {
        at.placed = { m_batch, static_cast<std::uint32_t>(m_part.groups.size()) };
        m_part.groups.push_back(at.group);
    }
    return at.placed.place;
}

void BatchMaker::setGroup(std::string_view name, std::string_view description, std::span<const std::int64_t> ranks)
{
    const auto isRank = [](std::int64_t rank) { return rank >= 0 && rank < (1 << 24); };
    if (!std::ranges::all_of(ranks, isRank))
        return drop("groups of ranks that cannot be");
    const std::string_view own = name.substr(0, kMostName);
    const auto number = numberOf(m_groupNames, own, sizeof(KnownGroup) + own.size());
    if (!number)
        return drop("groups beyond those that a connection may name");
    if (*number == m_groups.size())
        m_groups.push_back({ { m_groupNames[*number], {}, {} }, {} });
    KnownGroup &at = m_groups[*number];
    m_groupRanks -= at.group.ranks.size();
    m_room.giveBack(at.group.ranks.size() * sizeof(int));
    std::vector<int>().swap(at.group.ranks);
    if (m_groupRanks + ranks.size() > kMostGroupRanks || !m_room.take(ranks.size() * sizeof(int)))
        return drop("groups of more ranks than a connection may name");
    m_groupRanks += ranks.size();
    at.group.ranks.assign(ranks.begin(), ranks.end());
    if (!replace(at.group.description, kept(description)))
        drop("descriptions of groups that there is no room for");
    if (!isPlaced(at.placed) || m_part.groups[at.placed.place] != at.group) { // what was told before stays what it was
        at.placed = { m_batch, static_cast<std::uint32_t>(m_part.groups.size()) };
        m_part.groups.push_back(at.group);
    }
    m_isTold = true;
}

std::uint32_t BatchMaker::series(SeriesSought asked)
{
    std::string shorter[3];
    std::size_t bytes = kOfText + sizeof(KnownSeries), count = 0;
    std::size_t textBytes = 0;
    for (std::string_view *text : { &asked.name, &asked.unit, &asked.where })
        if (text->size() > kMostName)
            *text = shorter[count++] = kept(*text);
    auto known = m_seriesOf.find(asked);
    if (known == m_seriesOf.end()) {
        for (const std::string_view text : { asked.name, asked.unit, asked.where })
            textBytes += m_seriesTexts.bytesFor(text);
        if (m_series.size() >= m_limits.names || m_seriesTexts.bytes() + textBytes > kMostTextBytes
            || !m_room.take(bytes + textBytes))
            return drop("samples of more series than a connection may name"), kNoIndex;
        SampleSeries made { m_seriesTexts(asked.name), m_seriesTexts(asked.unit), asked.rank,
            m_seriesTexts(asked.where), asked.isByStep };
        made.source = 0;
        known = m_seriesOf.emplace(SeriesKey(made), static_cast<std::uint32_t>(m_series.size())).first;
        m_series.push_back({ std::move(made), {} });
    }
    KnownSeries &at = m_series[known->second];
    if (!isPlaced(at.placed)) {
        at.placed = { m_batch, static_cast<std::uint32_t>(m_part.series.size()) };
        m_part.series.push_back(at.series);
    }
    return at.placed.place;
}

Moment BatchMaker::moved(Moment unix)
{
    if (!m_hasZero) {
        m_part.zero = unix;
        m_hasZero = true;
    }
    return unix - m_part.zero;
}

void BatchMaker::addStep(std::uint32_t rank, std::int64_t number, Moment start, Moment end)
{
    if (!isTime(start) || !isTime(end) || end < start || number <= -kMostStep || number >= kMostStep)
        return drop(kNoTime);
    m_part.ranks[rank].steps.push_back({ number, moved(start), moved(end) });
    ++m_events;
}

std::uint32_t BatchMaker::addSpan(std::uint32_t rank, std::uint32_t stream, const SpanAsked &asked)
{
    if (!isTime(asked.start) || !isDuration(asked.duration)
        || (asked.launched != kNoMoment && !isTime(asked.launched))) {
        drop(kNoTime);
        return kNoIndex;
    }
    RecordedSpans &spans = m_part.ranks[rank].streams[stream].spans;
    const auto place = static_cast<std::uint32_t>(spans.size());
    if (asked.launched != kNoMoment && spans.launchedAt.empty())
        spans.launchedAt.assign(place, kNoMoment);
    spans.start.push_back(moved(asked.start));
    spans.duration.push_back(asked.duration);
    spans.name.push_back(asked.name);
    spans.work.push_back(asked.work);
    if (asked.launched != kNoMoment || !spans.launchedAt.empty())
        spans.launchedAt.push_back(asked.launched == kNoMoment ? kNoMoment : moved(asked.launched));
    ++m_events;
    return place;
}

void BatchMaker::addCollective(std::uint32_t rank, RecordedCollective collective)
{
    if (!isTime(collective.start) || !isDuration(collective.duration))
        return drop(kNoTime);
    if (!std::isfinite(collective.bytes) || collective.bytes < 0)
        return drop("collectives of a size that cannot be");
    collective.start = moved(collective.start);
    m_part.ranks[rank].collectives.push_back(collective);
    ++m_events;
}

void BatchMaker::addSample(std::uint32_t series, Moment at, double value)
{
    SampleSeries &to = m_part.series[series];
    if (to.isByStep ? at <= -kMostStep || at >= kMostStep : !isTime(at))
        return drop(kNoTime);
    to.at.push_back(to.isByStep ? at : moved(at));
    to.value.push_back(value);
    ++m_events;
}

void BatchMaker::drop(std::string_view reason, std::int64_t count)
{
    auto &dropped = m_part.sources.front().dropped;
    const auto at = std::ranges::find(dropped, reason, &Dropped::reason);
    if (at != dropped.end())
        at->count += count;
    else
        dropped.push_back({ std::string(reason), count });
    m_isTold = true;
}

void BatchMaker::note(std::string sentence)
{
    sentence = shortened(printable(sentence), 400);
    if (m_notes.size() >= kMostNotes || std::ranges::find(m_notes, sentence) != m_notes.end())
        return;
    m_part.sources.front().notes.push_back(sentence);
    m_notes.push_back(std::move(sentence));
    m_isTold = true;
}

bool BatchMaker::isEmpty() const
{
    return m_events == 0 && !m_isTold;
}

Batch BatchMaker::take(Moment received)
{
    Batch batch { .received = received, .part = std::move(m_part) };
    RecordedSource &source = batch.part.sources.front();
    source.taken = static_cast<std::int64_t>(m_events);
    source.bytes = m_bytes;
    m_part = {};
    m_part.sources.push_back({ .file = m_file, .kind = m_kind });
    m_rankOf.clear();
    m_hasZero = m_isTold = false;
    m_events = 0;
    m_bytes = 0;
    ++m_batch;
    return batch;
}

} // namespace trainyard::live

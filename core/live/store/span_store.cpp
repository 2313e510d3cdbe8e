// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/store/span_store.h"

#include "core/live/store/moments.h"

#include <algorithm>
#include <cmath>

namespace trainyard::live {

namespace {

constexpr std::size_t kMostStreams = 262'144; // of all ranks
constexpr std::size_t kMostLate = 65'536; // of a list, until they are put in order
constexpr std::int64_t kMostDuration = std::int64_t(1) << 60;

/// A clock that is a day ahead of ours does not say what is the latest.
void hear(StoredRank &rank, const Batch &batch, Moment at)
{
    if (isBelievable(at, batch.received))
        rank.latest = std::max(rank.latest, at);
}

} // namespace

SpanStore::SpanStore(const StoreLimits &limits)
    : m_limits(limits)
    , m_names(std::make_unique<Interner>(limits.names, mostNameBytes))
{
}

void SpanStore::take(const Batch &batch, std::uint32_t source, Sums &sums, const std::function<void(std::string)> &note)
{
    mapNames(batch.part);
    mapGroups(batch.part);
    for (const RankRecording &rank : batch.part.ranks)
        takeRank(batch, rank, source, sums, note);
    if (isFull())
        settle(sums);
}

StoredRank *SpanStore::rankOf(const RankRecording &rank, std::uint32_t batchSource, std::uint32_t source)
{
    std::tuple key(rank.rank, rank.host, rank.rank < 0 ? batchSource : 0);
    const auto known = m_rankIndex.find(key);
    if (known != m_rankIndex.end())
        return &m_ranks[known->second];
    // Whoever tells no host speaks of the rank that is there, or is named by the first that does.
    const auto near = m_rankIndex.lower_bound({ rank.rank, std::string(), 0 });
    if (rank.rank >= 0 && near != m_rankIndex.end() && std::get<int>(near->first) == rank.rank) {
        const std::uint32_t place = near->second;
        if (rank.host.empty())
            return &m_ranks[place];
        if (m_ranks[place].rank.host.empty()) {
            m_rankIndex.erase(near);
            m_rankIndex.emplace(std::move(key), place);
            m_ranks[place].rank.host = rank.host;
            return &m_ranks[place];
        }
    }
    if (m_ranks.size() >= m_limits.ranks)
        return nullptr;
    m_rankIndex.emplace(std::move(key), static_cast<std::uint32_t>(m_ranks.size()));
    StoredRank &made = m_ranks.emplace_back();
    made.rank.rank = rank.rank;
    made.rank.host = rank.host;
    made.rank.source = source;
    return &made;
}

void SpanStore::takeRank(const Batch &batch, const RankRecording &rank, std::uint32_t source, Sums &sums,
    const std::function<void(std::string)> &note)
{
    const std::size_t known = m_ranks.size();
    StoredRank *to = rank.rank < -1 || rank.rank >= (1 << 24) ? nullptr : rankOf(rank, batch.source, source);
    if (!to) {
        sums.manyRanks += static_cast<std::int64_t>(rank.steps.size() + rank.collectives.size());
        for (const RecordedStream &stream : rank.streams)
            sums.manyRanks += static_cast<std::int64_t>(stream.spans.size());
        return;
    }
    if (m_ranks.size() > known && rank.rank >= 0)
        for (auto at = m_rankIndex.lower_bound({ rank.rank, std::string(), 0 });
             at != m_rankIndex.end() && std::get<int>(at->first) == rank.rank; ++at)
            if (const std::string &host = std::get<std::string>(at->first); host != rank.host)
                note("Rank " + std::to_string(rank.rank) + " is told by two hosts, \"" + host + "\" and \"" + rank.host
                    + "\": both are kept");
    to->heard = std::max(to->heard, batch.received);
    if (rank.worldSize > 0 && rank.worldSize <= (1 << 24))
        to->rank.worldSize = rank.worldSize;
    if (!rank.gpu.empty() && to->rank.gpu != rank.gpu)
        to->rank.gpu = rank.gpu;
    takeSteps(*to, batch, rank, sums, note);
    std::vector<std::uint32_t> streams;
    for (const RecordedStream &stream : rank.streams) {
        const std::uint32_t place = streamOf(*to, stream);
        streams.push_back(place);
        if (place == kNoIndex)
            sums.manyStreams += static_cast<std::int64_t>(stream.spans.size());
        else
            takeSpans(*to, place, batch, stream.spans, sums);
    }
    takeCollectives(*to, streams, batch, rank, sums);
    m_latest = std::max(m_latest, to->latest);
}

void SpanStore::takeSteps(StoredRank &to, const Batch &batch, const RankRecording &rank, Sums &sums,
    const std::function<void(std::string)> &note)
{
    const std::size_t before = to.steps.size();
    for (const RecordedStep &step : rank.steps) {
        const auto start = unixOf(batch.part.zero, step.start), end = unixOf(batch.part.zero, step.end);
        if (!start || !end || *end < *start || step.number <= -kMostStep || step.number >= kMostStep) {
            ++sums.timeless;
            continue;
        }
        const auto answer = to.steps.add({ step.number, *start, *end }, m_limits.reorder);
        (answer.taken == StepHistory::Taken::Again ? sums.duplicates : sums.events) += 1;
        hear(to, batch, *end);
        if (answer.wentBack > 0)
            note("The clock of rank " + std::to_string(rank.rank) + " went back by "
                + std::to_string(answer.wentBack / 1'000'000'000) + " s at step " + std::to_string(step.number));
        if (!answer.superseded)
            continue;
        for (StoredStream &stream : to.streams)
            remove(stream.spans, *answer.superseded, m_spans, sums);
        remove(to.collectives, *answer.superseded, m_collectives, sums);
    }
    m_steps += to.steps.size() - before;
    if (m_steps <= m_limits.steps)
        return;
    const std::size_t most = std::max<std::size_t>(m_limits.steps / m_ranks.size() * 7 / 8, 1);
    m_steps = 0;
    for (StoredRank &one : m_ranks) {
        one.steps.keepLatest(most);
        m_steps += one.steps.size();
    }
}

std::uint32_t SpanStore::streamOf(StoredRank &rank, const RecordedStream &stream)
{
    std::tuple key(stream.label, stream.isGpu, stream.device, stream.stream);
    if (const auto known = rank.streamIndex.find(key); known != rank.streamIndex.end())
        return known->second;
    if (m_streams >= kMostStreams)
        return kNoIndex;
    ++m_streams;
    const auto place = static_cast<std::uint32_t>(rank.streams.size());
    rank.streamIndex.emplace(std::move(key), place);
    rank.streams.push_back(
        { { stream.isGpu, stream.device, stream.stream, stream.label, stream.namesGpuStream, {} }, {} });
    return place;
}

void SpanStore::takeSpans(
    StoredRank &to, std::uint32_t stream, const Batch &batch, const RecordedSpans &spans, Sums &sums)
{
    SettledList<StoredSpan> &list = to.streams[stream].spans;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        const auto start = unixOf(batch.part.zero, spans.start[i]);
        if (!start || spans.duration[i] < 0 || spans.duration[i] > kMostDuration) {
            ++sums.timeless;
            continue;
        }
        if (*start < to.horizon) {
            ++sums.late;
            continue;
        }
        const Moment told = spans.launchedAt.empty() ? kNoMoment : spans.launchedAt[i];
        list.add({ *start, spans.duration[i],
            told == kNoMoment ? kNoMoment : unixOf(batch.part.zero, told).value_or(kNoMoment), m_nameOf[spans.name[i]],
            spans.work[i] });
        hear(to, batch, *start + spans.duration[i]);
        ++sums.events;
        ++m_spans;
    }
    if (list.late() > kMostLate)
        settle(list, m_spans, sums);
}

void SpanStore::takeCollectives(StoredRank &to, const std::vector<std::uint32_t> &streams, const Batch &batch,
    const RankRecording &rank, Sums &sums)
{
    for (const RecordedCollective &one : rank.collectives) {
        const auto start = unixOf(batch.part.zero, one.start);
        if (!start || one.duration < 0 || one.duration > kMostDuration || !std::isfinite(one.bytes)) {
            ++sums.timeless;
            continue;
        }
        if (*start < to.horizon) {
            ++sums.late;
            continue;
        }
        StoredCollective made { *start, one.duration, one.sequence, one.bytes,
            one.group == kNoIndex ? kNoIndex : m_groupOf[one.group], m_nameOf[one.operation] };
        if (one.stream < streams.size() && streams[one.stream] != kNoIndex) {
            const RecordedSpans &spans = rank.streams[one.stream].spans;
            made.stream = streams[one.stream];
            if (one.span < spans.size() && spans.start[one.span] == one.start
                && spans.duration[one.span] == one.duration)
                made.span = m_nameOf[spans.name[one.span]];
        }
        to.collectives.add(made);
        hear(to, batch, *start + one.duration);
        ++sums.events;
        ++m_collectives;
    }
    if (to.collectives.late() > kMostLate)
        settle(to.collectives, m_collectives, sums);
}

std::size_t SpanStore::bytes() const
{
    std::size_t bytes = 2 * m_names->bytes() + m_names->size() * 96 + m_groups.size() * sizeof(CommunicatorGroup)
        + m_groupRanks * sizeof(int);
    for (const StoredRank &rank : m_ranks) {
        bytes += sizeof rank + rank.steps.bytes() + rank.collectives.bytes();
        for (const StoredStream &stream : rank.streams)
            bytes += 2 * sizeof stream + stream.spans.bytes();
    }
    return bytes;
}

} // namespace trainyard::live

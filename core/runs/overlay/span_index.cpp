// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/span_index.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainyard {

namespace {

constexpr std::size_t kBlock = 64;

} // namespace

bool isTransferName(std::string_view operation)
{
    return operation == "send" || operation == "recv" || operation == "isend" || operation == "irecv"
        || operation == "send_recv";
}

SpanIndex::SpanIndex(const Recording &recording, const std::vector<MatchedCollective> &matched)
{
    std::vector<std::vector<std::int64_t>> least; // [rank][collective]; -1: not matched
    for (const RankRecording &rank : recording.ranks) {
        std::vector<Stream> &streams = m_ranks.emplace_back(rank.streams.size());
        for (std::size_t s = 0; s < rank.streams.size(); ++s) {
            const RecordedSpans &spans = rank.streams[s].spans;
            Moment latest = kNoMoment;
            for (std::size_t i = 0; i < spans.size(); ++i) {
                latest = std::max(latest, spans.start[i] + spans.duration[i]);
                m_hasGpuWork |= rank.streams[s].isGpu && isGpuWork(spans.work[i]);
                m_hasCommunication |= spans.work[i] == RecordedWork::Communication;
                if (i % kBlock == kBlock - 1 || i + 1 == spans.size())
                    streams[s].latest.push_back(latest);
            }
        }
        least.emplace_back(rank.collectives.size(), -1);
    }
    std::vector<bool> isWide(recording.groups.size() + 1, false); // more than two ranks take part
    for (std::size_t g = 0; g < recording.groups.size(); ++g)
        isWide[g] = recording.groups[g].ranks.size() > 2;
    for (const MatchedCollective &one : matched) {
        if (one.parts.size() > 2)
            isWide[std::min<std::size_t>(one.group, recording.groups.size())] = true;
        for (const MatchedCollective::Part &part : one.parts)
            least[part.rank][part.collective] = one.leastDuration;
    }
    addCommunication(recording, least, isWide);
}

void SpanIndex::addCommunication(
    const Recording &recording, const std::vector<std::vector<std::int64_t>> &least, const std::vector<bool> &isWide)
{
    for (std::uint32_t r = 0; r < recording.ranks.size(); ++r) {
        const RankRecording &rank = recording.ranks[r];
        const auto isTransfer = [&](const RecordedCollective &one) {
            return isTransferName(recording.names[one.operation])
                && !isWide[std::min<std::size_t>(one.group, recording.groups.size())];
        };
        std::map<std::tuple<std::uint32_t, std::uint32_t, double>, std::int64_t> shortest; // transfers of this rank
        for (const RecordedCollective &one : rank.collectives)
            if (isTransfer(one)) {
                const auto key = std::tuple(one.group, one.operation, one.bytes);
                const auto [at, isNew] = shortest.try_emplace(key, one.duration);
                at->second = std::min(at->second, one.duration);
            }
        for (std::uint32_t i = 0; i < rank.collectives.size(); ++i) {
            const RecordedCollective &one = rank.collectives[i];
            if (one.stream >= rank.streams.size() || one.span >= rank.streams[one.stream].spans.size())
                continue;
            CommunicationSpan &made = m_ranks[r][one.stream].communication.emplace_back();
            made.span = one.span;
            made.collective = i;
            made.isTransfer = isTransfer(one);
            made.least = least[r][i] >= 0 ? least[r][i] : one.duration;
            if (made.isTransfer && least[r][i] < 0)
                made.least = shortest[{ one.group, one.operation, one.bytes }];
            made.least = std::clamp<std::int64_t>(made.least, 0, rank.streams[one.stream].spans.duration[one.span]);
            m_hasTransfers |= made.isTransfer;
            m_hasCollectives = true;
        }
        for (Stream &stream : m_ranks[r])
            std::ranges::stable_sort(stream.communication, {}, &CommunicationSpan::span);
    }
}

SpanIndex::Range SpanIndex::within(
    const RankRecording &rank, std::uint32_t rankIndex, std::uint32_t stream, Moment from, Moment to) const
{
    const std::vector<Moment> &latest = m_ranks[rankIndex][stream].latest;
    const RecordedSpans &spans = rank.streams[stream].spans;
    Range range;
    range.last = static_cast<std::size_t>(std::ranges::lower_bound(spans.start, to) - spans.start.begin());
    range.first = static_cast<std::size_t>(std::ranges::upper_bound(latest, from) - latest.begin()) * kBlock;
    range.first = std::min(range.first, range.last);
    while (range.first < range.last && spans.start[range.first] + spans.duration[range.first] <= from)
        ++range.first;
    return range;
}

} // namespace trainyard

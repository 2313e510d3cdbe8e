// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/rows.h"

#include "core/runs/overlay/row_spans.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

/// What a run shows of a track's kind of work.
enum class Shown : std::uint8_t { Nothing, Computation, Transfers, Collectives, CopiesOut, CopiesIn };

Shown shownOn(Stream stream)
{
    switch (stream) {
    case Stream::Compute:
        return Shown::Computation;
    case Stream::Wan:
        return Shown::Transfers;
    case Stream::Collective:
        return Shown::Collectives;
    case Stream::Store:
    case Stream::GradientsOut:
    case Stream::StepToHost:
        return Shown::CopiesOut;
    case Stream::Load:
    case Stream::WeightsIn:
    case Stream::StepToGpu:
        return Shown::CopiesIn;
    default:
        return Shown::Nothing; // work of hosts, drives and other jobs; pieces of a transfer
    }
}

/// Of a copy by its name: "Memcpy DtoH (Device -> Pinned)", hip's "CopyDeviceToHost".
bool isBetween(std::string_view name, std::string_view brief, std::string_view full)
{
    return name.find(brief) != name.npos || name.find(full) != name.npos;
}

/// Rows of one stage of one class of pipelines.
struct Place {
    std::vector<std::size_t> rows;
    std::vector<int> ranks;
    int stage = 0;
};

class PlanRows {
public:
    PlanRows(const Evaluation &evaluation, const RankMap &map, const RankBook &book, const RowsAsked &asked)
        : m_evaluation(evaluation)
        , m_map(map)
        , m_asked(asked)
        , m_isRecorded(static_cast<std::size_t>(map.worldSize()), false)
        , m_shares(m_isRecorded.size(), nullptr)
    {
        std::map<std::uint32_t, const RankStep *> shares;
        std::map<int, const RankStep *> byRank; // of several files of a rank one shows the step
        if (asked.shares)
            for (const RankStep &one : *asked.shares) {
                shares[one.rank] = &one;
                if (const int rank = asked.run->recording->ranks[one.rank].rank; rank >= 0)
                    byRank[rank] = &one;
            }
        for (std::size_t rank = 0; rank < std::min(m_isRecorded.size(), book.recordings.size()); ++rank) {
            m_isRecorded[rank] = book.recordings[rank] != kNoIndex;
            if (const auto own = shares.find(book.recordings[rank]); own != shares.end())
                m_shares[rank] = own->second;
            else if (const auto other = byRank.find(static_cast<int>(rank)); other != byRank.end())
                m_shares[rank] = other->second;
        }
    }

    std::vector<MeasuredRow> make()
    {
        std::map<std::tuple<int, int, int>, Place> places;
        std::set<TrackKey> seen;
        for (const Track &track : m_evaluation.timeline.tracks) {
            if (shownOn(track.stream) == Shown::Nothing)
                continue;
            const TrackKey key = keyOf(m_evaluation, track);
            if (!seen.insert(key).second)
                continue; // a channel of several
            Place &place = places[{ key.firstReplica, key.replicas, key.stage }];
            place.stage = key.stage;
            if (place.rows.empty())
                place.ranks = m_map.ranksOf(key.stage, key.firstReplica, key.replicas);
            place.rows.push_back(m_rows.size());
            MeasuredRow &row = m_rows.emplace_back();
            row.key = key;
            row.ranks = place.ranks;
        }
        for (const auto &[key, place] : places)
            fill(place);
        return std::move(m_rows);
    }

private:
    void fill(const Place &place)
    {
        std::vector<int> missing;
        const RankStep *slowest = nullptr;
        int shown = -1;
        for (const int rank : place.ranks) {
            if (!m_isRecorded[static_cast<std::size_t>(rank)])
                missing.push_back(rank);
            const RankStep *shares = m_shares[static_cast<std::size_t>(rank)];
            if (!shares)
                continue;
            const bool isAsked = m_asked.rank == rank;
            if (!slowest || isAsked || (m_asked.rank != shown && shares->shares.compute > slowest->shares.compute)) {
                slowest = shares;
                shown = rank;
            }
        }
        for (const std::size_t row : place.rows) {
            m_rows[row].missing = missing;
            m_rows[row].shown = shown;
        }
        if (slowest)
            fill(place, *slowest, shown);
    }

    void fill(const Place &place, const RankStep &shares, int shown)
    {
        const RankRecording &rank = m_asked.run->recording->ranks[shares.rank];
        const RowSpans filler(m_asked);
        std::vector<std::vector<RowSpan>> found(place.rows.size());
        for (std::uint32_t s = 0; s < rank.streams.size(); ++s)
            if (rank.streams[s].isGpu)
                filler.forEach(shares.rank, s, [&](const RowSpan &span, const CommunicationSpan *communication) {
                    const std::size_t row = rowFor(place, rank, span, communication, shown);
                    if (row < found.size())
                        found[row].push_back(span);
                });
        for (std::size_t i = 0; i < place.rows.size(); ++i)
            sortRow(found[i], m_rows[place.rows[i]]);
    }

    [[nodiscard]] std::size_t rowOf(const Place &place, Shown shown, int peer = -1) const
    {
        const auto at = std::ranges::find_if(place.rows, [&](std::size_t row) {
            const TrackKey &key = m_rows[row].key;
            return shownOn(key.stream) == shown && (peer < 0 || key.peer == peer);
        });
        return static_cast<std::size_t>(at - place.rows.begin());
    }

    /// Of the rows of its place; their number where there is none.
    [[nodiscard]] std::size_t rowFor(const Place &place, const RankRecording &rank, const RowSpan &span,
        const CommunicationSpan *communication, int shown) const
    {
        std::size_t row = place.rows.size();
        if (span.work == RecordedWork::Copy) {
            const std::string_view name = m_asked.run->recording->names[span.name];
            if (isBetween(name, "DtoH", "DeviceToHost"))
                row = rowOf(place, Shown::CopiesOut);
            else if (isBetween(name, "HtoD", "HostToDevice"))
                row = rowOf(place, Shown::CopiesIn);
        } else if (communication) {
            const RecordedCollective &one = rank.collectives[communication->collective];
            if (communication->isTransfer) {
                const int peer = peerOf(one, shown);
                row = rowOf(place, Shown::Transfers, peer);
            } else if (isBetweenReplicas(one)) {
                row = rowOf(place, Shown::Collectives);
            }
        }
        return row < place.rows.size() ? row : rowOf(place, Shown::Computation);
    }

    /// Stage at the other end of a transfer; -1: nobody tells.
    [[nodiscard]] int peerOf(const RecordedCollective &one, int shown) const
    {
        if (one.group >= m_asked.run->recording->groups.size())
            return -1;
        for (const int other : m_asked.run->recording->groups[one.group].ranks)
            if (other != shown && other >= 0 && other < m_map.worldSize())
                return m_map.placeOf(other).stage;
        return -1;
    }

    /// Whether the ranks of its group are of several replicas.
    [[nodiscard]] bool isBetweenReplicas(const RecordedCollective &one) const
    {
        if (one.group >= m_asked.run->recording->groups.size())
            return false;
        std::optional<int> replica;
        for (const int rank : m_asked.run->recording->groups[one.group].ranks) {
            if (rank < 0 || rank >= m_map.worldSize())
                return false;
            const int own = m_map.placeOf(rank).replica;
            if (replica && own != *replica)
                return true;
            replica = own;
        }
        return false;
    }

    const Evaluation &m_evaluation;
    const RankMap &m_map;
    const RowsAsked &m_asked;
    std::vector<bool> m_isRecorded; // [rank of the job]
    std::vector<const RankStep *> m_shares; // [rank of the job]
    std::vector<MeasuredRow> m_rows;
};

} // namespace

std::vector<MeasuredRow> rowsUnder(
    const Evaluation &evaluation, const RankMap &map, const RankBook &book, const RowsAsked &asked)
{
    return PlanRows(evaluation, map, book, asked).make();
}

} // namespace trainyard

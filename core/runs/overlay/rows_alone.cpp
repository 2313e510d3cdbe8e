// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a run without a plan, and which recording is which rank of the job.
#include "core/runs/overlay/row_spans.h"

namespace trainyard {

RankBook rankBook(const Recording &recording)
{
    constexpr int kMostRanks = 1 << 22;
    RankBook book;
    std::vector<std::uint32_t> unnumbered;
    for (std::uint32_t r = 0; r < recording.ranks.size(); ++r) {
        const int rank = recording.ranks[r].rank;
        if (rank < 0 || rank >= kMostRanks) {
            unnumbered.push_back(r);
            continue;
        }
        if (static_cast<std::size_t>(rank) >= book.recordings.size())
            book.recordings.resize(static_cast<std::size_t>(rank) + 1, kNoIndex);
        std::uint32_t &own = book.recordings[static_cast<std::size_t>(rank)];
        own = own == kNoIndex ? r : own;
    }
    if (unnumbered.empty())
        return book;
    const bool areAll = unnumbered.size() == recording.ranks.size();
    if (areAll)
        book.recordings = unnumbered;
    const std::string count = std::to_string(unnumbered.size());
    book.notes.push_back(!areAll     ? "Nobody tells the number of " + count + " recorded ranks: they are on no row"
            : unnumbered.size() == 1 ? "Nobody tells the number of the recorded rank: it is taken as rank 0"
                                     : "Nobody tells the numbers of the " + count
                + " recorded ranks: they are taken in the order of their files");
    return book;
}

std::vector<MeasuredRow> rowsAlone(const RowsAsked &asked)
{
    std::vector<MeasuredRow> rows;
    if (!asked.step || !asked.step->hasSpans())
        return rows;
    const RowSpans filler(asked);
    for (const RankStep &one : *asked.shares) {
        const RankRecording &rank = filler.recording().ranks[one.rank];
        if (asked.rank && rank.rank != *asked.rank)
            continue;
        for (std::uint32_t s = 0; s < rank.streams.size(); ++s) {
            if (!rank.streams[s].isGpu)
                continue;
            MeasuredRow row;
            filler.reserve(one.rank, s, row);
            int communicates = 0, copies = 0;
            filler.forEach(one.rank, s, [&](const RowSpan &span, const CommunicationSpan *) {
                RowSpans::put(span, row);
                communicates += span.work == RecordedWork::Communication ? 1 : 0;
                copies += span.work == RecordedWork::Copy ? 1 : 0;
            });
            if (row.size() == 0)
                continue;
            const int half = static_cast<int>(row.size() / 2);
            row.key = { rank.rank >= 0 ? rank.rank : static_cast<int>(one.rank), 1, static_cast<int>(s),
                communicates > half ? Stream::Collective
                    : copies > half ? Stream::Copy
                                    : Stream::Compute,
                -1 };
            row.label = "rank " + (rank.rank >= 0 ? std::to_string(rank.rank) : std::string("?")) + ", stream "
                + std::to_string(rank.streams[s].stream);
            row.ranks = { row.key.firstReplica };
            row.shown = row.key.firstReplica;
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

} // namespace trainyard

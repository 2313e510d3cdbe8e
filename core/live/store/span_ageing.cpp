// SPDX-License-Identifier: GPL-3.0-or-later
// What the span store lets go when it holds too much.
#include "core/live/store/span_store.h"

#include <algorithm>

namespace trainyard::live {

namespace {

constexpr Moment kNever = std::numeric_limits<Moment>::max();

} // namespace

void SpanStore::settle(Sums &sums)
{
    for (StoredRank &rank : m_ranks) {
        for (StoredStream &stream : rank.streams)
            settle(stream.spans, m_spans, sums);
        settle(rank.collectives, m_collectives, sums);
    }
    age(sums);
}

void SpanStore::age(Sums &sums)
{
    while (isFull())
        if (!ageStep(sums))
            ageByTime(sums);
}

void SpanStore::letGo(StoredRank &rank, Moment before, Sums &sums)
{
    rank.horizon = std::max(rank.horizon, before);
    for (StoredStream &stream : rank.streams) {
        const std::size_t gone = stream.spans.removeBefore(before);
        sums.aged += static_cast<std::int64_t>(gone);
        m_spans -= gone;
    }
    const std::size_t gone = rank.collectives.removeBefore(before);
    sums.aged += static_cast<std::int64_t>(gone);
    m_collectives -= gone;
}

/// The oldest step that any rank has spans of, on all ranks: on those that do not tell it, what is before the first
/// rank's next step. False where it would be the last one, or lets nothing go.
bool SpanStore::ageStep(Sums &sums)
{
    std::optional<std::int64_t> oldest;
    for (const StoredRank &rank : m_ranks) {
        Moment first = kNever;
        for (const StoredStream &stream : rank.streams)
            if (!stream.spans.items().empty())
                first = std::min(first, stream.spans.items().front().start);
        if (!rank.collectives.items().empty())
            first = std::min(first, rank.collectives.items().front().start);
        if (first == kNever)
            continue;
        const auto steps = rank.steps.steps();
        const auto at = std::ranges::upper_bound(steps, first, {}, &RecordedStep::end);
        if (at != steps.end() && (!oldest || at->number < *oldest))
            oldest = at->number;
    }
    if (!oldest)
        return false;
    const auto nextOf =
        [&](const StoredRank &rank) { // not one that lies ahead of all behind it, by a clock that jumped
            const auto next = rank.steps.from(*oldest + 1);
            return next.empty() ? kNever : std::min(next.front().start, next.back().start);
        };
    Moment earliest = kNever;
    for (const StoredRank &rank : m_ranks)
        earliest = std::min(earliest, nextOf(rank));
    if (earliest == kNever)
        return false;
    const std::int64_t before = sums.aged;
    for (StoredRank &rank : m_ranks) {
        const Moment next = nextOf(rank);
        letGo(rank, next == kNever ? earliest : next, sums);
    }
    return sums.aged > before;
}

/// Where no steps tell what belongs together: the oldest eighth.
void SpanStore::ageByTime(Sums &sums)
{
    std::vector<Moment> starts;
    for (const StoredRank &rank : m_ranks) {
        for (const StoredStream &stream : rank.streams)
            for (const StoredSpan &span : stream.spans.items())
                starts.push_back(span.start);
        for (const StoredCollective &one : rank.collectives.items())
            starts.push_back(one.start);
    }
    const std::size_t eighth = starts.size() / 8;
    std::ranges::nth_element(starts, starts.begin() + std::ptrdiff_t(eighth));
    for (StoredRank &rank : m_ranks)
        letGo(rank, starts[eighth] + 1, sums);
}

} // namespace trainyard::live

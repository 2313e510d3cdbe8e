#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks with their streams, spans, collectives and steps, as many as may be: when there are more, the oldest steps of
// all ranks go first, whole. Names and groups are numbers of tables that are cleared of what nobody uses any more.
// Moments are Unix times. Not thread-safe.

#include "core/live/decoders/interner.h"
#include "core/live/store.h"
#include "core/live/store/settled_list.h"
#include "core/live/store/step_history.h"

#include <deque>
#include <map>
#include <tuple>

namespace trainyard::live {

struct StoredSpan {
    Moment start = 0;
    std::int64_t duration = 0;
    Moment launched = kNoMoment;
    std::uint32_t name = 0;
    RecordedWork work = RecordedWork::Other;
    bool operator==(const StoredSpan &) const = default;
    bool operator<(const StoredSpan &other) const // of equal starts the longer first
    {
        return std::tie(start, other.duration, name, work, launched)
            < std::tie(other.start, duration, other.name, other.work, other.launched);
    }
};

struct StoredCollective {
    Moment start = 0;
    std::int64_t duration = 0, sequence = -1;
    double bytes = 0;
    std::uint32_t group = kNoIndex, operation = 0, stream = kNoIndex;
    /// name of its span on that stream, which has its times
    std::uint32_t span = kNoIndex;
    bool operator==(const StoredCollective &) const = default;
    bool operator<(const StoredCollective &other) const
    {
        return std::tie(start, other.duration, operation, group, sequence, bytes, stream, span) < std::tie(other.start,
                   duration, other.operation, other.group, other.sequence, other.bytes, other.stream, other.span);
    }
};

struct StoredStream {
    /// without spans
    RecordedStream stream;
    SettledList<StoredSpan> spans;
};

struct StoredRank {
    /// without events
    RankRecording rank;
    StepHistory steps;
    std::deque<StoredStream> streams;
    std::map<std::tuple<std::string, bool, std::int64_t, std::int64_t>, std::uint32_t> streamIndex;
    SettledList<StoredCollective> collectives;
    /// what starts before it was let go
    Moment horizon = std::numeric_limits<Moment>::min();
    /// by this machine's clock
    Moment heard = 0;
    /// of what it told
    Moment latest = kNoMoment;
};

class SpanStore {
public:
    explicit SpanStore(const StoreLimits &limits);

    /// What became of the events of a batch; sums that the store adds to its counts.
    struct Sums {
        std::int64_t events = 0, duplicates = 0, aged = 0;
        std::int64_t manyRanks = 0, manyStreams = 0, late = 0, timeless = 0;
    };
    /// `source` is that of the snapshot; notes are given to `note`.
    void take(const Batch &batch, std::uint32_t source, Sums &sums, const std::function<void(std::string)> &note);
    /// Puts all in order, and lets go what is too much.
    void settle(Sums &sums);

    [[nodiscard]] const std::deque<StoredRank> &ranks() const { return m_ranks; }
    [[nodiscard]] const std::string &name(std::uint32_t number) const { return (*m_names)[number]; }
    [[nodiscard]] const CommunicatorGroup &group(std::uint32_t number) const { return m_groups[number]; }
    [[nodiscard]] std::size_t nameCount() const { return m_names->size(); }
    [[nodiscard]] std::size_t groupCount() const { return m_groups.size(); }
    [[nodiscard]] Moment latest() const { return m_latest; }
    [[nodiscard]] std::size_t bytes() const;

private:
    [[nodiscard]] StoredRank *rankOf(const RankRecording &rank, std::uint32_t batchSource, std::uint32_t source);
    void takeSteps(StoredRank &to, const Batch &batch, const RankRecording &rank, Sums &sums,
        const std::function<void(std::string)> &note);
    [[nodiscard]] std::uint32_t streamOf(StoredRank &rank, const RecordedStream &stream);
    void takeSpans(StoredRank &to, std::uint32_t stream, const Batch &batch, const RecordedSpans &spans, Sums &sums);
    void takeCollectives(StoredRank &to, const std::vector<std::uint32_t> &streams, const Batch &batch,
        const RankRecording &rank, Sums &sums);
    void mapNames(const Recording &part);
    void mapGroups(const Recording &part);
    [[nodiscard]] std::uint32_t groupOf(const CommunicatorGroup &group);
    void clearNames();
    void clearGroups();
    template <class T> static void settle(SettledList<T> &list, std::size_t &count, Sums &sums)
    {
        const std::size_t twice = list.settle();
        sums.events -= static_cast<std::int64_t>(twice);
        sums.duplicates += static_cast<std::int64_t>(twice);
        count -= twice;
    }
    template <class T>
    static void remove(SettledList<T> &list, const std::pair<Moment, Moment> &between, std::size_t &count, Sums &sums)
    {
        settle(list, count, sums);
        const std::size_t gone = list.remove(between.first, between.second);
        sums.aged += static_cast<std::int64_t>(gone);
        count -= gone;
    }
    void age(Sums &sums);
    [[nodiscard]] bool ageStep(Sums &sums);
    void ageByTime(Sums &sums);
    void letGo(StoredRank &rank, Moment before, Sums &sums);
    [[nodiscard]] bool isFull() const { return m_spans > m_limits.spans || m_collectives > m_limits.spans; }
    void takeRank(const Batch &batch, const RankRecording &rank, std::uint32_t source, Sums &sums,
        const std::function<void(std::string)> &note);

    static constexpr std::size_t mostNameBytes = std::size_t(64) << 20;

    StoreLimits m_limits;
    std::deque<StoredRank> m_ranks;
    /// rank, host, source of rank -1
    std::map<std::tuple<int, std::string, std::uint32_t>, std::uint32_t> m_rankIndex;
    std::unique_ptr<Interner> m_names;
    std::vector<CommunicatorGroup> m_groups;
    /// by a hash of name and ranks
    std::unordered_multimap<std::size_t, std::uint32_t> m_groupIndex;
    std::size_t m_groupRanks = 0;
    /// of the batch that is taken
    std::vector<std::uint32_t> m_nameOf, m_groupOf;
    /// since the tables were cleared
    std::size_t m_unknownNames = 0, m_unknownGroups = 0;
    std::size_t m_spans = 0, m_collectives = 0, m_steps = 0, m_streams = 0;
    Moment m_latest = 0;
};

} // namespace trainyard::live

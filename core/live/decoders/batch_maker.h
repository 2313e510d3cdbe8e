#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Puts events of one connection into batches: its ranks, streams, groups, names and series get their places in each
// batch when they are first told in it. What cannot be (times, numbers) is dropped and counted, and what a peer may
// make us keep is bounded, by itself and with all other connections (held_room.h). Not thread-safe.

#include "core/live/decoder.h"
#include "core/live/decoders/held_room.h"
#include "core/live/decoders/interner.h"
#include "core/runs/telemetry/series_key.h"

#include <optional>
#include <span>

namespace trainyard::live {

/// Who speaks: a rank and, where several hosts claim one, its host.
struct Speaker {
    /// -1: nobody's
    int rank = -1;
    std::string_view host;
};

class BatchMaker {
public:
    BatchMaker(std::string name, SourceKind kind, const DecoderLimits &limits);

    void setRun(std::string_view name);
    /// What a hello tells of a rank; false where there are too many ranks.
    bool setRank(const Speaker &who, int worldSize, std::string_view gpu);
    void addArgument(std::string_view name, std::string_view value);

    // Places that hold until the batch is given out; kNoIndex: too many, and counted
    [[nodiscard]] std::uint32_t rank(const Speaker &who);
    struct StreamAsked {
        std::string_view label;
        bool isGpu = true;
        std::int64_t device = 0, stream = 0;
    };
    [[nodiscard]] std::uint32_t stream(std::uint32_t rank, const StreamAsked &asked);
    [[nodiscard]] std::uint32_t name(std::string_view name);
    [[nodiscard]] std::uint32_t group(std::string_view name);
    /// What it is, for the times it is named from now on.
    void setGroup(std::string_view name, std::string_view description, std::span<const std::int64_t> ranks);
    [[nodiscard]] std::uint32_t series(SeriesSought asked);

    // Events, in places of this batch; moments are Unix times
    void addStep(std::uint32_t rank, std::int64_t number, Moment start, Moment end);
    struct SpanAsked {
        Moment start = 0;
        std::int64_t duration = 0;
        std::uint32_t name = 0;
        RecordedWork work = RecordedWork::Other;
        Moment launched = kNoMoment;
    };
    /// Its place in its stream; kNoIndex: dropped.
    std::uint32_t addSpan(std::uint32_t rank, std::uint32_t stream, const SpanAsked &asked);
    void addCollective(std::uint32_t rank, RecordedCollective collective);
    void addSample(std::uint32_t series, Moment at, double value);

    void drop(std::string_view reason, std::int64_t count = 1);
    /// equal ones once a connection; forty at most
    void note(std::string sentence);
    void addBytes(std::size_t bytes) { m_bytes += static_cast<std::int64_t>(bytes); }

    [[nodiscard]] std::size_t events() const { return m_events; }
    /// For what its decoder keeps beside it.
    [[nodiscard]] HeldRoom &room() { return m_room; }
    /// Nothing in it that anybody wants to know.
    [[nodiscard]] bool isEmpty() const;
    [[nodiscard]] Batch take(Moment received);

private:
    struct Placed { // in the batch of that number
        std::uint64_t batch = 0;
        std::uint32_t place = kNoIndex;
    };
    struct KnownStream {
        RecordedStream stream;
        Placed placed;
    };
    struct KnownRank {
        /// without events
        RankRecording rank;
        std::vector<KnownStream> streams;
        Placed placed;
    };
    struct KnownGroup {
        CommunicatorGroup group;
        Placed placed;
    };
    struct KnownSeries {
        SampleSeries series;
        Placed placed;
    };
    [[nodiscard]] KnownRank *known(const Speaker &who);
    /// Its number, made where it is new and there is room for it and `bytes` more; nothing where there is none.
    [[nodiscard]] std::optional<std::uint32_t> numberOf(Interner &texts, std::string_view text, std::size_t bytes);
    /// In place of one that is held.
    [[nodiscard]] bool replace(std::string &held, std::string with);
    [[nodiscard]] Moment moved(Moment unix);
    [[nodiscard]] bool isPlaced(Placed &placed) const { return placed.batch == m_batch; }

    std::string m_file;
    SourceKind m_kind;
    DecoderLimits m_limits;
    HeldRoom m_room;
    Interner m_names, m_groupNames, m_speakers;
    std::vector<Placed> m_namePlaces;
    std::vector<KnownGroup> m_groups;
    std::vector<KnownSeries> m_series;
    /// → m_series
    SeriesTable<std::uint32_t> m_seriesOf;
    /// names, units and places
    SharedTexts m_seriesTexts;
    std::vector<KnownRank> m_ranks;
    /// place in this batch → m_ranks
    std::vector<std::uint32_t> m_rankOf;
    std::size_t m_streamCount = 0, m_groupRanks = 0;
    /// room for keys
    std::string m_key;
    Interner m_argumentNames;
    /// all that were told
    std::vector<std::string> m_notes;
    Recording m_part;
    /// m_isTold: something beside events is new
    bool m_hasZero = false, m_isTold = false;
    std::uint64_t m_batch = 1;
    std::size_t m_events = 0;
    std::int64_t m_bytes = 0;
};

} // namespace trainyard::live

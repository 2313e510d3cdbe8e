// SPDX-License-Identifier: GPL-3.0-or-later
// A step of a rank taken apart: one walk over the starts of its spans, merged from streams that are in order.
#include "core/runs/overlay/host_gaps.h"
#include "core/runs/overlay/run_steps.h"
#include "core/runs/overlay/span_index.h"

#include <algorithm>
#include <array>
#include <queue>

namespace trainyard {

namespace {

enum Use : std::uint8_t { Computes, Moves, WaitsForRank, WaitsForStage, kUses };

constexpr std::uint32_t kCopy = kNoIndex - 1; // a piece that is no collective

struct Piece {
    Moment start = 0, end = 0;
    Moment launchedAt = kNoMoment;
    Use use = Computes;
    std::uint32_t collective = kNoIndex; // of its rank
    std::uint32_t stream = kNoIndex, name = kNoIndex;
};

/// The pieces of one stream, in order of start. What moves at the end of a collective is put aside, since it starts
/// later than its span.
class StreamPieces {
public:
    StreamPieces(std::uint32_t stream, const RecordedSpans &spans, const std::vector<CommunicationSpan> &communication,
        SpanIndex::Range range, std::vector<Piece> &moving)
        : m_stream(stream)
        , m_spans(spans)
        , m_next(std::ranges::lower_bound(communication, range.first, {}, &CommunicationSpan::span))
        , m_end(communication.end())
        , m_at(range.first)
        , m_last(range.last)
        , m_moving(moving)
    {
        advance();
    }
    [[nodiscard]] bool isDone() const { return m_isDone; }
    [[nodiscard]] const Piece &piece() const { return m_piece; }

    void advance()
    {
        for (; m_at < m_last; ++m_at)
            if (isGpuWork(m_spans.work[m_at])) {
                make();
                ++m_at;
                return;
            }
        m_isDone = true;
    }

private:
    void make()
    {
        m_piece = { m_spans.start[m_at], m_spans.start[m_at] + m_spans.duration[m_at],
            m_at < m_spans.launchedAt.size() ? m_spans.launchedAt[m_at] : kNoMoment, Computes, kNoIndex, m_stream,
            m_spans.name[m_at] };
        const RecordedWork work = m_spans.work[m_at];
        if (work == RecordedWork::Copy) {
            m_piece.use = Moves;
            m_piece.collective = kCopy;
        }
        if (work != RecordedWork::Communication)
            return;
        m_piece.use = Moves;
        while (m_next != m_end && m_next->span < m_at)
            ++m_next;
        if (m_next == m_end || m_next->span != m_at)
            return;
        m_piece.collective = m_next->collective;
        if (m_next->least >= m_spans.duration[m_at])
            return;
        Piece moving = m_piece;
        moving.start = moving.end - m_next->least;
        m_moving.push_back(moving);
        m_piece.end = moving.start;
        m_piece.use = m_next->isTransfer ? WaitsForStage : WaitsForRank;
    }

    std::uint32_t m_stream;
    const RecordedSpans &m_spans;
    std::vector<CommunicationSpan>::const_iterator m_next, m_end;
    std::size_t m_at, m_last;
    std::vector<Piece> &m_moving;
    Piece m_piece;
    bool m_isDone = false;
};

/// Books time from the start of the window on, as pieces come in order of start.
class Booking {
public:
    Booking(const RankRecording &rank, Moment start, int stages, std::vector<HostGap> *gaps)
        : m_rank(rank)
        , m_now(start)
        , m_stages(stages)
        , m_gaps(gaps)
    {
        m_until.fill(start);
    }

    /// Until that piece, or the end of the window, launched then.
    void upTo(Moment moment, const Piece &next)
    {
        while (m_now < moment) {
            const auto busy = std::ranges::find_if(m_until, [&](Moment until) { return until > m_now; });
            if (busy == m_until.end())
                return gap(moment, next);
            const Moment then = std::min(moment, *busy);
            m_booked[static_cast<std::size_t>(busy - m_until.begin())] += then - m_now;
            if (busy == m_until.begin() + Moves)
                m_moved[m_mover].nanoseconds += then - m_now;
            m_now = then;
        }
    }
    void begin(const Piece &piece)
    {
        if (piece.use == Moves && piece.end > m_until[Moves])
            m_mover = moverOf(piece.collective);
        m_until[piece.use] = std::max(m_until[piece.use], piece.end);
    }

    [[nodiscard]] TimeShares shares() const
    {
        const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-9; };
        return { seconds(m_booked[Computes]), seconds(m_booked[Moves]), seconds(m_booked[WaitsForRank]),
            seconds(m_booked[WaitsForStage] + m_idle), seconds(m_host) };
    }
    [[nodiscard]] std::vector<ExposedPart> exposed() const
    {
        std::vector<ExposedPart> parts;
        for (const Moved &one : m_moved)
            if (one.nanoseconds > 0)
                parts.push_back({ one.group, one.operation, one.isCopy, static_cast<double>(one.nanoseconds) * 1e-9 });
        return parts;
    }

private:
    struct Moved {
        std::uint32_t group = kNoIndex, operation = kNoIndex;
        bool isCopy = false;
        std::int64_t nanoseconds = 0;
    };

    /// A rank has few groups and operations.
    std::size_t moverOf(std::uint32_t collective)
    {
        Moved made { .isCopy = collective == kCopy };
        if (collective < m_rank.collectives.size()) {
            made.group = m_rank.collectives[collective].group;
            made.operation = m_rank.collectives[collective].operation;
        }
        const auto isSame = [&](const Moved &other) {
            return other.group == made.group && other.operation == made.operation && other.isCopy == made.isCopy;
        };
        const auto known = std::ranges::find_if(m_moved, isSame);
        if (known != m_moved.end())
            return static_cast<std::size_t>(known - m_moved.begin());
        m_moved.push_back(made);
        return m_moved.size() - 1;
    }

    void gap(Moment end, const Piece &next)
    {
        const bool isLaunchTold = next.launchedAt != kNoMoment;
        const Moment launch = isLaunchTold ? std::clamp(next.launchedAt, m_now, end) : m_now;
        const bool isForStage = isLaunchTold ? m_stages != 1 : m_stages > 1;
        const Moment host = (isForStage ? launch : end) - m_now;
        m_host += host;
        m_idle += end - m_now - host;
        if (m_gaps && host > 0)
            m_gaps->push_back({ next.stream, next.name, static_cast<double>(host) * 1e-9 });
        m_now = end;
    }

    const RankRecording &m_rank;
    Moment m_now;
    int m_stages;
    std::vector<HostGap> *m_gaps; // may be null
    std::array<Moment, kUses> m_until {};
    std::array<std::int64_t, kUses> m_booked {};
    std::int64_t m_idle = 0, m_host = 0;
    std::vector<Moved> m_moved;
    std::size_t m_mover = 0; // of m_moved: whose time is attributed while something moves data
};

struct NextWork {
    Moment start = kNoMoment; // kNoMoment: nothing runs
    Moment launch = kNoMoment; // kNoMoment: nobody tells
};

/// What begins first from there on.
NextWork workAfter(const RankRecording &rank, Moment moment)
{
    NextWork next { .start = std::numeric_limits<Moment>::max() };
    for (const RecordedStream &stream : rank.streams) {
        const RecordedSpans &spans = stream.spans;
        auto i = static_cast<std::size_t>(std::ranges::lower_bound(spans.start, moment) - spans.start.begin());
        while (stream.isGpu && i < spans.size() && !isGpuWork(spans.work[i]))
            ++i;
        if (!stream.isGpu || i >= spans.size() || spans.start[i] >= next.start)
            continue;
        next = { spans.start[i], i < spans.launchedAt.size() ? spans.launchedAt[i] : kNoMoment };
    }
    return next.start == std::numeric_limits<Moment>::max() ? NextWork() : next;
}

std::optional<RankStep> sharesOfRank(
    const Run &run, std::uint32_t index, Moment start, Moment end, int stages, std::vector<HostGap> *gaps = nullptr)
{
    const RankRecording &rank = run.recording->ranks[index];
    std::vector<Piece> moving;
    std::vector<StreamPieces> streams;
    bool hasWork = false;
    for (std::uint32_t s = 0; s < rank.streams.size(); ++s) {
        if (!rank.streams[s].isGpu)
            continue;
        const SpanIndex::Range range = run.spans->within(rank, index, s, start, end);
        StreamPieces pieces(s, rank.streams[s].spans, run.spans->communication(index, s), range, moving);
        hasWork |= !pieces.isDone();
        if (!pieces.isDone())
            streams.push_back(std::move(pieces));
    }
    if (!hasWork)
        return std::nullopt;
    Booking booking(rank, start, stages, gaps);
    const auto isLater = [](const Piece &a, const Piece &b) { return a.start > b.start; };
    std::priority_queue<Piece, std::vector<Piece>, decltype(isLater)> held(isLater); // what moves, until it starts
    for (;;) {
        StreamPieces *first = nullptr;
        for (StreamPieces &stream : streams)
            if (!stream.isDone() && (!first || stream.piece().start < first->piece().start))
                first = &stream;
        for (; !moving.empty(); moving.pop_back())
            held.push(moving.back());
        const bool isHeldFirst = !held.empty() && (!first || held.top().start <= first->piece().start);
        if (!isHeldFirst && !first)
            break;
        const Piece piece = isHeldFirst ? held.top() : first->piece();
        booking.upTo(std::min(piece.start, end), piece);
        booking.begin(piece);
        if (isHeldFirst)
            held.pop();
        else
            first->advance();
    }
    booking.upTo(end, { .launchedAt = workAfter(rank, end).launch });
    return RankStep { index, booking.shares(), booking.exposed() };
}

Moment shiftOf(const Run &run, std::uint32_t rank)
{
    return rank < run.clockShift.size() ? run.clockShift[rank] : 0;
}

int stageCount(const Run &run, int planStages)
{
    return run.areStagesTold ? run.stages : std::max(run.stages, planStages);
}

} // namespace

std::vector<HostGap> hostGapsOf(const Run &run, const RankWindow &window, int planStages)
{
    std::vector<HostGap> gaps;
    if (!run.spans || window.rank >= run.recording->ranks.size())
        return gaps;
    const RankRecording &rank = run.recording->ranks[window.rank];
    const Moment shift = shiftOf(run, window.rank), end = window.end - shift;
    const NextWork first = workAfter(rank, window.start - shift), next = workAfter(rank, end);
    if (first.start != kNoMoment && first.start < end)
        (void)sharesOfRank(run, window.rank, first.start, next.start == kNoMoment ? end : next.start,
            stageCount(run, planStages), &gaps);
    return gaps;
}

std::vector<RankStep> sharesOf(const Run &run, const RunStep &step, int planStages)
{
    std::vector<RankStep> result;
    if (!step.hasSpans() || !run.spans)
        return result;
    const int stages = stageCount(run, planStages);
    for (const RankWindow &window : step.ranks) {
        const Moment shift = shiftOf(run, window.rank), from = step.overlaps ? window.start : step.start,
                     to = step.overlaps ? window.end : step.end;
        if (auto taken = sharesOfRank(run, window.rank, from - shift, to - shift, stages))
            result.push_back(*std::move(taken));
    }
    return result;
}

} // namespace trainyard

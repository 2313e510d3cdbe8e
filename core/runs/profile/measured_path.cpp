// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/profile/measured_path.h"

#include "core/runs/profile/gpu_work.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

constexpr std::size_t kMostBeside = 256; // spans of one stream that may run at once

/// A span of a GPU's stream in the whole job.
struct Place {
    std::uint32_t rank = 0, stream = 0, span = 0;
    auto operator<=>(const Place &) const = default;
};

PathKind kindOf(RecordedWork work)
{
    switch (work) {
    case RecordedWork::Compute:
        return PathKind::Compute;
    case RecordedWork::Communication:
        return PathKind::Communication;
    case RecordedWork::Copy:
        return PathKind::Copy;
    default:
        return PathKind::Other;
    }
}

/// The host waits in it for its GPU. "Stream Wait Event" is the GPU's own.
bool isSynchronisation(std::string_view name, RecordedWork work)
{
    if (work != RecordedWork::Wait && work != RecordedWork::HostCall)
        return false;
    return name.find("Sync") != name.npos && name.find("Wait Event") == name.npos;
}

class PathWalk {
public:
    PathWalk(const Run &run, const RunStep &step)
        : m_run(run)
        , m_recording(*run.recording)
        , m_step(step)
        , m_streams(m_recording.ranks.size())
        , m_syncs(m_recording.ranks.size())
        , m_now(step.end)
    {
        m_path.start = step.start;
        m_path.end = step.end;
    }

    MeasuredPath walk()
    {
        const std::optional<GpuWork> last = lastWork();
        if (!last)
            return m_path;
        findCollectives();
        add(PathKind::Host, last->end);
        for (std::optional<GpuWork> work = last; work && m_now > m_step.start;)
            work = before(*work);
        add(PathKind::Host, m_step.start);
        std::ranges::reverse(m_path.pieces);
        for (const PathPiece &piece : m_path.pieces)
            m_path.nanoseconds[static_cast<std::size_t>(piece.kind)] += piece.end - piece.start;
        return std::move(m_path);
    }

private:
    [[nodiscard]] const RankRecording &rank(std::uint32_t r) const { return m_recording.ranks[r]; }
    [[nodiscard]] Moment shiftOf(std::uint32_t r) const
    {
        return r < m_run.clockShift.size() ? m_run.clockShift[r] : 0;
    }
    /// On the job's clock.
    [[nodiscard]] GpuWork workAt(const Place &place) const
    {
        GpuWork work = gpuWorkOf(rank(place.rank), place.stream, place.span);
        const Moment shift = shiftOf(place.rank);
        work.start += shift;
        work.end += shift;
        work.launchedAt += work.launchedAt == kNoMoment ? 0 : shift;
        return work;
    }
    const std::vector<std::uint32_t> &streamsOf(std::uint32_t r)
    {
        if (m_streams[r].empty())
            m_streams[r] = gpuStreamsOf(rank(r));
        return m_streams[r];
    }

    /// Of the spans in front of `until` the last work that has ended at that moment of the job's clock.
    std::optional<GpuWork> lastEnded(std::uint32_t r, std::uint32_t stream, Moment moment, std::size_t until) const
    {
        const RecordedSpans &spans = rank(r).streams[stream].spans;
        const Moment own = moment - shiftOf(r);
        auto i = static_cast<std::size_t>(std::ranges::upper_bound(spans.start, own) - spans.start.begin());
        i = std::min(i, until);
        for (std::size_t seen = 0; i > 0 && seen < kMostBeside; ++seen) {
            --i;
            if (isGpuWork(spans.work[i]) && spans.start[i] + spans.duration[i] <= own)
                return workAt({ r, stream, static_cast<std::uint32_t>(i) });
        }
        return std::nullopt;
    }
    /// Over the streams of a rank, the latest that has ended; of equal ends that of the first stream.
    std::optional<GpuWork> lastEndedOnRank(std::uint32_t r, Moment moment, std::uint32_t without = kNoIndex)
    {
        std::optional<GpuWork> latest;
        for (const std::uint32_t stream : streamsOf(r)) {
            if (stream == without)
                continue;
            const auto work = lastEnded(r, stream, moment, rank(r).streams[stream].spans.size());
            if (work && (!latest || work->end > latest->end))
                latest = work;
        }
        return latest;
    }

    std::optional<GpuWork> lastWork()
    {
        std::optional<GpuWork> latest;
        for (const RankWindow &window : m_step.ranks) {
            const auto work = lastEndedOnRank(window.rank, std::min(window.end, m_step.end));
            if (work && work->end > m_step.start && (!latest || work->end > latest->end)) {
                latest = work;
                m_rank = window.rank;
            }
        }
        return latest;
    }

    void findCollectives()
    {
        for (std::size_t c = 0; c < m_run.collectives.size(); ++c)
            for (const MatchedCollective::Part &part : m_run.collectives[c].parts)
                if (const auto place = placeOf(part))
                    m_matched.emplace(*place, c);
    }
    /// Of a part that lies in the step.
    [[nodiscard]] std::optional<Place> placeOf(const MatchedCollective::Part &part) const
    {
        const RecordedCollective &own = rank(part.rank).collectives[part.collective];
        const Moment start = own.start + shiftOf(part.rank);
        if (own.stream == kNoIndex || own.span == kNoIndex || start > m_step.end || start + own.duration < m_step.start)
            return std::nullopt;
        return Place { part.rank, own.stream, own.span };
    }

    /// Adds the time from there to now, of what follows there; and goes there.
    void add(PathKind kind, Moment from, std::uint32_t stream = kNoIndex, std::uint32_t span = kNoIndex)
    {
        from = std::clamp(from, m_step.start, m_now);
        if (from == m_now)
            return;
        if (!m_path.pieces.empty() && m_path.pieces.back().rank != m_rank)
            ++m_path.rankChanges;
        if (!m_path.pieces.empty() && kind == PathKind::Host && m_path.pieces.back().kind == kind
            && m_path.pieces.back().rank == m_rank)
            m_path.pieces.back().start = from;
        else
            m_path.pieces.push_back({ kind, m_rank, stream, span, from, m_now });
        m_now = from;
    }

    /// Where the rank is another one that entered last, the same collective there.
    GpuWork lastToEnter(GpuWork work)
    {
        const auto known = m_matched.find({ m_rank, work.stream, work.span });
        if (known == m_matched.end())
            return work;
        for (const MatchedCollective::Part &part : m_run.collectives[known->second].parts) {
            const auto place = placeOf(part);
            if (!place || m_seen.contains(*place))
                continue;
            if (const GpuWork other = workAt(*place); other.start > work.start) {
                work = other;
                m_rank = part.rank;
            }
        }
        return work;
    }

    /// Books the work and why it began when it did; what was before it.
    std::optional<GpuWork> before(GpuWork work)
    {
        work = lastToEnter(work);
        m_seen.insert({ m_rank, work.stream, work.span });
        add(kindOf(rank(m_rank).streams[work.stream].spans.work[work.span]), work.start, work.stream, work.span);
        std::optional<GpuWork> previous = lastEnded(m_rank, work.stream, work.start, work.span);
        // Strictly before it, so that works without a length do not wait for each other
        const auto other = lastEndedOnRank(m_rank, work.start, work.stream);
        if (other && other->start < work.start && (!previous || other->end > previous->end))
            previous = other;
        const Moment launched = std::min(work.launchedAt, work.start);
        if (work.launchedAt != kNoMoment && (!previous || launched > previous->end)) {
            add(PathKind::Launch, launched, work.stream, work.span);
            return beforeTheHost();
        }
        if (previous)
            add(PathKind::Gap, previous->end, work.stream, work.span);
        return previous;
    }

    struct Sync {
        Moment start = 0, end = 0;
    };
    /// In order of their ends, on the job's clock.
    const std::vector<Sync> &syncsOf(std::uint32_t r)
    {
        if (m_syncs[r])
            return *m_syncs[r];
        std::vector<Sync> found;
        for (const RecordedStream &stream : rank(r).streams)
            for (std::size_t i = 0; i < stream.spans.size(); ++i) {
                if (!isSynchronisation(m_recording.names[stream.spans.name[i]], stream.spans.work[i]))
                    continue;
                const Moment start = stream.spans.start[i] + shiftOf(r);
                found.push_back({ start, start + stream.spans.duration[i] });
            }
        std::ranges::sort(found, {}, &Sync::end);
        return *(m_syncs[r] = std::move(found));
    }
    /// The host runs by itself since it waited for its GPU last, else since the step began.
    std::optional<GpuWork> beforeTheHost()
    {
        const std::vector<Sync> &syncs = syncsOf(m_rank);
        auto at = std::ranges::upper_bound(syncs, m_now, {}, &Sync::end);
        while (at != syncs.begin() && (--at)->end > m_step.start) {
            const auto awaited = lastEndedOnRank(m_rank, at->end);
            if (!awaited || awaited->end <= at->start)
                continue; // the GPU was done when the host asked
            if (m_seen.contains({ m_rank, awaited->stream, awaited->span }))
                continue; // without a length, at this very moment: it does not wait for itself
            add(PathKind::Host, awaited->end);
            return awaited;
        }
        add(PathKind::Host, m_step.start);
        return std::nullopt;
    }

    const Run &m_run;
    const Recording &m_recording;
    const RunStep &m_step;
    std::vector<std::vector<std::uint32_t>> m_streams; // of each rank, those that work
    std::vector<std::optional<std::vector<Sync>>> m_syncs;
    std::map<Place, std::size_t> m_matched; // of the step, of Run::collectives
    std::set<Place> m_seen;
    MeasuredPath m_path; // the last piece first
    Moment m_now;
    std::uint32_t m_rank = 0;
};

} // namespace

const char *nameOf(PathKind kind)
{
    static constexpr std::array kNames { "compute", "communication", "copy", "other", "launch", "gap", "host" };
    static_assert(kNames.size() == kPathKinds);
    return kNames[static_cast<std::size_t>(kind)];
}

MeasuredPath measuredPath(const Run &run, const RunStep &step)
{
    if (!step.hasSpans() || step.end <= step.start)
        return {};
    return PathWalk(run, step).walk();
}

std::vector<PathShare> sharesOfPath(const Recording &recording, const MeasuredPath &path)
{
    std::map<std::pair<std::string_view, PathKind>, std::pair<std::int64_t, std::int64_t>> sums; // number, ns
    for (const PathPiece &piece : path.pieces) {
        const bool isWork = piece.kind < PathKind::Launch;
        const std::string_view name = isWork
            ? recording.names[recording.ranks[piece.rank].streams[piece.stream].spans.name[piece.span]]
            : std::string_view();
        auto &[count, nanoseconds] = sums[{ name, piece.kind }];
        ++count;
        nanoseconds += piece.end - piece.start;
    }
    std::vector<PathShare> shares;
    for (const auto &[key, sum] : sums)
        shares.push_back({ std::string(key.first), key.second, sum.first, double(sum.second) * 1e-9 });
    std::ranges::stable_sort(shares, std::greater(), &PathShare::seconds);
    return shares;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/step_windows.h"

#include "core/base/ranges_text.h"
#include "core/runs/overlay/span_index.h"

#include <algorithm>
#include <map>
#include <set>

namespace trainyard {

namespace {

constexpr Moment kEarliest = std::numeric_limits<Moment>::min(), kLatest = std::numeric_limits<Moment>::max();

/// Where boundaries that the host annotates lie on the GPU: behind the work launched before them, but not behind the
/// first work launched after them.
class Boundaries {
public:
    Boundaries(const RankRecording &rank)
    {
        for (const RecordedStep &step : rank.steps) {
            m_at.push_back(step.start);
            m_at.push_back(step.end);
        }
        std::ranges::sort(m_at);
        m_at.erase(std::ranges::unique(m_at).begin(), m_at.end());
        m_lastEnd.assign(m_at.size() + 1, kEarliest);
        m_firstStart.assign(m_at.size() + 1, kLatest);
        for (const RecordedStream &stream : rank.streams)
            if (stream.isGpu)
                read(stream.spans);
        for (std::size_t i = 1; i < m_lastEnd.size(); ++i) {
            m_lastEnd[i] = std::max(m_lastEnd[i], m_lastEnd[i - 1]);
            const std::size_t k = m_lastEnd.size() - 1 - i;
            m_firstStart[k] = std::min(m_firstStart[k], m_firstStart[k + 1]);
        }
    }

    [[nodiscard]] Moment onGpu(Moment boundary) const
    {
        const auto i = static_cast<std::size_t>(std::ranges::lower_bound(m_at, boundary) - m_at.begin());
        return std::max(boundary, std::min(m_lastEnd[i], m_firstStart[i + 1]));
    }

private:
    void read(const RecordedSpans &spans)
    {
        for (std::size_t i = 0; i < std::min(spans.size(), spans.launchedAt.size()); ++i) {
            if (spans.launchedAt[i] == kNoMoment || !isGpuWork(spans.work[i]))
                continue;
            const auto k = static_cast<std::size_t>(
                std::ranges::upper_bound(m_at, spans.launchedAt[i]) - m_at.begin()); // boundaries at or before it
            m_lastEnd[k] = std::max(m_lastEnd[k], spans.start[i] + spans.duration[i]);
            m_firstStart[k] = std::min(m_firstStart[k], spans.start[i]);
        }
    }

    std::vector<Moment> m_at;
    std::vector<Moment> m_lastEnd, m_firstStart; // of work launched between two boundaries; later up to, from on
};

/// From the first start to the last end of all work on its GPU.
std::optional<RankWindow> wholeOf(const RankRecording &rank, std::uint32_t index)
{
    RankWindow window { index, kLatest, kEarliest };
    for (const RecordedStream &stream : rank.streams)
        for (std::size_t i = 0; stream.isGpu && i < stream.spans.size(); ++i)
            if (isGpuWork(stream.spans.work[i])) {
                window.start = std::min(window.start, stream.spans.start[i]);
                window.end = std::max(window.end, stream.spans.start[i] + stream.spans.duration[i]);
            }
    return window.start < window.end ? std::optional(window) : std::nullopt;
}

/// Whether some work of its GPU begins then, or reaches into it.
bool worksIn(const RankRecording &rank, Moment from, Moment to)
{
    for (const RecordedStream &stream : rank.streams) {
        const RecordedSpans &spans = stream.spans;
        if (!stream.isGpu)
            continue;
        auto i = static_cast<std::size_t>(std::ranges::lower_bound(spans.start, to) - spans.start.begin());
        for (; i > 0 && spans.start[i - 1] >= from; --i)
            if (isGpuWork(spans.work[i - 1]))
                return true;
        if (i > 0 && isGpuWork(spans.work[i - 1]) && spans.start[i - 1] + spans.duration[i - 1] > from)
            return true;
    }
    return false;
}

/// Whether its moments are times at all.
bool hasTimes(const Recording &recording, const RankRecording &rank)
{
    return rank.source >= recording.sources.size()
        || (recording.sources[rank.source].kind != SourceKind::ChakraTrace
            && recording.sources[rank.source].kind != SourceKind::ChakraJson);
}

std::string rankName(const RankRecording &rank)
{
    return rank.rank >= 0 ? "rank " + std::to_string(rank.rank) : "a rank without a number";
}

class Finder {
public:
    Finder(const Recording &recording, const ClockAlignment &alignment, const std::stop_token &stop)
        : m_recording(recording)
        , m_stop(stop)
        , m_island(recording.ranks.size(), 0)
    {
        for (const ClockFit &fit : alignment.ranks)
            if (fit.rank < m_island.size())
                m_island[fit.rank] = fit.island;
        m_found.clockShift.assign(recording.ranks.size(), 0);
    }

    StepWindows find()
    {
        std::map<std::int64_t, std::vector<RankWindow>> byNumber;
        for (std::uint32_t r = 0; r < m_recording.ranks.size(); ++r) {
            const RankRecording &rank = m_recording.ranks[r];
            if (m_stop.stop_requested() || rank.steps.empty() || !hasTimes(m_recording, rank))
                continue;
            const Boundaries boundaries(rank);
            for (const RecordedStep &step : rank.steps)
                if (const RankWindow window { r, boundaries.onGpu(step.start), boundaries.onGpu(step.end) };
                    window.end > window.start) // of a GPU that lags both ends may be one moment
                    byNumber[step.number].push_back(window);
        }
        m_found.isAnnotated = !byNumber.empty();
        if (!m_found.isAnnotated)
            for (std::uint32_t r = 0; r < m_recording.ranks.size(); ++r)
                if (const auto window = wholeOf(m_recording.ranks[r], r);
                    window && hasTimes(m_recording, m_recording.ranks[r]))
                    byNumber[0].push_back(*window);
        shiftStrangers(byNumber);
        for (auto &[number, windows] : byNumber)
            add(number, std::move(windows));
        if (!m_repeated.empty())
            m_found.notes.push_back((m_repeated.size() == 1 ? "Step " : "Steps ") + rangesText(m_repeated)
                + (m_repeated.size() == 1 ? " was" : " were")
                + " recorded more than once, at different times: the last attempt counts");
        if (m_found.isAnnotated) {
            addUnannotated();
            dropIdle();
            tellPeriods();
        } else if (!m_found.steps.empty())
            m_found.notes.push_back("No step is annotated in the traces: all that was recorded is one step, number 0");
        return std::move(m_found);
    }

private:
    /// Lays steps of ranks whose clocks are not joined with the others' over theirs, where they are far off.
    void shiftStrangers(std::map<std::int64_t, std::vector<RankWindow>> &byNumber)
    {
        std::map<std::uint32_t, std::vector<std::pair<Moment, Moment>>> away; // (how far, half a step)
        std::set<int> seen;
        std::vector<bool> isAttempt; // another file has the rank: of another time, perhaps
        for (const RankRecording &rank : m_recording.ranks)
            isAttempt.push_back(rank.rank >= 0 && !seen.insert(rank.rank).second);
        for (const auto &[number, windows] : byNumber) {
            const auto known = std::ranges::find(windows, 0, [&](const RankWindow &w) { return m_island[w.rank]; });
            const RankWindow &reference = known == windows.end() ? windows.front() : *known;
            for (const RankWindow &window : windows)
                if (m_island[window.rank] != 0 && window.rank != reference.rank && !isAttempt[window.rank])
                    away[window.rank].emplace_back(
                        reference.start - window.start, (reference.end - reference.start) / 2);
        }
        for (auto &[rank, all] : away) {
            const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
            std::ranges::nth_element(all, middle);
            const bool isFar = middle->first > middle->second || middle->first < -middle->second;
            m_found.clockShift[rank] = isFar ? middle->first : 0;
            if (isFar)
                m_found.notes.push_back("The clock of " + rankName(m_recording.ranks[rank])
                    + " could not be joined with the others' and is far from them: its steps are laid over theirs by "
                      "where they start");
        }
        for (auto &[number, windows] : byNumber)
            for (RankWindow &window : windows) {
                window.start += m_found.clockShift[window.rank];
                window.end += m_found.clockShift[window.rank];
            }
    }

    void add(std::int64_t number, std::vector<RankWindow> windows)
    {
        // Attempts of one step do not overlap: those that overlap the latest are the last one
        std::ranges::stable_sort(windows, std::ranges::greater(), &RankWindow::start);
        Moment start = windows.front().start;
        std::size_t kept = 1;
        for (; kept < windows.size() && windows[kept].end > start; ++kept)
            start = std::min(start, windows[kept].start);
        std::set<int> seen;
        RunStep step;
        step.number = number;
        for (std::size_t i = 0; i < kept; ++i) {
            step.start = i == 0 ? windows[i].start : std::min(step.start, windows[i].start);
            step.end = std::max(step.end, windows[i].end);
            step.ranks.push_back(windows[i]);
        }
        std::ranges::stable_sort(step.ranks, {}, &RankWindow::rank);
        std::erase_if(step.ranks, [&](const RankWindow &window) {
            const int rank = m_recording.ranks[window.rank].rank;
            return rank >= 0 && !seen.insert(rank).second;
        });
        step.seconds = static_cast<double>(step.end - step.start) * 1e-9;
        if (kept < windows.size())
            m_repeated.push_back(number);
        m_found.steps.push_back(std::move(step));
    }

    /// Ranks that annotate no steps show those of the others by time.
    void addUnannotated()
    {
        std::vector<std::set<int>> there(m_found.steps.size()); // numbers of ranks that a step has
        for (std::size_t i = 0; i < there.size(); ++i)
            for (const RankWindow &window : m_found.steps[i].ranks)
                there[i].insert(m_recording.ranks[window.rank].rank);
        for (std::uint32_t r = 0; r < m_recording.ranks.size(); ++r) {
            const RankRecording &rank = m_recording.ranks[r];
            const auto whole = rank.steps.empty() && hasTimes(m_recording, rank) ? wholeOf(rank, r) : std::nullopt;
            for (std::size_t i = 0; whole && i < there.size(); ++i) {
                RunStep &step = m_found.steps[i];
                if (whole->start < step.end && whole->end > step.start
                    && (there[i].insert(rank.rank).second || rank.rank < 0))
                    step.ranks.push_back({ r, step.start, step.end });
            }
        }
        for (RunStep &step : m_found.steps)
            std::ranges::stable_sort(step.ranks, {}, &RankWindow::rank);
    }

    /// Profilers end with a step in which nothing runs any more.
    void dropIdle()
    {
        const auto isIdle = [&](const RunStep &step) {
            return std::ranges::none_of(step.ranks, [&](const RankWindow &window) {
                const Moment shift = m_found.clockShift[window.rank];
                return worksIn(m_recording.ranks[window.rank], step.start - shift, step.end - shift);
            });
        };
        std::vector<RunStep> busy;
        std::vector<std::int64_t> idle;
        for (RunStep &step : m_found.steps)
            if (m_stop.stop_requested())
                return;
            else if (isIdle(step))
                idle.push_back(step.number);
            else
                busy.push_back(step);
        if (busy.empty() || idle.empty())
            return;
        m_found.steps = std::move(busy);
        m_found.notes.push_back("Steps without work of a GPU are left out: " + rangesText(idle));
    }

    /// Without a synchronisation at its end a step of the first rank begins while others are at the one before.
    void tellPeriods()
    {
        constexpr double kMuch = 0.02; // of a step
        std::vector<RunStep> &steps = m_found.steps;
        const auto lieOver = [&](const RunStep &a, const RunStep &b) { // for longer than the host's boundaries are off
            const double common = double(std::min(a.end, b.end) - std::max(a.start, b.start));
            return common > kMuch * double(std::min(a.end - a.start, b.end - b.start));
        };
        std::vector<std::int64_t> numbers;
        for (std::size_t i = 0; i < steps.size(); ++i)
            steps[i].overlaps =
                (i > 0 && lieOver(steps[i - 1], steps[i])) || (i + 1 < steps.size() && lieOver(steps[i], steps[i + 1]));
        for (RunStep &step : steps)
            if (step.overlaps) {
                double sum = 0, count = 0;
                for (const RankWindow &window : step.ranks)
                    if (!m_recording.ranks[window.rank].steps.empty()) { // its own, not the others' by time
                        sum += double(window.end - window.start) * 1e-9;
                        ++count;
                    }
                step.seconds = count > 0 ? sum / count : step.seconds;
                numbers.push_back(step.number);
            }
        if (!numbers.empty())
            m_found.notes.push_back((numbers.size() == 1 ? "Step " : "Steps ") + rangesText(numbers)
                + " of the ranks lie over each other, since no rank waits for the others at the end: a step counts "
                  "with "
                  "its period, the mean over the ranks, and not from the first start to the last end");
    }

    const Recording &m_recording;
    const std::stop_token &m_stop;
    std::vector<int> m_island; // of each rank
    std::vector<std::int64_t> m_repeated; // numbers of steps
    StepWindows m_found;
};

} // namespace

StepWindows findWindows(const Recording &recording, const ClockAlignment &alignment, const std::stop_token &stop)
{
    return Finder(recording, alignment, stop).find();
}

} // namespace trainyard

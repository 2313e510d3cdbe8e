// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/step_replay.h"

#include "core/runs/overlay/span_index.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace trainyard {

namespace {

constexpr std::size_t kMostReplayedSteps = 16;
constexpr std::size_t kMostWorks = 4'000'000;
constexpr Moment kMomentRounding =
    1000; // ns, to which profilers tell moments: what waited may seem to begin so much early

bool isReplayed(const RunStep &step)
{
    return step.hasSpans() && !step.isWarmUp && !step.isOutlier;
}

/// A transfer that brings this rank what another one computed.
bool isReceive(const Run &run, const ReplayWork &work)
{
    if (work.matched == kNoIndex || !isTransferName(run.recording->names[run.collectives[work.matched].operation]))
        return false;
    for (const MatchedCollective::Part &part : run.collectives[work.matched].parts)
        if (part.rank == work.rank) {
            const RecordedCollective &own = run.recording->ranks[part.rank].collectives[part.collective];
            return run.recording->names[own.operation] != "send";
        }
    return false;
}

} // namespace

StepReplay::StepReplay(const Run &run)
{
    if (!run.recording || !run.spans)
        return;
    chooseSteps(run);
    if (m_steps.empty())
        return;
    addWorks(run);
    if (!m_works.empty())
        findDependencies(run);
}

void StepReplay::chooseSteps(const Run &run)
{
    std::vector<const RunStep *> row;
    for (const RunStep &step : run.steps) {
        if (!isReplayed(step)) {
            row.clear();
            continue;
        }
        row.push_back(&step);
        if (row.size() > m_steps.size() && row.size() <= kMostReplayedSteps)
            m_steps = row;
    }
    if (!m_steps.empty())
        return;
    for (const RunStep &step : run.steps)
        if (step.hasSpans() && m_steps.empty())
            m_steps = { &step };
}

void StepReplay::addWorks(const Run &run)
{
    const Recording &recording = *run.recording;
    std::vector<std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>> matched(recording.ranks.size());
    for (std::uint32_t i = 0; i < run.collectives.size(); ++i)
        for (const MatchedCollective::Part &part : run.collectives[i].parts) {
            const RecordedCollective &own = recording.ranks[part.rank].collectives[part.collective];
            if (own.stream != kNoIndex)
                matched[part.rank].emplace(std::pair(own.stream, own.span), i);
        }
    for (std::size_t s = 0; s < m_steps.size(); ++s)
        for (const RankWindow &window : m_steps[s]->ranks) {
            const RankRecording &rank = recording.ranks[window.rank];
            const Moment shift = window.rank < run.clockShift.size() ? run.clockShift[window.rank] : 0;
            for (std::uint32_t t = 0; t < rank.streams.size(); ++t) {
                const RecordedSpans &spans = rank.streams[t].spans;
                auto i = static_cast<std::size_t>(
                    std::ranges::lower_bound(spans.start, window.start - shift) - spans.start.begin());
                for (; rank.streams[t].isGpu && i < spans.size() && spans.start[i] < window.end - shift; ++i) {
                    if (!isGpuWork(spans.work[i]))
                        continue;
                    const auto own = matched[window.rank].find({ t, static_cast<std::uint32_t>(i) });
                    m_works.push_back({ .rank = window.rank,
                        .stream = t,
                        .span = static_cast<std::uint32_t>(i),
                        .work = spans.work[i],
                        .name = spans.name[i],
                        .matched = own == matched[window.rank].end() ? kNoIndex : own->second,
                        .step = static_cast<int>(s),
                        .start = spans.start[i] + shift,
                        .end = spans.start[i] + shift + spans.duration[i],
                        .duration = spans.duration[i] });
                }
            }
            if (m_works.size() > kMostWorks)
                return m_works.clear();
        }
    std::ranges::stable_sort(m_works, {}, [](const ReplayWork &one) { return std::tuple(one.start, one.rank); });
}

void StepReplay::findDependencies(const Run &run)
{
    const Recording &recording = *run.recording;
    std::map<std::uint32_t, std::vector<std::uint32_t>> parts; // works by matched collective
    for (std::uint32_t i = 0; i < m_works.size(); ++i) {
        m_events.push_back({ i, false });
        m_events.push_back({ i, true });
        if (m_works[i].matched != kNoIndex)
            parts[m_works[i].matched].push_back(i);
    }
    const auto endOf = [](const ReplayWork &work) { return std::max(work.end - kMomentRounding, work.start + 1); };
    const auto momentOf = [&](const Event &event) {
        const ReplayWork &work = m_works[event.work];
        return event.isEnd ? endOf(work) : work.start;
    };
    std::ranges::stable_sort(m_events, [&](const Event &a, const Event &b) {
        const Moment at = momentOf(a), then = momentOf(b);
        return at != then ? at < then : a.isEnd && !b.isEnd;
    });
    std::vector<std::vector<std::uint32_t>> partners(m_works.size());
    for (const auto &[collective, works] : parts)
        for (const std::uint32_t own : works) {
            Moment last = m_works[own].start;
            for (const std::uint32_t other : works)
                if (m_works[other].start < endOf(m_works[own])) { // else it left before
                    partners[own].push_back(other);
                    last = std::max(last, m_works[other].start);
                }
            m_works[own].duration = m_works[own].end - last;
        }
    for (std::uint32_t i = 0; i < m_works.size(); ++i) {
        m_firstPartner.push_back(static_cast<std::uint32_t>(m_partners.size()));
        m_partners.insert(m_partners.end(), partners[i].begin(), partners[i].end());
    }
    m_firstPartner.push_back(static_cast<std::uint32_t>(m_partners.size()));

    struct OfRank {
        std::map<std::uint32_t, std::uint32_t> lastOfStream; // begun
        std::uint32_t ended = kNoIndex; // the last of any stream
        std::vector<std::uint32_t> received; // that no kernel was seen to wait for
    };
    std::vector<OfRank> ranks(recording.ranks.size());
    std::vector<std::vector<std::uint32_t>> before(m_works.size());
    const auto launchOf = [&](const ReplayWork &work) {
        const RecordedSpans &spans = recording.ranks[work.rank].streams[work.stream].spans;
        return work.span < spans.launchedAt.size() ? spans.launchedAt[work.span] : kNoMoment;
    };
    for (const Event &event : m_events) {
        ReplayWork &work = m_works[event.work];
        OfRank &rank = ranks[work.rank];
        if (event.isEnd) {
            rank.ended = event.work;
            if (isReceive(run, work))
                rank.received.push_back(event.work);
            continue;
        }
        std::vector<std::uint32_t> &own = before[event.work];
        if (const auto last = rank.lastOfStream.find(work.stream); last != rank.lastOfStream.end())
            own.push_back(last->second);
        rank.lastOfStream[work.stream] = event.work;
        if (rank.ended != kNoIndex)
            own.push_back(rank.ended);
        const Moment launch = launchOf(work);
        if (work.work == RecordedWork::Compute)
            std::erase_if(rank.received, [&](std::uint32_t transfer) {
                const Moment posted = launchOf(m_works[transfer]);
                if (launch != kNoMoment && posted != kNoMoment && posted > launch)
                    return false; // a later kernel waits for it
                own.push_back(transfer);
                return true;
            });
        std::erase_if(own, [&](std::uint32_t other) { return endOf(m_works[other]) > work.start; });
        Moment ready = std::numeric_limits<Moment>::min();
        for (const std::uint32_t other : own)
            ready = std::max(ready, m_works[other].end);
        if (own.empty())
            continue;
        work.gap = work.start - ready;
        if (launch != kNoMoment) {
            const Moment shift = work.rank < run.clockShift.size() ? run.clockShift[work.rank] : 0;
            work.host = std::clamp<Moment>(launch + shift - ready, 0, std::max<Moment>(0, work.gap));
        }
    }
    for (std::uint32_t i = 0; i < m_works.size(); ++i) {
        m_firstBefore.push_back(static_cast<std::uint32_t>(m_before.size()));
        m_before.insert(m_before.end(), before[i].begin(), before[i].end());
    }
    m_firstBefore.push_back(static_cast<std::uint32_t>(m_before.size()));
}

double StepReplay::seconds(const ReplayChange &change) const
{
    if (m_works.empty())
        return 0;
    std::vector<Moment> start(m_works.size()), end(m_works.size());
    for (const Event &event : m_events) {
        const std::uint32_t i = event.work;
        if (!event.isEnd) {
            const auto first = m_firstBefore[i], last = m_firstBefore[i + 1];
            Moment ready = std::numeric_limits<Moment>::min();
            for (auto k = first; k < last; ++k)
                ready = std::max(ready, end[m_before[k]]);
            start[i] = first == last ? m_works[i].start : ready + (change.gap.empty() ? m_works[i].gap : change.gap[i]);
            continue;
        }
        Moment entered = start[i];
        for (auto k = m_firstPartner[i]; k < m_firstPartner[i + 1]; ++k)
            entered = std::max(entered, start[m_partners[k]]);
        end[i] = entered + (change.duration.empty() ? m_works[i].duration : change.duration[i]);
    }
    std::vector<Moment> ends(m_steps.size(), std::numeric_limits<Moment>::min());
    Moment begun = std::numeric_limits<Moment>::max();
    for (std::uint32_t i = 0; i < m_works.size(); ++i) {
        Moment &own = ends[static_cast<std::size_t>(m_works[i].step)];
        own = std::max(own, end[i]);
        begun = std::min(begun, start[i]);
    }
    if (ends.size() == 1)
        return static_cast<double>(ends.front() - begun) * 1e-9;
    return static_cast<double>(ends.back() - ends.front()) * 1e-9 / static_cast<double>(ends.size() - 1);
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/desk/live_snapshots.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr std::ptrdiff_t kLookBack = 8; // steps
constexpr std::int64_t kUsualSteps = 8, kLeastSteps = 2, kMostSteps = 256, kMostSpans = 600'000;

RunPtr runOf(const live::Snapshot &snapshot)
{
    const Recording &recording = *snapshot.recording;
    const bool hasAny = recording.spanCount() > 0 || !recording.series.empty()
        || std::ranges::any_of(recording.ranks, [](const RankRecording &rank) { return !rank.steps.empty(); });
    return hasAny ? makeRun(Recording(recording)) : nullptr;
}

} // namespace

int stepsWithSpans(std::int64_t fresh, std::int64_t spansPerStep)
{
    const std::int64_t wanted = std::clamp(fresh + 1, kUsualSteps, kMostSteps);
    return int(spansPerStep > 0 ? std::clamp(kMostSpans / spansPerStep, kLeastSteps, wanted) : wanted);
}

LiveState liveState(const LiveFeed &feed, const LiveSnapshotAsked &asked)
{
    LiveState state;
    state.revision = asked.lastKnown;
    state.stepsTold = feed.stepsTold();
    state.spansPerStep = asked.spansPerStep;
    const int steps = stepsWithSpans(state.stepsTold - asked.stepsKnown, asked.spansPerStep);
    const std::optional<live::Snapshot> snapshot =
        feed.snapshot({ .steps = steps, .until = asked.until, .lastKnown = asked.lastKnown });
    if (!snapshot)
        return state;
    state.hasNews = true;
    state.revision = snapshot->revision;
    state.counts = snapshot->counts;
    for (const live::RankLife &life : snapshot->ranks)
        state.heard.push_back({ life.rank, life.host, life.heard, life.step });
    state.run = runOf(*snapshot);
    if (state.run)
        if (const auto shown = std::ranges::count_if(state.run->steps, &RunStep::hasSpans); shown > 0)
            state.spansPerStep = std::max<std::int64_t>(1, std::int64_t(snapshot->recording->spanCount()) / shown);
    if (asked.until && asked.wantsNewest)
        if (const std::optional<live::Snapshot> newest = feed.snapshot({ .steps = steps }))
            state.newest = runOf(*newest);
    return state;
}

std::optional<std::int64_t> newestWholeStep(const Run &run)
{
    if (run.steps.empty())
        return std::nullopt;
    const auto end = run.steps.begin() + std::ptrdiff_t(watch::stepsThatCount(run));
    auto begin = end - std::min(kLookBack, end - run.steps.begin());
    if (end != run.steps.end()) { // of the attempt that goes on, which fewer ranks may do
        const Moment before = std::ranges::max_element(end, run.steps.end(), {}, &RunStep::start)->start;
        begin = std::find_if(begin, end, [before](const RunStep &step) { return step.start > before; });
    }
    std::size_t most = 0;
    for (auto step = begin; step != end; ++step)
        most = std::max(most, step->ranks.size());
    for (auto step = end; step != begin;)
        if ((--step)->ranks.size() >= most)
            return step->number;
    return std::prev(end)->number;
}

} // namespace trainyard

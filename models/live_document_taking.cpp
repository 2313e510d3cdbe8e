// SPDX-License-Identifier: GPL-3.0-or-later
// How a live document gets from one state to the next: what its sources told, at a pace that people can follow.
#include "core/live/desk/live_snapshots.h"
#include "models/live_document_internal.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kPatienceMs = 5000, kSilenceMs = 1000;

} // namespace

void LiveDocument::tick()
{
    if (d->hasChanged->exchange(false, std::memory_order_relaxed)) {
        d->hasNews = true;
        readStatuses();
    }
    if (d->sinceTaken.isValid() && d->sinceTaken.elapsed() >= kPatienceMs)
        d->awaitsOverlay = false; // another run took its place
    const bool isTime = !d->sinceTaken.isValid() || d->sinceTaken.elapsed() >= d->paceMs;
    if (d->isHeld)
        return;
    if (d->feed && d->hasNews && !d->isTaking && !d->awaitsOverlay && isTime)
        takeSnapshot();
    else
        endWhereDone();
    lookAgain();
}

/// Silence is no news: where a source is connected and tells nothing, time is.
void LiveDocument::lookAgain()
{
    const RunOverlayPtr &overlay = d->watch.overlay();
    const bool isConnected = std::ranges::any_of(d->rows, [](const LiveSourceRow &row) {
        return row.status.state == live::SourceState::Live || row.status.state == live::SourceState::Stale;
    });
    if (!overlay || !isConnected || d->hasNews || d->isTaking || d->sinceTaken.elapsed() < kSilenceMs
        || (d->sinceLooked.isValid() && d->sinceLooked.elapsed() < kSilenceMs))
        return;
    d->sinceLooked.start();
    lookAt(overlay->run, overlay);
}

/// Where all sources were removed, what they told last is still shown; then it goes on no more.
void LiveDocument::endWhereDone()
{
    if (!d->rows.empty() || d->hasNews || d->isTaking || d->awaitsOverlay)
        return;
    d->ticks.stop();
    if (d->isShown)
        d->runs.endLive();
}

void LiveDocument::readStatuses()
{
    std::vector<LiveSourceRow> rows;
    if (d->feed)
        for (auto &[number, status] : d->feed->statuses())
            rows.push_back({ number, std::move(status) });
    if (std::exchange(d->rows, rows) == rows)
        return;
    emit sourcesChanged();
}

void LiveDocument::takeSnapshot()
{
    d->hasNews = false;
    d->isTaking = true;
    d->sinceTaken.start();
    LiveSnapshotAsked asked { .stepsKnown = d->stepsTold, .spansPerStep = d->spansPerStep, .lastKnown = d->revision };
    if (!d->isFollowing && d->isShown)
        asked.until = d->runs.options().step;
    asked.wantsNewest = asked.until.has_value(); // for the watchman, who looks at all steps
    d->taking.run(
        this, [feed = d->feed, asked] { return liveState(*feed, asked); },
        [this, generation = d->generation, isOfUntil = asked.until.has_value()](LiveState state) {
            if (generation != d->generation)
                return;
            d->isTaking = false;
            if (!state.hasNews)
                return;
            d->revision = std::max(d->revision, state.revision);
            d->counts = std::move(state.counts);
            d->heard = std::move(state.heard);
            d->stepsTold = state.stepsTold;
            d->spansPerStep = state.spansPerStep;
            // Of all that was told: a job that was started again is at an earlier step than before.
            const RunPtr &all = isOfUntil ? state.newest : state.run;
            const std::int64_t newest = all ? newestWholeStep(*all).value_or(-1) : d->newest;
            const bool isNewer = std::exchange(d->newest, newest) != newest;
            const bool isShownAlone = isOfUntil && d->isShown;
            if (state.run && d->isShown)
                showRun(state.run);
            const RunPtr &seen = state.newest ? state.newest : isShownAlone ? nullptr : state.run;
            if (seen && (!d->isShown || isShownAlone))
                lookAt(seen, nullptr);
            if (isNewer)
                emit stepsChanged();
        });
}

void LiveDocument::showRun(const RunPtr &run)
{
    d->awaitsOverlay = true;
    d->runs.showLive(run, d->isFollowing ? newestWholeStep(*run) : std::nullopt);
}

/// The watchman sees what is shown, unless that is of an older step: then another plan judges what he saw last.
void LiveDocument::watchShown()
{
    const RunOverlayPtr &overlay = d->runs.overlay();
    if (!overlay || !isShown())
        return;
    const RunOverlayPtr &last = d->watch.overlay();
    if (d->runs.isLive() && d->isFollowing)
        lookAt(overlay->run, overlay);
    else if (last && last->evaluation != judge())
        lookAt(last->run, nullptr);
}

void LiveDocument::setPlan(const PlanPtr &plan)
{
    d->plan = plan;
    watchShown();
}

/// What is shown may be a plan that is only tried.
const EvaluationPtr &LiveDocument::judge()
{
    const EvaluationPtr &shown = d->runs.evaluation();
    const auto isOfPlan = [&](const EvaluationPtr &one) {
        return !d->plan || (one && (one->plan == d->plan || *one->plan == *d->plan));
    };
    if (isOfPlan(shown) || !(shown || isOfPlan(d->judge)))
        d->judge = shown;
    return d->judge;
}

/// `made`: of the run, where it may be of the plan; null: it is to be made.
void LiveDocument::lookAt(const RunPtr &run, const RunOverlayPtr &made)
{
    const EvaluationPtr &by = judge();
    d->watch.look({ by, run, made && made->evaluation == by ? made : nullptr, d->heard });
}

} // namespace trainyard

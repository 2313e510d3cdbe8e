#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a live document holds, for the files that implement it. GUI thread.

#include "models/live_document.h"
#include "models/live_watch.h"

#include <QElapsedTimer>
#include <QTimer>

#include <atomic>
#include <utility>

namespace trainyard {

struct LiveDocument::Private {
    Private(RunDocument &document, const Catalogue &catalogue, MakeLiveFeed make)
        : runs(document)
        , makeFeed(std::move(make))
        , questions(catalogue)
    {
    }
    RunDocument &runs;
    MakeLiveFeed makeFeed;
    /// null: nobody has connected yet
    std::shared_ptr<LiveFeed> feed;
    std::shared_ptr<std::atomic<bool>> hasChanged = std::make_shared<std::atomic<bool>>(false);
    std::vector<LiveSourceRow> rows;
    live::StoreCounts counts;
    /// of those, what a recording holds
    std::int64_t savedEvents = 0;
    std::vector<watch::Heard> heard;
    /// of the last snapshot
    Moment revision = 0;
    std::int64_t newest = -1, stepsTold = 0, spansPerStep = 0;
    /// as the document of the run had it last
    std::optional<std::int64_t> shownStep;
    /// of the session
    std::uint64_t generation = 0;
    /// from one state that is shown to the next, at least
    int paceMs = 300;
    bool isFollowing = true;
    /// nothing new is shown
    bool isHeld = false;
    /// in the document of the run, rather than what was opened since
    bool isShown = false;
    bool hasNews = false, isTaking = false, awaitsOverlay = false;
    /// it is us who change what is shown
    bool isShowing = false;
    QElapsedTimer sinceTaken, sinceLooked;
    QTimer ticks;
    /// that alarms are judged by; null: whatever is shown
    PlanPtr plan;
    /// of it, or of the one before until it is evaluated
    EvaluationPtr judge;
    LiveWatch watch;
    LiveWhatIfs questions;
    /// last: their work uses what is above
    BackgroundQueue disposal, writing, taking;

    void renewFeed()
    {
        ++generation;
        disposal.dispose(std::exchange(feed, nullptr));
        hasChanged = std::make_shared<std::atomic<bool>>(false);
        feed = makeFeed([flag = hasChanged] { flag->store(true, std::memory_order_relaxed); });
        counts = {};
        savedEvents = 0;
        heard.clear();
        revision = 0;
        newest = -1;
        stepsTold = spansPerStep = 0;
        isTaking = awaitsOverlay = hasNews = false;
        watch.forget();
        questions.forget();
    }
};

} // namespace trainyard

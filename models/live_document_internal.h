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
    std::shared_ptr<LiveFeed> feed; // null: nobody has connected yet
    std::shared_ptr<std::atomic<bool>> hasChanged = std::make_shared<std::atomic<bool>>(false);
    std::vector<LiveSourceRow> rows;
    live::StoreCounts counts;
    std::vector<watch::Heard> heard;
    Moment revision = 0; // of the last snapshot
    std::int64_t newest = -1, stepsTold = 0, spansPerStep = 0;
    std::optional<std::int64_t> shownStep; // as the document of the run had it last
    std::uint64_t generation = 0; // of the session
    int paceMs = 300; // from one state that is shown to the next, at least
    bool isFollowing = true;
    bool isShown = false; // in the document of the run, rather than what was opened since
    bool hasNews = false, isTaking = false, awaitsOverlay = false;
    bool isShowing = false; // it is us who change what is shown
    QElapsedTimer sinceTaken, sinceLooked;
    QTimer ticks;
    LiveWatch watch;
    LiveWhatIfs questions;
    BackgroundQueue disposal, writing, taking; // last: their work uses what is above

    void renewFeed()
    {
        ++generation;
        disposal.dispose(std::exchange(feed, nullptr));
        hasChanged = std::make_shared<std::atomic<bool>>(false);
        feed = makeFeed([flag = hasChanged] { flag->store(true, std::memory_order_relaxed); });
        counts = {};
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

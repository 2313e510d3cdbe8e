#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a run document holds, for the files that implement it. GUI thread, but for the progress of a reading.

#include "models/make_overlay.h"
#include "models/run_document.h"
#include "models/watched_paths.h"

#include <QTimer>

#include <mutex>
#include <stop_token>

namespace trainyard {

struct SharedReadingProgress {
    std::mutex mutex;
    ReadingProgress now;
    bool isNew = false;
};

struct RunDocument::Private {
    Read readPaths;
    std::shared_ptr<const LinePattern> linePattern;
    bool mayTakeLinePattern = false;
    /// operators and calls of the host
    bool keepsHost = false;
    OpenedRun run, reference;
    EvaluationPtr evaluation;
    OverlayOptions options;
    RunOverlayPtr overlay;
    /// of it
    MeasuredLanesPtr lanes;
    /// of it
    VerdictPtr verdict;
    /// of it
    OverlayParts parts;
    /// whose curves these are
    RunPtr referenceOf;
    std::shared_ptr<const std::vector<RunCurve>> referenceCurves = std::make_shared<const std::vector<RunCurve>>();
    bool isReading = false, readsReference = false, readsAgain = false, isWatching = false;
    /// overlays
    bool isMaking = false, isOwed = false;
    struct Live { // a run that goes on
        /// its newest state
        RunPtr run;
        /// that it wants shown; empty: what was chosen stays
        std::optional<std::int64_t> step;
        bool isShown = false;
    };
    std::optional<Live> live;
    /// of steps, by a person
    std::uint64_t choices = 0;
    /// and closings: how often another run took the place
    std::uint64_t readings = 0;
    /// of the newest reading: older ones are not wanted any more
    std::uint64_t generation = 0;
    std::stop_source stop;
    std::shared_ptr<SharedReadingProgress> shared;
    ReadingProgress progress;
    QTimer tick;
    WatchedPaths watched;
    /// last: their work uses what is above
    BackgroundQueue disposal, writing, making, reading;

    void drop(std::shared_ptr<const void> object) { disposal.dispose(std::move(object)); }
    void dropParts(OverlayParts old)
    {
        drop(std::move(old.underPlan));
        drop(std::move(old.compared));
    }
    void watchRun() { watched.watch(isWatching && !isReading ? run.paths : QStringList(), run.fingerprint); }
};

} // namespace trainyard

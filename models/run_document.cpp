// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/run_document.h"

#include "core/telemetry/recording_file.h"
#include "models/background_queue.h"
#include "models/make_overlay.h"
#include "models/read_run.h"
#include "models/watched_paths.h"

#include <QThread>
#include <QTimer>

#include <algorithm>
#include <mutex>

namespace trainyard {

namespace {

constexpr int kTickMs = 50, kLeastThreads = 2;

struct SharedProgress {
    std::mutex mutex;
    ReadingProgress now;
    bool isNew = false;
};

} // namespace

struct RunDocument::Private {
    struct Side { // the run, or the reference
        QStringList paths;
        QByteArray fingerprint; // of the paths as they were read
        RunPtr run;
    };
    Read readPaths;
    Side run, reference;
    EvaluationPtr evaluation;
    OverlayOptions options;
    RunOverlayPtr overlay;
    VerdictPtr verdict; // of it
    OverlayParts parts; // of it
    RunPtr referenceOf; // whose curves these are
    std::shared_ptr<const std::vector<RunCurve>> referenceCurves = std::make_shared<const std::vector<RunCurve>>();
    bool isReading = false, readsReference = false, isWatching = false;
    bool isMaking = false, isOwed = false; // overlays
    std::uint64_t generation = 0; // of the newest reading: older ones are not wanted any more
    std::stop_source stop;
    std::shared_ptr<SharedProgress> shared;
    ReadingProgress progress;
    QTimer tick;
    WatchedPaths watched;
    BackgroundQueue disposal, writing, making, reading; // last: their work uses what is above

    void drop(std::shared_ptr<const void> object) { disposal.dispose(std::move(object)); }
    void dropParts(OverlayParts old)
    {
        drop(std::move(old.underPlan));
        drop(std::move(old.compared));
    }
    void watchRun() { watched.watch(isWatching && !isReading ? run.paths : QStringList(), run.fingerprint); }
};

RunDocument::RunDocument(QObject *parent)
    : RunDocument(
        [](const std::vector<std::string> &paths, const SourceOptions &options, const SourcesProgress &progress) {
            return readSources(paths, options, std::max(kLeastThreads, QThread::idealThreadCount()), progress);
        },
        parent)
{
}

RunDocument::RunDocument(Read read, QObject *parent)
    : QObject(parent)
    , d(std::make_unique<Private>())
{
    d->readPaths = std::move(read);
    d->tick.setInterval(kTickMs);
    connect(&d->tick, &QTimer::timeout, this, [this] {
        {
            const std::scoped_lock lock(d->shared->mutex);
            if (!std::exchange(d->shared->isNew, false))
                return;
            d->progress = d->shared->now;
        }
        emit progressChanged(d->progress);
    });
    connect(&d->watched, &WatchedPaths::changed, this, [this] {
        if (!d->isReading)
            this->read(d->run.paths, false, true);
    });
}

RunDocument::~RunDocument()
{
    d->stop.request_stop();
    d->reading.wait();
    d->making.wait();
}

void RunDocument::open(const QStringList &paths)
{
    read(paths, false, false);
}

void RunDocument::openReference(const QStringList &paths)
{
    read(paths, true, false);
}

void RunDocument::read(const QStringList &paths, bool isReference, bool isAgain)
{
    d->stop.request_stop();
    d->stop = {};
    const std::uint64_t generation = ++d->generation;
    d->shared = std::make_shared<SharedProgress>();
    d->progress = {};
    d->isReading = true;
    d->readsReference = isReference;
    d->watched.watch({});
    d->tick.start();
    emit readingChanged(true);
    emit progressChanged(d->progress);

    SourceOptions options;
    options.stop = d->stop.get_token();
    SourcesProgress progress;
    progress.report = [shared = d->shared](std::size_t filesDone, std::size_t files, double share) {
        const std::scoped_lock lock(shared->mutex);
        shared->now.filesDone = filesDone;
        shared->now.files = files;
        shared->now.share = share;
        shared->isNew = true;
    };
    progress.began = [shared = d->shared](const std::string &file) {
        const std::scoped_lock lock(shared->mutex);
        shared->now.file = QString::fromStdString(file);
        shared->isNew = true;
    };
    d->reading.run(
        this,
        [paths, options, progress, readPaths = d->readPaths] { return readRun(paths, options, progress, readPaths); },
        [this, paths, isReference, isAgain, generation](ReadRun found) {
            if (generation != d->generation) {
                d->drop(std::move(found.run));
                return;
            }
            d->isReading = false;
            d->tick.stop();
            Private::Side &side = isReference ? d->reference : d->run;
            if (found.run) {
                d->drop(std::exchange(side.run, found.run));
                if (!isReference && !isAgain)
                    d->options.step.reset();
                if (!isReference && !isAgain)
                    d->options.rank.reset();
            }
            if (found.run || !side.run) { // a folder that is empty yet may be watched
                side.paths = paths;
                side.fingerprint = found.fingerprint;
            } else if (isAgain) {
                side.fingerprint = found.fingerprint;
            }
            d->watchRun();
            emit readingChanged(false);
            if (found.run) {
                emit runChanged();
                makeOverlay();
            } else if (!isAgain) {
                emit readingFailed(found.errors);
            }
        });
}

void RunDocument::cancel()
{
    if (!d->isReading)
        return;
    d->stop.request_stop();
    ++d->generation;
    d->isReading = false;
    d->tick.stop();
    d->watchRun();
    emit readingChanged(false);
}

void RunDocument::close()
{
    cancel();
    d->drop(std::exchange(d->run.run, nullptr));
    d->drop(std::exchange(d->reference.run, nullptr));
    d->drop(std::exchange(d->overlay, nullptr));
    d->verdict = nullptr;
    d->dropParts(std::exchange(d->parts, {}));
    d->drop(std::exchange(d->referenceOf, nullptr));
    d->referenceCurves = std::make_shared<const std::vector<RunCurve>>();
    d->run = d->reference = {};
    d->options = {};
    d->watched.watch({});
    emit runChanged();
    emit overlayChanged(d->overlay);
}

void RunDocument::closeReference()
{
    if (d->isReading && d->readsReference)
        cancel();
    if (!d->reference.run)
        return;
    d->drop(std::exchange(d->reference.run, nullptr));
    d->reference = {};
    emit runChanged();
    makeOverlay();
}

void RunDocument::setWatching(bool watches)
{
    if (std::exchange(d->isWatching, watches) == watches)
        return;
    d->watchRun();
    emit watchingChanged(watches);
}

void RunDocument::save(const QString &path)
{
    if (!d->run.run)
        return;
    d->writing.run(
        this, [recording = d->run.run->recording, path] { return writeRecording(*recording, path.toStdString()); },
        [this, path](const Expected<void> &written) {
            if (written)
                emit saved(path);
            else
                emit saveFailed(path, { written.error() });
        });
}

void RunDocument::setEvaluation(const EvaluationPtr &evaluation)
{
    if (std::exchange(d->evaluation, evaluation) != evaluation)
        makeOverlay();
}

void RunDocument::setStep(std::optional<std::int64_t> number)
{
    if (std::exchange(d->options.step, number) == number)
        return;
    emit optionsChanged();
    makeOverlay();
}

void RunDocument::setRank(std::optional<int> rank)
{
    if (std::exchange(d->options.rank, rank) == rank)
        return;
    emit optionsChanged();
    makeOverlay();
}

/// One at a time: what is asked for meanwhile is made next, and nothing between.
void RunDocument::makeOverlay()
{
    d->isOwed = d->run.run != nullptr;
    if (!d->isOwed || std::exchange(d->isMaking, true))
        return;
    d->isOwed = false;
    d->making.run(
        this,
        [asked = OverlayAsked { d->evaluation, d->run.run, d->reference.run, d->options, d->parts,
             d->referenceOf != d->reference.run }] { return makeOverlayOf(asked); },
        [this](MadeOverlay made) {
            d->isMaking = false;
            const bool isWanted =
                made.overlay && made.overlay->run == d->run.run && made.referenceOf == d->reference.run;
            if (isWanted) {
                if (made.referenceCurves)
                    d->referenceCurves = std::move(made.referenceCurves);
                else if (!made.referenceOf)
                    d->referenceCurves = std::make_shared<const std::vector<RunCurve>>();
                d->drop(std::exchange(d->referenceOf, made.referenceOf));
                d->drop(std::exchange(d->overlay, made.overlay));
                d->verdict = std::move(made.verdict);
                d->dropParts(std::exchange(d->parts, made.parts));
            }
            d->drop(std::move(made.overlay));
            if (d->isOwed)
                makeOverlay();
            if (isWanted)
                emit overlayChanged(d->overlay);
        });
}

bool RunDocument::isReading() const
{
    return d->isReading;
}

bool RunDocument::isReadingReference() const
{
    return d->isReading && d->readsReference;
}

bool RunDocument::isWatching() const
{
    return d->isWatching;
}

const ReadingProgress &RunDocument::progress() const
{
    return d->progress;
}

const QStringList &RunDocument::paths() const
{
    return d->run.paths;
}

const RunPtr &RunDocument::run() const
{
    return d->run.run;
}

const RunPtr &RunDocument::reference() const
{
    return d->reference.run;
}

const RunOverlayPtr &RunDocument::overlay() const
{
    return d->overlay;
}

const VerdictPtr &RunDocument::verdict() const
{
    return d->verdict;
}

const OverlayOptions &RunDocument::options() const
{
    return d->options;
}

const std::vector<RunCurve> &RunDocument::referenceCurves() const
{
    return *d->referenceCurves;
}

const EvaluationPtr &RunDocument::evaluation() const
{
    return d->evaluation;
}

const RunStep *RunDocument::step() const
{
    if (!d->run.run || d->run.run->steps.empty())
        return nullptr;
    const std::vector<RunStep> &steps = d->run.run->steps;
    if (d->options.step)
        if (const auto at = std::ranges::find(steps, *d->options.step, &RunStep::number); at != steps.end())
            return &*at;
    const int typical = d->run.run->typicalStep;
    return typical >= 0 && std::size_t(typical) < steps.size() ? &steps[std::size_t(typical)] : nullptr;
}

int RunDocument::slowestStep() const
{
    if (!d->run.run)
        return -1;
    const std::vector<RunStep> &steps = d->run.run->steps;
    int slowest = -1;
    bool isPlain = false; // neither warm-up nor outlier
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool counts = !steps[i].isWarmUp && !steps[i].isOutlier;
        if (slowest < 0 || (counts && !isPlain)
            || (counts == isPlain && steps[i].seconds > steps[std::size_t(slowest)].seconds)) {
            slowest = int(i);
            isPlain = counts;
        }
    }
    return slowest;
}

} // namespace trainyard

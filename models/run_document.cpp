// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/run_document.h"

#include "core/runs/telemetry/line_pattern.h"
#include "core/runs/telemetry/recording_file.h"
#include "models/read_run.h"
#include "models/run_document_internal.h"

#include <QThread>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kRunTickMs = 50, kLeastThreads = 2;

} // namespace

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
    d->tick.setInterval(kRunTickMs);
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
        if (!d->isReading && !d->live)
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

std::optional<Error> RunDocument::setLinePattern(const QString &text)
{
    if (text.isEmpty()) {
        d->linePattern.reset();
        return std::nullopt;
    }
    auto pattern = LinePattern::parse(text.toStdString());
    if (!pattern)
        return pattern.error();
    d->linePattern = std::make_shared<const LinePattern>(*std::move(pattern));
    return std::nullopt;
}

bool RunDocument::mayTakeLinePattern() const
{
    return d->mayTakeLinePattern;
}

QString RunDocument::linePattern() const
{
    return d->linePattern ? QString::fromStdString(d->linePattern->text()) : QString();
}

void RunDocument::setKeepsHost(bool keeps)
{
    if (std::exchange(d->keepsHost, keeps) != keeps && d->run.run && !d->live && !d->run.paths.isEmpty())
        read(d->run.paths, false, true);
}

bool RunDocument::keepsHost() const
{
    return d->keepsHost;
}

void RunDocument::read(const QStringList &paths, bool isReference, bool isAgain)
{
    d->stop.request_stop();
    d->stop = {};
    const std::uint64_t generation = ++d->generation;
    d->shared = std::make_shared<SharedReadingProgress>();
    d->progress = {};
    d->isReading = true;
    d->readsReference = isReference;
    d->readsAgain = isAgain;
    d->watched.watch({});
    d->tick.start();
    emit readingChanged(true);
    emit progressChanged(d->progress);

    SourceOptions options;
    options.stop = d->stop.get_token();
    options.linePattern = d->linePattern;
    options.keepsHostSpans = d->keepsHost;
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
            OpenedRun &side = isReference ? d->reference : d->run;
            if (found.run) {
                if (!isReference) {
                    d->live.reset();
                    ++d->readings;
                }
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
            d->mayTakeLinePattern = found.mayTakeLinePattern;
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
    d->live.reset();
    ++d->readings;
    d->drop(std::exchange(d->run.run, nullptr));
    d->drop(std::exchange(d->reference.run, nullptr));
    d->drop(std::exchange(d->overlay, nullptr));
    d->drop(std::exchange(d->lanes, nullptr));
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

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/live_document.h"

#include "core/telemetry/recording_file.h"
#include "models/live_snapshots.h"
#include "models/live_watch.h"
#include "models/live_words.h"

#include <QElapsedTimer>
#include <QTimer>

#include <algorithm>
#include <atomic>
#include <utility>

namespace trainyard {

namespace {

constexpr int kTickMs = 100, kPaceMs = 300, kPatienceMs = 5000;

bool goesOn(const live::SourceStatus &status)
{
    return status.state != live::SourceState::Ended && status.state != live::SourceState::Refused;
}

} // namespace

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
    int paceMs = kPaceMs;
    bool isFollowing = true;
    bool isShown = false; // in the document of the run, rather than what was opened since
    bool hasNews = false, isTaking = false, awaitsOverlay = false;
    bool isShowing = false; // it is us who change what is shown
    QElapsedTimer sinceTaken;
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

LiveDocument::LiveDocument(RunDocument &runs, const Catalogue &catalogue, QObject *parent)
    : LiveDocument(runs, catalogue, makeSessionFeed, parent)
{
}

LiveDocument::LiveDocument(RunDocument &runs, const Catalogue &catalogue, MakeLiveFeed makeFeed, QObject *parent)
    : QObject(parent)
    , d(std::make_unique<Private>(runs, catalogue, std::move(makeFeed)))
{
    d->ticks.setInterval(kTickMs);
    connect(&d->ticks, &QTimer::timeout, this, &LiveDocument::tick);
    connect(&runs, &RunDocument::overlayChanged, this, [this] {
        d->awaitsOverlay = false;
        d->shownStep = d->runs.options().step;
        watchShown();
    });
    connect(&runs, &RunDocument::optionsChanged, this, &LiveDocument::noteChoice);
    connect(&runs, &RunDocument::runChanged, this, [this] {
        if (!isShown() || d->runs.isLive())
            return;
        d->isShown = false;
        if (!d->runs.run())
            clear(); // it was closed
        else
            setFollowing(false); // a person opened another
    });
    connect(&d->watch, &LiveWatch::stepsChanged, this, &LiveDocument::stepsChanged);
    connect(&d->watch, &LiveWatch::alarmsChanged, this, &LiveDocument::alarmsChanged);
    connect(&d->questions, &LiveWhatIfs::changed, this, &LiveDocument::whatIfsChanged);
}

LiveDocument::~LiveDocument()
{
    d->taking.wait();
}

Expected<std::uint32_t> LiveDocument::connectTo(const QString &text, const live::SourceSettings &settings)
{
    const Expected<live::Address> address = live::parseAddress(text.trimmed().toStdString());
    if (!address)
        return std::unexpected(address.error());
    if (const auto checked = live::checkSettings(*address, settings); !checked)
        return std::unexpected(checked.error());
    const bool isNew = d->rows.empty();
    if (isNew)
        d->renewFeed();
    const Expected<std::uint32_t> source = d->feed->add(*address, settings);
    if (!source)
        return source;
    if (isNew) {
        d->isShown = true;
        d->sinceTaken.invalidate();
        setFollowing(true);
    }
    d->ticks.start();
    readStatuses();
    return source;
}

void LiveDocument::remove(std::uint32_t source)
{
    if (!d->feed)
        return;
    d->feed->remove(source);
    readStatuses();
}

void LiveDocument::setPaused(std::uint32_t source, bool isPaused)
{
    if (!d->feed)
        return;
    d->feed->setPaused(source, isPaused);
    readStatuses();
}

void LiveDocument::setAllPaused(bool arePaused)
{
    for (const LiveSourceRow &row : std::vector(d->rows))
        if (goesOn(row.status))
            d->feed->setPaused(row.number, arePaused);
    readStatuses();
}

bool LiveDocument::areAllPaused() const
{
    bool hasAny = false;
    for (const LiveSourceRow &row : d->rows) {
        if (!goesOn(row.status))
            continue;
        if (row.status.state != live::SourceState::Paused)
            return false;
        hasAny = true;
    }
    return hasAny;
}

void LiveDocument::retryNow(std::uint32_t source)
{
    if (!d->feed)
        return;
    d->feed->retryNow(source);
    readStatuses();
}

void LiveDocument::disconnectAll()
{
    for (const LiveSourceRow &row : std::vector(d->rows))
        d->feed->remove(row.number);
    readStatuses();
}

void LiveDocument::clear()
{
    const bool wasShown = std::exchange(d->isShown, false) && d->runs.isLive();
    ++d->generation;
    d->disposal.dispose(std::exchange(d->feed, nullptr));
    d->rows.clear();
    d->counts = {};
    d->newest = -1;
    d->isTaking = d->awaitsOverlay = d->hasNews = false;
    d->ticks.stop();
    d->watch.forget();
    d->questions.forget();
    if (wasShown)
        d->runs.close();
    emit sourcesChanged();
}

void LiveDocument::save(const QString &path)
{
    if (!d->feed)
        return;
    d->writing.run(
        this, [feed = d->feed, path] { return writeRecording(feed->whole(), path.toStdString()); },
        [this, path](const Expected<void> &written) {
            if (written)
                emit saved(path);
            else
                emit saveFailed(path, { written.error() });
        });
}

void LiveDocument::setFollowing(bool follows)
{
    const bool wasShown = std::exchange(d->isShown, d->isShown || (follows && isLive()));
    if (std::exchange(d->isFollowing, follows) == follows && wasShown == d->isShown)
        return;
    d->hasNews = true;
    d->revision = 0; // what was known was of other steps
    emit followingChanged(follows);
}

/// A step that a person chose stays.
void LiveDocument::noteChoice()
{
    const std::optional<std::int64_t> step = d->runs.options().step;
    if (!isShown() || !d->runs.isLive() || std::exchange(d->shownStep, step) == step)
        return;
    setFollowing(false);
    d->hasNews = true;
    d->revision = 0;
}

void LiveDocument::tick()
{
    if (d->hasChanged->exchange(false, std::memory_order_relaxed)) {
        d->hasNews = true;
        readStatuses();
    }
    if (d->sinceTaken.isValid() && d->sinceTaken.elapsed() >= kPatienceMs)
        d->awaitsOverlay = false; // another run took its place
    const bool isTime = !d->sinceTaken.isValid() || d->sinceTaken.elapsed() >= d->paceMs;
    if (d->feed && d->hasNews && !d->isTaking && !d->awaitsOverlay && isTime)
        takeSnapshot();
    else
        endWhereDone();
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
            const std::int64_t newest = state.run ? newestWholeStep(*state.run).value_or(-1) : -1;
            const bool isNewer = std::exchange(d->newest, std::max(d->newest, newest)) < newest;
            const bool isShownAlone = isOfUntil && d->isShown;
            if (state.run && d->isShown)
                showRun(state.run);
            const RunPtr &seen = state.newest ? state.newest : isShownAlone ? nullptr : state.run;
            if (seen && (!d->isShown || isShownAlone))
                d->watch.look({ d->runs.evaluation(), seen, nullptr, d->heard });
            if (isNewer)
                emit stepsChanged();
        });
}

void LiveDocument::showRun(const RunPtr &run)
{
    d->awaitsOverlay = true;
    d->runs.showLive(run, d->isFollowing ? newestWholeStep(*run) : std::nullopt);
}

/// The watchman sees what is shown, unless that is of an older step.
void LiveDocument::watchShown()
{
    const RunOverlayPtr &overlay = d->runs.overlay();
    if (!overlay || !isShown() || !d->runs.isLive() || !d->isFollowing)
        return;
    d->watch.look({ overlay->evaluation, overlay->run, overlay, d->heard });
}

void LiveDocument::setPace(int milliseconds)
{
    d->paceMs = milliseconds;
}

void LiveDocument::askWhatIf()
{
    if (canAskWhatIf())
        d->questions.ask(d->watch.overlay(), d->watch.alarms());
}

bool LiveDocument::canAskWhatIf() const
{
    return d->watch.overlay() && d->watch.overlay()->evaluation;
}

const LiveWhatIfs &LiveDocument::questions() const
{
    return d->questions;
}

const std::vector<LiveWhatIf> &LiveDocument::whatIfs() const
{
    return d->questions.all();
}

const std::vector<LiveSourceRow> &LiveDocument::sources() const
{
    return d->rows;
}

bool LiveDocument::isLive() const
{
    return !d->rows.empty();
}

bool LiveDocument::isShown() const
{
    return d->isShown;
}

bool LiveDocument::isFollowing() const
{
    return d->isFollowing;
}

std::int64_t LiveDocument::newestStep() const
{
    return d->newest;
}

const std::vector<watch::Alarm> &LiveDocument::alarms() const
{
    return d->watch.alarms();
}

const std::vector<watch::Watchman::StepFigures> &LiveDocument::steps() const
{
    return d->watch.steps();
}

const watch::Watchman::StepFigures &LiveDocument::predicted() const
{
    return d->watch.predicted();
}

const live::StoreCounts &LiveDocument::counts() const
{
    return d->counts;
}

QString LiveDocument::dropped() const
{
    return droppedSentence(d->rows, d->counts);
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/live_document_internal.h"

#include "core/base/output_file.h"
#include "core/live/desk/alarm_log.h"
#include "core/runs/telemetry/recording_file.h"
#include "models/live_words.h"

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

constexpr int kLiveTickMs = 100;

Expected<void> writeLogBeside(const std::string &recording, const std::vector<desk::AlarmEntry> &entries)
{
    return writeOutputFile(
        desk::alarmLogBeside(recording),
        [&](std::ostream &out) {
            for (const desk::AlarmEntry &entry : entries)
                out << desk::lineOf(entry) << '\n';
        },
        OutputKinds::RegularOnly);
}

} // namespace

LiveDocument::LiveDocument(RunDocument &runs, const Catalogue &catalogue, QObject *parent)
    : LiveDocument(runs, catalogue, makeSessionFeed, parent)
{
}

LiveDocument::LiveDocument(RunDocument &runs, const Catalogue &catalogue, MakeLiveFeed makeFeed, QObject *parent)
    : QObject(parent)
    , d(std::make_unique<Private>(runs, catalogue, std::move(makeFeed)))
{
    d->ticks.setInterval(kLiveTickMs);
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
    connect(&d->watch, &LiveWatch::alarmOptionsChanged, this, &LiveDocument::alarmOptionsChanged);
    connect(&d->watch, &LiveWatch::alarmFault, this, &LiveDocument::alarmFault);
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

void LiveDocument::setHeld(bool isHeld)
{
    if (std::exchange(d->isHeld, isHeld) != isHeld)
        emit heldChanged(isHeld);
}

bool LiveDocument::isHeld() const
{
    return d->isHeld;
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
    d->savedEvents = 0;
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
        this,
        [feed = d->feed, path, entries = d->watch.entries(),
            isLogged = !d->watch.alarmOptions().logPath.empty()]() -> Expected<void> {
            const auto written = writeWhatFits(feed->whole(), path.toStdString());
            if (!written)
                return std::unexpected(written.error());
            if (!entries->empty() && !isLogged)
                if (const auto log = writeLogBeside(path.toStdString(), *entries); !log)
                    return log;
            if (!written->empty()) // kept, and still unsaved
                return std::unexpected(
                    Error { ErrorCode::CannotWrite, path.toStdString(), *written, "room for the whole recording" });
            return {};
        },
        [this, path, generation = d->generation, events = d->counts.events](const Expected<void> &written) {
            if (written && generation == d->generation)
                d->savedEvents = events;
            if (written)
                emit saved(path);
            else
                emit saveFailed(path, { written.error() });
        });
}

bool LiveDocument::hasUnsaved() const
{
    const auto isHeard = [](const LiveSourceRow &row) { return row.status.address.type != live::SourceType::Replay; };
    return d->counts.events > d->savedEvents && std::ranges::any_of(d->rows, isHeard);
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
    return d->watch.overlay() && d->watch.overlay()->evaluation && otherJob().isEmpty();
}

const QString &LiveDocument::otherJob() const
{
    return d->watch.otherJob();
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

const desk::AlarmState *LiveDocument::alarmState(std::size_t i) const
{
    return d->watch.stateOf(i);
}

void LiveDocument::acknowledge(std::int64_t number, const QString &note)
{
    d->watch.acknowledge(number, note.toStdString());
}

void LiveDocument::mute(std::int64_t number, double seconds)
{
    d->watch.mute(number, seconds);
}

void LiveDocument::unmute(std::int64_t number)
{
    d->watch.unmute(number);
}

ExpectedAll<void> LiveDocument::setAlarmOptions(const LiveAlarmOptions &options)
{
    return d->watch.setAlarmOptions(options);
}

const LiveAlarmOptions &LiveDocument::alarmOptions() const
{
    return d->watch.alarmOptions();
}

ExpectedAll<QStringList> LiveDocument::readAlarmRules(const QString &path)
{
    auto read = desk::readAlarmSetup(path.toStdString());
    if (!read)
        return std::unexpected(read.error());
    QStringList leftOut;
    std::erase_if(read->targets, [&](const desk::NotifyTarget &target) {
        const bool isHere = target.command.empty() && live::isLoopback(target.webhook.host);
        if (!isHere)
            leftOut << QString::fromStdString(target.name());
        return !isHere;
    });
    LiveAlarmOptions options = alarmOptions();
    options.setup = std::move(*read);
    options.file = path.toStdString();
    if (const auto set = setAlarmOptions(options); !set)
        return std::unexpected(set.error());
    return leftOut;
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

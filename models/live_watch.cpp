// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/live_watch.h"

#include "core/live/batch.h"
#include "core/runs/overlay/plan_notes.h"

#include <QDateTime>

#include <cmath>
#include <limits>
#include <utility>

namespace trainyard {

namespace {

constexpr double kUntold = std::numeric_limits<double>::quiet_NaN();

watch::Watchman::StepFigures nothingTold()
{
    return { -1, kUntold, kUntold, kUntold, kUntold, kUntold, kUntold, kUntold, kUntold };
}

std::shared_ptr<watch::Watchman> newWatchman(const watch::AlarmRules &rules)
{
    return std::make_shared<watch::Watchman>(
        watch::WatchOptions { .rules = rules, .utcOffsetSeconds = QDateTime::currentDateTime().offsetFromUtc() });
}

ExpectedAll<std::shared_ptr<desk::AlarmDesk>> newDesk(const LiveAlarmOptions &options)
{
    auto opened = desk::AlarmDesk::open({ .setup = options.setup,
        .logPath = options.logPath,
        .allowsWebhooksAnywhere = options.allowsWebhooksAnywhere,
        .run = "the window" });
    if (!opened)
        return std::unexpected(opened.error());
    return std::shared_ptr<desk::AlarmDesk>(std::move(*opened));
}

} // namespace

LiveWatch::LiveWatch(QObject *parent)
    : QObject(parent)
    , m_alarms(std::make_shared<const std::vector<watch::Alarm>>())
    , m_steps(std::make_shared<const std::vector<watch::Watchman::StepFigures>>())
    , m_predicted(nothingTold())
    , m_watchman(newWatchman({}))
    , m_keeper(newDesk({}).value()) // without a log and without anybody to notify there is nothing that fails
{
    m_desk.entries = std::make_shared<const std::vector<desk::AlarmEntry>>();
}

void LiveWatch::look(LiveToShow shown)
{
    if (m_isLooking)
        m_owed = std::move(shown);
    else
        start(std::move(shown));
}

void LiveWatch::start(LiveToShow shown)
{
    m_isLooking = true;
    m_queue.run(
        this,
        [shown = std::move(shown), watchman = m_watchman, keeper = m_keeper] {
            const RunOverlayPtr overlay =
                shown.overlay ? shown.overlay : overlayRun(shown.evaluation, shown.run, OverlayOptions {});
            watchman->look(*overlay, shown.heard, live::unixNow());
            DeskTold ofDesk { .numbers = keeper->look(watchman->alarms(), live::unixNow()) };
            tellOfDesk(*keeper, ofDesk);
            return Told { overlay, std::make_shared<const std::vector<watch::Alarm>>(watchman->alarms()),
                std::make_shared<const std::vector<watch::Watchman::StepFigures>>(watchman->steps()),
                watchman->predicted(),
                overlay->evaluation && overlay->run ? otherJobNote(*overlay->evaluation, *overlay->run->recording)
                                                    : std::string(),
                std::move(ofDesk) };
        },
        [this, generation = m_generation](Told told) {
            m_isLooking = false;
            if (generation == m_generation)
                take(std::move(told));
            if (m_owed)
                start(*std::exchange(m_owed, std::nullopt));
        });
}

void LiveWatch::take(Told told)
{
    const bool areAlarmsNew =
        *told.alarms != *m_alarms || told.desk.numbers != m_desk.numbers || told.desk.states != m_desk.states;
    m_disposal.dispose(std::exchange(m_alarms, std::move(told.alarms)));
    m_disposal.dispose(std::exchange(m_steps, std::move(told.steps)));
    m_disposal.dispose(std::exchange(m_overlay, std::move(told.overlay)));
    m_predicted = told.predicted;
    takeDesk(std::move(told.desk));
    const QString otherJob = QString::fromStdString(told.otherJob);
    const bool isOtherNote = std::exchange(m_otherJob, otherJob) != otherJob;
    emit stepsChanged();
    if (areAlarmsNew || isOtherNote)
        emit alarmsChanged();
    emit looked();
}

void LiveWatch::forget()
{
    ++m_generation;
    m_owed.reset();
    m_watchman = newWatchman(m_options.setup.rules);
    take({ nullptr, std::make_shared<const std::vector<watch::Alarm>>(),
        std::make_shared<const std::vector<watch::Watchman::StepFigures>>(), nothingTold(), {}, {} });
}

/// On the queue's thread.
void LiveWatch::tellOfDesk(desk::AlarmDesk &desk, DeskTold &told)
{
    told.states = desk.states().all();
    told.fault = desk.logFault();
    if (!desk.takeNew().empty())
        told.entries = std::make_shared<const std::vector<desk::AlarmEntry>>(desk.entries());
}

void LiveWatch::takeDesk(DeskTold told)
{
    if (!told.entries)
        told.entries = m_desk.entries;
    const std::string before = std::exchange(m_desk, std::move(told)).fault;
    if (!m_desk.fault.empty() && m_desk.fault != before)
        emit alarmFault(QString::fromStdString(m_desk.fault));
}

const desk::AlarmState *LiveWatch::stateOf(std::size_t i) const
{
    const auto state = i < m_desk.numbers.size() ? m_desk.states.find(m_desk.numbers[i]) : m_desk.states.end();
    return state == m_desk.states.end() ? nullptr : &state->second;
}

ExpectedAll<void> LiveWatch::setAlarmOptions(const LiveAlarmOptions &options)
{
    // The log that is watched already cannot be opened again, and stays as it is; nor is anybody told twice.
    LiveAlarmOptions same = m_options;
    same.setup.rules = options.setup.rules;
    same.file = options.file;
    if (same != options) {
        if (!m_options.logPath.empty() && options.logPath == m_options.logPath) {
            m_queue.wait();
            m_keeper.reset(); // lets go of the log
        }
        auto desk = newDesk(options);
        if (!desk) {
            if (!m_keeper)
                m_keeper = newDesk(m_options).value_or(newDesk({}).value());
            return std::unexpected(desk.error());
        }
        m_keeper = std::move(*desk);
    }
    m_options = options;
    m_queue.run([watchman = m_watchman, rules = options.setup.rules] { watchman->setRules(rules); });
    emit alarmOptionsChanged();
    return {};
}

void LiveWatch::answer(const Answer &give)
{
    struct Answered {
        Expected<void> result;
        DeskTold told;
    };
    m_queue.run(
        this,
        [keeper = m_keeper, give] {
            Answered answered { give(*keeper, live::unixNow()), {} };
            tellOfDesk(*keeper, answered.told);
            return answered;
        },
        [this, keeper = m_keeper](Answered answered) {
            if (keeper != m_keeper)
                return;
            answered.told.numbers = m_desk.numbers;
            takeDesk(std::move(answered.told));
            if (!answered.result)
                emit alarmFault(QString::fromStdString(toString(answered.result.error())));
            emit alarmsChanged();
        });
}

void LiveWatch::acknowledge(std::int64_t number, const std::string &note)
{
    answer([=](desk::AlarmDesk &desk, Moment now) { return desk.acknowledge(number, desk::userName(), note, now); });
}

void LiveWatch::mute(std::int64_t number, double seconds)
{
    answer([=](desk::AlarmDesk &desk, Moment now) {
        return desk.mute({ number, {} }, now + Moment(seconds * 1e9), desk::userName(), {}, now);
    });
}

void LiveWatch::unmute(std::int64_t number)
{
    answer([=](desk::AlarmDesk &desk, Moment now) { return desk.unmute({ number, {} }, desk::userName(), now); });
}

} // namespace trainyard

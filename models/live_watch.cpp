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

std::shared_ptr<watch::Watchman> newWatchman()
{
    return std::make_shared<watch::Watchman>(
        watch::WatchOptions { .utcOffsetSeconds = QDateTime::currentDateTime().offsetFromUtc() });
}

} // namespace

LiveWatch::LiveWatch(QObject *parent)
    : QObject(parent)
    , m_alarms(std::make_shared<const std::vector<watch::Alarm>>())
    , m_steps(std::make_shared<const std::vector<watch::Watchman::StepFigures>>())
    , m_predicted(nothingTold())
    , m_watchman(newWatchman())
{
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
        [shown = std::move(shown), watchman = m_watchman] {
            const RunOverlayPtr overlay =
                shown.overlay ? shown.overlay : overlayRun(shown.evaluation, shown.run, OverlayOptions {});
            watchman->look(*overlay, shown.heard, live::unixNow());
            return Told { overlay, std::make_shared<const std::vector<watch::Alarm>>(watchman->alarms()),
                std::make_shared<const std::vector<watch::Watchman::StepFigures>>(watchman->steps()),
                watchman->predicted(),
                overlay->evaluation && overlay->run ? otherJobNote(*overlay->evaluation, *overlay->run->recording)
                                                    : std::string() };
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
    const bool areAlarmsNew = *told.alarms != *m_alarms;
    m_disposal.dispose(std::exchange(m_alarms, std::move(told.alarms)));
    m_disposal.dispose(std::exchange(m_steps, std::move(told.steps)));
    m_disposal.dispose(std::exchange(m_overlay, std::move(told.overlay)));
    m_predicted = told.predicted;
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
    m_watchman = newWatchman();
    take({ nullptr, std::make_shared<const std::vector<watch::Alarm>>(),
        std::make_shared<const std::vector<watch::Watchman::StepFigures>>(), nothingTold(), {} });
}

} // namespace trainyard

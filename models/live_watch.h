#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The watchman of a live run, beside the GUI thread: is shown each newer overlay, and tells alarms and the figures of
// all steps. One look at a time; of overlays that come meanwhile the newest is looked at. GUI thread.

#include "core/live/alarms/watchman.h"
#include "models/background_queue.h"

#include <QObject>

#include <optional>

namespace trainyard {

struct LiveToShow { // what the watchman is shown
    EvaluationPtr evaluation;
    RunPtr run;
    /// of both; null: to be made
    RunOverlayPtr overlay;
    std::vector<watch::Heard> heard;
};

class LiveWatch : public QObject {
    Q_OBJECT
public:
    explicit LiveWatch(QObject *parent = nullptr);

    void look(LiveToShow shown);
    /// another session begins
    void forget();

    [[nodiscard]] const std::vector<watch::Alarm> &alarms() const { return *m_alarms; }
    [[nodiscard]] const std::vector<watch::Watchman::StepFigures> &steps() const { return *m_steps; }
    [[nodiscard]] const watch::Watchman::StepFigures &predicted() const { return m_predicted; }
    /// Why the run is not one of its plan, a sentence; empty: it may be one.
    [[nodiscard]] const QString &otherJob() const { return m_otherJob; }
    /// The last that was looked at; null: nothing was.
    [[nodiscard]] const RunOverlayPtr &overlay() const { return m_overlay; }

signals:
    void stepsChanged();
    void alarmsChanged();
    void looked();

private:
    using Alarms = std::shared_ptr<const std::vector<watch::Alarm>>;
    using Steps = std::shared_ptr<const std::vector<watch::Watchman::StepFigures>>;
    struct Told {
        RunOverlayPtr overlay;
        Alarms alarms;
        Steps steps;
        watch::Watchman::StepFigures predicted;
        std::string otherJob;
    };
    void start(LiveToShow shown);
    void take(Told told);

    Alarms m_alarms;
    Steps m_steps;
    watch::Watchman::StepFigures m_predicted;
    RunOverlayPtr m_overlay;
    QString m_otherJob;
    /// used by the queue alone
    std::shared_ptr<watch::Watchman> m_watchman;
    std::optional<LiveToShow> m_owed;
    bool m_isLooking = false;
    std::uint64_t m_generation = 0;
    /// last: its work uses what is above
    BackgroundQueue m_disposal, m_queue;
};

} // namespace trainyard

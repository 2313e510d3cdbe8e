#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The watchman of a live run and the desk that keeps its alarms, beside the GUI thread: is shown each newer overlay,
// and tells alarms, how each stands, and the figures of all steps. One look at a time; of overlays that come meanwhile
// the newest is looked at. GUI thread.

#include "core/live/desk/alarm_desk.h"
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

/// What the user asks of alarms.
struct LiveAlarmOptions {
    desk::AlarmSetup setup;
    /// the file that told the setup; empty: as usual
    std::string file;
    /// empty: the log is kept in memory, and goes beside a recording that is saved
    std::string logPath;
    bool allowsWebhooksAnywhere = false;
    bool operator==(const LiveAlarmOptions &) const = default;
};

class LiveWatch : public QObject {
    Q_OBJECT
public:
    explicit LiveWatch(QObject *parent = nullptr);

    void look(LiveToShow shown);
    /// another session begins
    void forget();
    /// From the next look on. Errors: of the log, of who is notified; then all stays as it was.
    [[nodiscard]] ExpectedAll<void> setAlarmOptions(const LiveAlarmOptions &options);
    [[nodiscard]] const LiveAlarmOptions &alarmOptions() const { return m_options; }
    /// In the name of this machine's user. What cannot be done is told by alarmFault().
    void acknowledge(std::int64_t number, const std::string &note);
    void mute(std::int64_t number, double seconds);
    void unmute(std::int64_t number);

    [[nodiscard]] const std::vector<watch::Alarm> &alarms() const { return *m_alarms; }
    /// Of alarms()[i]; null: the desk has not seen it yet.
    [[nodiscard]] const desk::AlarmState *stateOf(std::size_t i) const;
    /// What happened to alarms in this session, for a log beside its recording.
    [[nodiscard]] std::shared_ptr<const std::vector<desk::AlarmEntry>> entries() const { return m_desk.entries; }
    [[nodiscard]] const std::vector<watch::Watchman::StepFigures> &steps() const { return *m_steps; }
    [[nodiscard]] const watch::Watchman::StepFigures &predicted() const { return m_predicted; }
    /// Why the run is not one of its plan, a sentence; empty: it may be one.
    [[nodiscard]] const QString &otherJob() const { return m_otherJob; }
    /// The last that was looked at; null: nothing was.
    [[nodiscard]] const RunOverlayPtr &overlay() const { return m_overlay; }

signals:
    void stepsChanged();
    void alarmsChanged();
    void alarmOptionsChanged();
    /// An answer to an alarm, or its log, could not be written.
    void alarmFault(const QString &text);
    void looked();

private:
    using Alarms = std::shared_ptr<const std::vector<watch::Alarm>>;
    using Steps = std::shared_ptr<const std::vector<watch::Watchman::StepFigures>>;
    struct DeskTold {
        /// of the alarms beside it
        std::vector<std::int64_t> numbers;
        std::map<std::int64_t, desk::AlarmState> states;
        /// null: as before
        std::shared_ptr<const std::vector<desk::AlarmEntry>> entries;
        std::string fault;
    };
    struct Told {
        RunOverlayPtr overlay;
        Alarms alarms;
        Steps steps;
        watch::Watchman::StepFigures predicted;
        std::string otherJob;
        DeskTold desk;
    };
    using Answer = std::function<Expected<void>(desk::AlarmDesk &desk, Moment now)>;
    static void tellOfDesk(desk::AlarmDesk &desk, DeskTold &told);
    void answer(const Answer &give);
    void takeDesk(DeskTold told);
    void start(LiveToShow shown);
    void take(Told told);

    Alarms m_alarms;
    Steps m_steps;
    watch::Watchman::StepFigures m_predicted;
    RunOverlayPtr m_overlay;
    QString m_otherJob;
    /// used by the queue alone
    std::shared_ptr<watch::Watchman> m_watchman;
    std::shared_ptr<desk::AlarmDesk> m_keeper;
    LiveAlarmOptions m_options;
    DeskTold m_desk;
    std::optional<LiveToShow> m_owed;
    bool m_isLooking = false;
    std::uint64_t m_generation = 0;
    /// last: its work uses what is above
    BackgroundQueue m_disposal, m_queue;
};

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Live sources beside the plan that the window shows: connects, pauses and forgets them, tells how each is, and hands
// what they told to the run document, which lays it under the plan like any recording. Following shows the newest step
// as it comes; scrubbing back stays where it is while the session goes on. Alarms come from the watchman of
// core/live/alarms, and what-ifs are evaluated beside the GUI thread. Nothing here is part of the plan. GUI thread.

#include "core/live/desk/live_feed.h"
#include "core/live/source.h"
#include "models/live_watch.h"
#include "models/live_what_ifs.h"
#include "models/run_document.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <memory>
#include <vector>

namespace trainyard {

struct LiveSourceRow {
    std::uint32_t number = 0;
    live::SourceStatus status;
    bool operator==(const LiveSourceRow &) const = default;
};

class LiveDocument : public QObject {
    Q_OBJECT
public:
    LiveDocument(RunDocument &runs, const Catalogue &catalogue, QObject *parent = nullptr);
    /// With another feed than a session's, for tests.
    LiveDocument(RunDocument &runs, const Catalogue &catalogue, MakeLiveFeed makeFeed, QObject *parent = nullptr);
    ~LiveDocument() override;

    /// Errors of the text or the settings; what the network says is told by the row's status.
    [[nodiscard]] Expected<std::uint32_t> connectTo(const QString &address, const live::SourceSettings &settings = {});
    void remove(std::uint32_t source);
    void setPaused(std::uint32_t source, bool isPaused);
    void retryNow(std::uint32_t source);
    /// What is shown stays as it is, alarms included, while the sources go on and all they tell is kept: the next state
    /// that is shown has it.
    void setHeld(bool isHeld);
    [[nodiscard]] bool isHeld() const;
    /// removes them; what they told stays as a run that may be saved
    void disconnectAll();
    /// all sources and what they told
    void clear();
    /// all that is held, as a recording; saved or saveFailed of the run document's kind
    void save(const QString &path);
    /// Sources are connected, other than replays of recordings, and they told what was not saved.
    [[nodiscard]] bool hasUnsaved() const;

    [[nodiscard]] const std::vector<LiveSourceRow> &sources() const;
    /// some source was added and not removed
    [[nodiscard]] bool isLive() const;

    /// Following: each new step is shown as it comes. Choosing a step in the run document, or setFollowing(false),
    /// stays there; data goes on coming.
    void setFollowing(bool follows);
    [[nodiscard]] bool isFollowing() const;
    /// -1: none
    [[nodiscard]] std::int64_t newestStep() const;

    [[nodiscard]] const std::vector<watch::Alarm> &alarms() const;
    /// How alarms()[i] stands: acknowledged by whom, muted until when; null: it is not known yet.
    [[nodiscard]] const desk::AlarmState *alarmState(std::size_t i) const;
    /// In the name of this machine's user, by the number of its state.
    void acknowledge(std::int64_t number, const QString &note = {});
    void mute(std::int64_t number, double seconds);
    void unmute(std::int64_t number);
    /// Rules, who is notified, and the log. Errors: of the log, of webhooks beyond this machine, of files of tokens.
    [[nodiscard]] ExpectedAll<void> setAlarmOptions(const LiveAlarmOptions &options);
    [[nodiscard]] const LiveAlarmOptions &alarmOptions() const;
    /// The rules of a file, and its webhooks of this machine. A command in it is not run, since a file may be
    /// anybody's: only the command line (--alarms) lets one. Who is left out is answered.
    [[nodiscard]] ExpectedAll<QStringList> readAlarmRules(const QString &path);
    [[nodiscard]] const std::vector<watch::Watchman::StepFigures> &steps() const;
    [[nodiscard]] const watch::Watchman::StepFigures &predicted() const;
    /// what was lost and why, a sentence; empty: nothing
    [[nodiscard]] QString dropped() const;
    [[nodiscard]] const live::StoreCounts &counts() const;
    /// Where the document of the run shows what these sources told, rather than what a person opened since.
    [[nodiscard]] bool isShown() const;

    /// Milliseconds from one state that is shown to the next, at least.
    void setPace(int milliseconds);
    /// Alarms and what-ifs are of this plan, whatever is tried or hovered meanwhile; null: of whatever the run lies
    /// under. Another one judges them again once it is evaluated.
    void setPlan(const PlanPtr &plan);

    /// Makes the questions of now and evaluates them, the likeliest first.
    void askWhatIf();
    /// steps of a run lie under its plan
    [[nodiscard]] bool canAskWhatIf() const;
    /// Why the run is not one of the plan that it lies under, a sentence; empty: it may be one.
    [[nodiscard]] const QString &otherJob() const;
    [[nodiscard]] const LiveWhatIfs &questions() const;
    [[nodiscard]] const std::vector<LiveWhatIf> &whatIfs() const;

Q_SIGNALS:
    /// statuses, at most 10 times/s
    void sourcesChanged();
    /// another newest step, or figures of one
    void stepsChanged();
    void alarmsChanged();
    void alarmOptionsChanged();
    void alarmFault(const QString &text);
    void heldChanged(bool isHeld);
    void followingChanged(bool follows);
    void whatIfsChanged();
    void saved(const QString &path);
    void saveFailed(const QString &path, const trainyard::Errors &errors);

private:
    void tick();
    void readStatuses();
    void takeSnapshot();
    void showRun(const RunPtr &run);
    void watchShown();
    const EvaluationPtr &judge();
    void lookAt(const RunPtr &run, const RunOverlayPtr &made);
    void lookAgain();
    void noteChoice();
    void endWhereDone();

    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace trainyard

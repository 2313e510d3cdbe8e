// SPDX-License-Identifier: GPL-3.0-or-later
// A run that goes on, in the window: connected to through the sheet, paused, scrubbed, followed, lost and found again,
// removed; its alarms, and what would be if a link stays as it is.
#include "../../core/runs/overlay/recorded_run.h"
#include "../../support/line_server.h"
#include "../../support/set_live_feed.h"
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "core/facts/plan/plan_io.h"
#include "core/live/stream_lines.h"
#include "core/runs/telemetry/read_sources.h"
#include "core/runs/telemetry/recording_file.h"
#include "views/live/alarm_list.h"
#include "views/live/connect_sheet.h"
#include "views/live/live_page.h"
#include "views/live/live_row.h"
#include "views/live/live_strip.h"
#include "views/live/source_chip.h"
#include "views/live/source_table.h"
#include "views/live/what_if_list.h"
#include "views/planner/trial_strip.h"
#include "views/run/run_badge.h"
#include "views/run/run_page.h"
#include "views/run/step_scrubber.h"
#include "views/timeline/timeline_view.h"
#include "views/window/live_actions.h"

#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>

using namespace trainyard;
using State = live::SourceState;

namespace {

constexpr int kLong = 60000; // ms, for a machine that is busy
constexpr int kSteps = 28, kSlowFrom = 14;

/// Three datacenters, of which the last is Oregon.
Plan planOfRegions()
{
    Plan plan = readPlan(TRAINYARD_SOURCE_DIR "/samples/atlas-three-datacenters.trainyard.json").value_or(Plan {});
    const char *names[] = { "Virginia", "Ohio", "Oregon" };
    for (std::size_t i = 0; i < plan.cluster.datacenters.size(); ++i)
        plan.cluster.datacenters[i].name = names[i];
    return plan;
}

/// Its run, in which the link to Oregon gets slow.
const Recording &slowRun()
{
    static const Recording made = [] {
        EvaluationWorkspace workspace;
        const auto evaluation = evaluate(std::make_shared<const Plan>(planOfRegions()), builtinCatalogue(), workspace);
        test::RecordedRunOptions options;
        options.steps = kSteps;
        options.noise = 0.01;
        options.outlierShare = 0;
        options.sendsTrueBytes = true;
        options.changes.push_back({ .first = kSlowFrom, .datacenter = 1, .otherDatacenter = 2, .transfers = 1.6 });
        Recording recording = test::recordRun(*evaluation, options).onTrueClock;
        recording.name = "three-regions";
        return recording;
    }();
    return made;
}

struct LiveFixture : WindowFixture {
    LiveFixture()
        : WindowFixture(QStringLiteral("atlas-three-datacenters"))
    {
        document.startNew(std::make_shared<const Plan>(planOfRegions()));
        settle();
        window.live().setPace(0);
    }
    [[nodiscard]] ConnectSheet &sheet() { return window.liveActions().sheet(); }
    [[nodiscard]] LivePage &page() { return window.liveActions().page(); }
    [[nodiscard]] LiveStrip &strip() { return window.liveActions().strip(); }
    [[nodiscard]] QString recordingFile()
    {
        const QString path = folder.filePath("three-regions.trainyard-recording");
        if (!QFile::exists(path) && !writeRecording(slowRun(), path.toStdString()))
            return {};
        return path;
    }
    /// By keyboard, through the sheet.
    void connectTo(const QString &address, std::optional<double> speed = {})
    {
        QVERIFY(window.commands().trigger("live.connect"));
        QVERIFY(sheet().isVisible());
        sheet().address->selectAll();
        QTest::keyClicks(sheet().address, address);
        if (speed)
            qobject_cast<QDoubleSpinBox *>(sheet().field(ConnectField::Speed))->setValue(*speed);
        QTest::keyClick(sheet().address, Qt::Key_Return);
    }
    void replay(double speed)
    {
        connectTo(QStringLiteral("replay:") + recordingFile(), speed);
        QVERIFY2(page().isVisible(), qPrintable(sheet().error()));
    }
    void awaitStep(std::int64_t number) { QTRY_VERIFY_WITH_TIMEOUT(window.live().newestStep() >= number, kLong); }
    void awaitShown(std::int64_t number)
    {
        QTRY_VERIFY_WITH_TIMEOUT(window.runs().overlay() && window.runs().overlay()->step >= 0
                && window.runs().step()->number == number && window.runs().overlay()->run == window.runs().run(),
            kLong);
    }
    [[nodiscard]] State state() { return window.live().sources().front().status.state; }
};

/// Without the word that it is over: a sender that was cut off.
std::string linesOf(const Recording &recording)
{
    std::string text;
    live::writeLines(recording, {}, [&](live::TimedLine &&line) {
        if (line.text.find("\"event\":\"end\"") == std::string::npos)
            text += line.text;
        return true;
    });
    return text;
}

} // namespace

class LiveWindowTest : public QObject {
    Q_OBJECT
private slots:
    void aReplayIsConnectedToThroughTheSheetAndFollowedToItsEnd()
    {
        LiveFixture f;
        f.replay(0);
        f.awaitStep(kSteps - 1);
        f.awaitShown(f.window.live().newestStep());
        QVERIFY(f.window.live().isFollowing() && f.window.runs().isLive());
        // The measured rows lie under those of the plan, in the timeline and on the page of the run.
        QVERIFY(f.window.runs().lanes() && f.window.runs().overlay()->evaluation == f.bridge.evaluation());
        QCOMPARE(f.window.workbench().timeline->state().measured, f.window.runs().lanes());
        QTRY_COMPARE_WITH_TIMEOUT(f.state(), State::Ended, kLong);
        QTest::keyClick(&f.page(), Qt::Key_Escape);
        QVERIFY(f.window.isWorkbenchShown() && f.strip().isVisible());
        QTRY_COMPARE_WITH_TIMEOUT(f.strip().step->figure(), QString::number(f.window.live().newestStep()), kLong);
        QVERIFY2(f.strip().sources().front().contains("Ended"), qPrintable(f.strip().sources().front()));
        QTRY_VERIFY2_WITH_TIMEOUT(
            f.strip().time->figure().contains("plan"), qPrintable(f.strip().time->figure()), kLong);
        QTest::mouseClick(f.strip().open, Qt::LeftButton);
        QVERIFY(f.page().isVisible());
    }
    void thePictureIsHeldWhileAReplayGoesOn()
    {
        LiveFixture f;
        f.replay(100); // a step takes some six tenths of a second
        f.awaitStep(0);
        QTest::mouseClick(f.page().strip->pause, Qt::LeftButton);
        QVERIFY(f.window.live().isHeld());
        QCOMPARE(f.page().strip->pause->text(), "Resume");
        for (const LiveStrip *strip : { f.page().strip, &f.strip() })
            QVERIFY2(strip->sources().front().contains("Paused"), qPrintable(strip->sources().front()));
        QVERIFY(f.state() != State::Paused); // the source itself goes on
        QTest::mouseClick(f.page().strip->pause, Qt::LeftButton);
        QVERIFY(!f.window.live().isHeld());
        QVERIFY2(!f.page().strip->sources().front().contains("Paused"), qPrintable(f.page().strip->sources().front()));
        f.awaitStep(2);
    }
    void scrubbingBackStaysAndFollowReturns()
    {
        LiveFixture f;
        f.replay(0);
        f.awaitStep(kSteps - 1);
        f.awaitShown(f.window.live().newestStep());
        QVERIFY(f.window.commands().trigger("view.run"));
        QTest::mouseClick(f.window.run().scrubber->previous, Qt::LeftButton);
        const std::int64_t chosen = f.window.runs().step()->number;
        QVERIFY(!f.window.live().isFollowing() && chosen < f.window.live().newestStep());
        f.awaitShown(chosen);
        QVERIFY(f.window.runs().step()->hasSpans());
        QVERIFY(!f.window.commands().action("live.follow")->isChecked());
        QVERIFY(f.window.commands().trigger("live.follow"));
        f.awaitShown(f.window.live().newestStep());
    }
    void aServerThatEndedIsConnectedToAgain()
    {
        LiveFixture f;
        test::SetRun run { .steps = 3 };
        test::LineServer server(linesOf(run.recording(0, 3)));
        f.connectTo(QStringLiteral("tcp://127.0.0.1:%1").arg(server.port()));
        f.awaitStep(2);
        server.shut();
        QTRY_COMPARE_WITH_TIMEOUT(f.state(), State::BackingOff, kLong);
        QTRY_VERIFY_WITH_TIMEOUT(f.page().strip->sources().front().contains("Trying again"), kLong);
        QVERIFY(!f.window.live().sources().front().status.reason.empty());
        run.steps = 6;
        server.setText(linesOf(run.recording(0, 6)));
        server.open();
        QTest::mouseClick(f.page().sources->retry, Qt::LeftButton); // does not wait for the next try
        f.awaitStep(5);
        f.awaitShown(5);
    }
    /// The job ends in step 59 and is started again from its checkpoint of step 39, ten minutes later: that is where it
    /// is.
    void aJobThatBeginsAgainAtAnEarlierStepIsFollowed()
    {
        LiveFixture f;
        test::LineServer server(linesOf(test::SetRun { .steps = 60 }.recording(0, 60)));
        f.connectTo(QStringLiteral("tcp://127.0.0.1:%1").arg(server.port()));
        f.awaitStep(59);
        server.shut();
        Recording again = test::SetRun { .steps = 43 }.recording(39, 43);
        again.zero += 600'000'000'000;
        for (RankRecording &rank : again.ranks)
            std::erase_if(rank.steps, [](const RecordedStep &step) { return step.number < 39; });
        SampleSeries &times = again.series.front(); // steps 39 to 42, each a millisecond longer than before
        times.at.erase(times.at.begin(), times.at.begin() + 39);
        times.value.erase(times.value.begin(), times.value.begin() + 39);
        for (double &seconds : times.value)
            seconds += 1e-3;
        server.setText(linesOf(again));
        server.open();
        QTest::mouseClick(f.page().sources->retry, Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(f.window.live().newestStep(), std::int64_t(42), kLong);
        f.awaitShown(42);
        QTRY_COMPARE_WITH_TIMEOUT(f.page().strip->step->figure(), QStringLiteral("42"), kLong);
        QTRY_VERIFY_WITH_TIMEOUT(!f.window.live().steps().empty(), kLong);
        QTRY_VERIFY_WITH_TIMEOUT(f.window.live().steps().back().number <= 42, kLong);
        QCOMPARE(f.strip().scrubber->field->value(), 42);
        QCOMPARE(f.strip().scrubber->field->maximum(), 42);
    }
    /// What was told is in no file yet: closing asks, saves it where that is wanted, and a replay is a file already.
    void closingWhileARunIsToldAsks()
    {
        LiveFixture f;
        const test::SetRun run { .steps = 3 };
        test::LineServer server(linesOf(run.recording(0, 3)));
        f.connectTo(QStringLiteral("tcp://127.0.0.1:%1").arg(server.port()));
        f.awaitStep(2);
        QVERIFY(!f.window.close() && f.window.isVisible());
        QCOMPARE(f.answers.askedOfRun, 1);
        f.answers.unsavedOfRun = Prompts::Unsaved::Save; // of which one thinks better in the file dialog
        QVERIFY(!f.window.close());
        QCOMPARE(f.answers.askedOfRun, 2);
        QVERIFY(f.window.isVisible());
        f.answers.file = f.folder.filePath("told.trainyard-recording");
        QVERIFY(!f.window.close()); // once it is written
        QTRY_VERIFY_WITH_TIMEOUT(!f.window.isVisible(), kLong);
        QVERIFY(readSource(f.answers.file.toStdString(), {}).has_value());
    }
    void closingWhileARecordingIsReplayedDoesNot()
    {
        LiveFixture f;
        f.replay(0);
        f.awaitStep(2);
        QVERIFY(f.window.close());
        QCOMPARE(f.answers.askedOfRun, 0);
    }
    void aSourceIsRemovedAndWhatItToldStays()
    {
        LiveFixture f;
        f.replay(0);
        f.awaitStep(kSteps - 1);
        f.awaitShown(f.window.live().newestStep());
        QTest::mouseClick(f.page().sources->removeButton, Qt::LeftButton);
        QVERIFY(!f.window.live().isLive());
        QTRY_VERIFY_WITH_TIMEOUT(!f.window.runs().isLive(), kLong);
        QVERIFY(f.window.runs().run() && !f.strip().isVisible());
        QVERIFY(!f.window.commands().trigger("live.disconnect")); // nothing to disconnect
        f.window.showWorkbench();
        QVERIFY(f.window.workbench().findChild<RunBadge *>()->isVisible());
    }
    void theSlowLinkIsAnAlarmThatLeadsToItsStep()
    {
        LiveFixture f;
        f.replay(0);
        f.awaitStep(kSteps - 1);
        QTRY_VERIFY_WITH_TIMEOUT(!f.page().alarms->rows().empty(), kLong);
        const auto about = [&](const watch::Alarm &one) { return one.sentence.find("Oregon") != std::string::npos; };
        QTRY_VERIFY_WITH_TIMEOUT(std::ranges::any_of(f.window.live().alarms(), about), kLong);
        const auto &alarms = f.window.live().alarms();
        const auto at = std::ranges::find_if(alarms, about) - alarms.begin();
        const watch::Alarm alarm = alarms[std::size_t(at)];
        QVERIFY2(alarm.firstStep >= kSlowFrom - 1 && !alarm.isOver(), alarm.sentence.c_str());
        LiveRow *row = f.page().alarms->rows()[std::size_t(at)];
        QCOMPARE(row->words(), QString::fromStdString(alarm.sentence));
        row->setFocus();
        QTest::keyClick(row, Qt::Key_Return);
        QVERIFY(f.window.isWorkbenchShown());
        f.awaitShown(alarm.firstStep); // which its sentence names
        QVERIFY2(alarm.sentence.find("Step " + std::to_string(alarm.firstStep)) == 0, alarm.sentence.c_str());
        QCOMPARE(f.strip().scrubber->field->value(), int(alarm.firstStep));
    }
    void aRunOfAnotherJobIsNotHeldAgainstThePlan()
    {
        LiveFixture f;
        Recording other = slowRun();
        for (RankRecording &rank : other.ranks)
            rank.worldSize = 96;
        const QString path = f.folder.filePath("other.trainyard-recording");
        QVERIFY(writeRecording(other, path.toStdString()));
        f.connectTo(QStringLiteral("replay:") + path, 0);
        f.awaitStep(kSteps - 1);
        QTRY_VERIFY_WITH_TIMEOUT(!f.page().alarms->warning().isEmpty(), kLong);
        QVERIFY2(f.page().alarms->warning().startsWith("The run has 96 ranks, the plan 24. The plan is not that"),
            qPrintable(f.page().alarms->warning()));
        QVERIFY(!f.page().whatIfs->ask->isEnabled());
        QVERIFY(f.page().whatIfs->summary().contains("not that of this run"));
    }
    void whatIfOregonsLinkStaysLikeThisIsAskedTriedAndUndone()
    {
        LiveFixture f;
        f.replay(0);
        f.awaitStep(kSteps - 1);
        const auto about = [](const watch::Alarm &one) { return one.sentence.find("Oregon") != std::string::npos; };
        QTRY_VERIFY_WITH_TIMEOUT(std::ranges::any_of(f.window.live().alarms(), about), kLong);
        const PlanPtr before = f.document.plan();
        const double planned = f.bridge.evaluation()->metrics.iterationTime.value();
        QTRY_VERIFY_WITH_TIMEOUT(f.page().whatIfs->ask->isEnabled(), kLong);
        QVERIFY(f.page().alarms->warning().isEmpty());
        QTest::mouseClick(f.page().whatIfs->ask, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(
            !f.window.live().whatIfs().empty() && !f.window.live().questions().isAsking(), 3 * kLong);
        const std::vector<LiveWhatIf> &all = f.window.live().whatIfs();
        const auto at = std::ranges::find_if(all, [](const LiveWhatIf &one) {
            return one.asked.kind == watch::WhatIfKind::LinkStays
                && one.asked.question.find("Oregon") != std::string::npos;
        });
        QVERIFY(at != all.end() && at->answer);
        QVERIFY2(at->answer->secondsPerStep > planned, at->answer->sentence.c_str()); // a slow link never helps
        // … and it is told against the plan, not against how it is now.
        QVERIFY2(at->answer->sentence.find("instead of") != std::string::npos, at->answer->sentence.c_str());
        QCOMPARE(at->answer->stayingSeconds, planned);
        const auto row = f.page().whatIfs->rows()[std::size_t(at - all.begin())];
        QVERIFY(!row.row->note().isEmpty() && row.row->answer().contains("per step"));
        const double answered = at->answer->secondsPerStep;
        QTest::mouseClick(row.tryIt, Qt::LeftButton);
        // As in the planner: it is shown, and the plan stays as it is until it is adopted.
        QVERIFY(f.window.isWorkbenchShown() && f.document.trial() && f.document.plan() == before);
        f.settle();
        // What was answered is what the window says of the plan.
        QVERIFY(std::abs(f.bridge.evaluation()->metrics.iterationTime.value() - answered) < 1e-6 * answered);
        QTRY_COMPARE_WITH_TIMEOUT(f.window.runs().overlay()->evaluation, f.bridge.evaluation(), kLong);
        const auto isAlarm = [&] {
            return std::ranges::any_of(f.window.live().alarms(),
                [&](const watch::Alarm &one) { return about(one) && one.kind == watch::AlarmKind::SlowLink; });
        };
        QTest::qWait(300); // alarms are of the plan, whatever is tried
        QVERIFY(isAlarm());
        QTest::mouseClick(f.window.findChild<TrialStrip *>()->adopt, Qt::LeftButton);
        QVERIFY(!f.document.trial() && !(*f.document.plan() == *before));
        QVERIFY(!f.document.undoStack().undoText().isEmpty());
        f.settle();
        QTRY_VERIFY_WITH_TIMEOUT(!isAlarm(), kLong); // as slow as this plan has it
        // No step comes any more, and the plan of before judges those that came again.
        QVERIFY(f.window.commands().trigger("edit.undo"));
        QVERIFY(*f.document.plan() == *before);
        f.settle();
        QTRY_VERIFY_WITH_TIMEOUT(isAlarm(), kLong);
    }
    void aRecordingIsReplayedByItsCommandAndSavedAgain()
    {
        LiveFixture f;
        QVERIFY(!f.window.commands().trigger("live.save")); // nothing was told yet
        f.answers.run = { f.recordingFile() };
        QVERIFY(f.window.commands().trigger("live.replay"));
        QVERIFY(f.page().isVisible() && f.window.live().isLive());
        f.window.live().clear();
        f.window.runs().open({ f.recordingFile() }); // as a run, which may be replayed
        QVERIFY(!f.window.commands().trigger("live.replayThis"));
        QTRY_VERIFY_WITH_TIMEOUT(f.window.runs().run(), kLong);
        QVERIFY(f.window.commands().trigger("live.replayThis"));
        f.awaitStep(0);
        QTRY_VERIFY_WITH_TIMEOUT(f.window.runs().isLive(), kLong);
        f.window.live().clear();
        f.replay(0);
        f.awaitStep(kSteps - 1);
        f.answers.file = f.folder.filePath("told");
        QVERIFY(f.window.commands().trigger("live.save"));
        QTRY_VERIFY_WITH_TIMEOUT(f.window.messages().text("save").contains("written"), kLong);
        const auto told = readSources({ (f.answers.file + ".trainyard-recording").toStdString() }, {}, 1);
        QVERIFY(told && told->ranks.size() == slowRun().ranks.size());
    }
    void theSheetIsLeftWithoutConnecting()
    {
        LiveFixture f;
        QVERIFY(f.window.commands().trigger("view.live"));
        QVERIFY(f.page().isVisible());
        QTest::keyClick(&f.page(), Qt::Key_Escape);
        QVERIFY(f.window.isWorkbenchShown());
        QVERIFY(f.window.commands().trigger("live.connect"));
        QTest::keyClick(f.sheet().address, Qt::Key_Escape);
        QVERIFY(f.window.isWorkbenchShown() && !f.window.live().isLive());
    }
};

TRAINYARD_TEST(LiveWindowTest)
#include "tst_live.moc"

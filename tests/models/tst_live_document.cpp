// SPDX-License-Identifier: GPL-3.0-or-later
// Live sources beside the window: what they tell is shown step by step, followed or not, paused, lost and ended.
#include "../support/set_live_feed.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include "core/evaluation/advice/evaluate.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/live/desk/live_snapshots.h"
#include "core/runs/telemetry/recording_file.h"
#include "models/live/live_source_model.h"
#include "models/live_document.h"
#include "models/live_words.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace trainyard;
using test::evaluatedSample;
using test::SetRun;
using test::SetSession;

namespace {

constexpr int kLong = 30000; // ms, for a machine that is busy

struct Live {
    std::shared_ptr<SetSession> session = std::make_shared<SetSession>();
    RunDocument runs;
    LiveDocument document { runs, builtinCatalogue(), test::feedOf(session) };

    Live() { document.setPace(0); }
    std::uint32_t connectTo(const char *address = "tcp://127.0.0.1:7070")
    {
        const auto source = document.connectTo(QString::fromLatin1(address));
        return source ? *source : 0;
    }
    void tell(std::int64_t steps)
    {
        session->tell([steps](SetSession &all) {
            all.run.steps = steps;
            for (auto &[number, status] : all.sources)
                status.state = live::SourceState::Live;
        });
    }
    [[nodiscard]] std::int64_t shownStep() const { return runs.step() ? runs.step()->number : -1; }
    [[nodiscard]] std::int64_t overlaidStep() const
    {
        const RunOverlayPtr &overlay = runs.overlay();
        return overlay && overlay->step >= 0 ? overlay->run->steps[std::size_t(overlay->step)].number : -1;
    }
};

} // namespace

class LiveDocumentTest : public QObject {
    Q_OBJECT
private slots:
    void anAddressThatIsNoneIsToldWithWhatWouldBeRight()
    {
        Live live;
        const auto source = live.document.connectTo(QStringLiteral("what:ever"));
        QVERIFY(!source && !source.error().what.empty() && !source.error().right.empty());
        QVERIFY(!live.document.isLive());
    }
    void theNewestStepIsFollowedAsItComes()
    {
        Live live;
        live.runs.setEvaluation(evaluatedSample("mixed-lab"));
        QVERIFY(live.connectTo());
        QVERIFY(live.document.isLive() && live.document.isFollowing() && !live.runs.isLive());
        for (const std::int64_t steps : { 3, 5, 9 }) {
            live.tell(steps);
            QTRY_COMPARE_WITH_TIMEOUT(live.overlaidStep(), steps - 1, kLong);
            QCOMPARE(live.shownStep(), steps - 1);
            QCOMPARE(live.runs.overlay()->evaluation, live.runs.evaluation());
            QCOMPARE(live.document.newestStep(), steps - 1);
        }
        QVERIFY(live.runs.isLive());
    }
    /// Run and overlay change at once: whoever shows them never sees one without the other.
    void nothingIsWithoutItsOverlayWhileStepsCome()
    {
        Live live;
        live.connectTo();
        bool wasTorn = false;
        int updates = 0;
        const auto look = [&] {
            wasTorn =
                wasTorn || (live.runs.run() && (!live.runs.overlay() || live.runs.overlay()->run != live.runs.run()));
            ++updates;
        };
        connect(&live.runs, &RunDocument::runUpdated, this, look);
        connect(&live.runs, &RunDocument::runChanged, this, look);
        for (std::int64_t steps = 2; steps < 8; ++steps) {
            live.tell(steps);
            QTRY_COMPARE_WITH_TIMEOUT(live.overlaidStep(), steps - 1, kLong);
        }
        QVERIFY(!wasTorn && updates >= 6);
    }
    /// A step that one rank has told and the others have not is not whole yet.
    void aStepIsShownWhenAllRanksHaveToldIt()
    {
        SetRun run { .steps = 5, .ahead = 1 };
        const RunPtr made = makeRun(run.recording(0, 6));
        QCOMPARE(made->steps.back().number, std::int64_t(5));
        QCOMPARE(newestWholeStep(*made), std::optional<std::int64_t>(4));
    }
    /// Ranks 0 and 1 ended in step 59 and began again at 39; rank 2 went for good.
    void stepsOfRanksThatWentWithAnAttemptAreNotTheNewest()
    {
        Recording told = SetRun { .ranks = 3, .steps = 60 }.recording(0, 60);
        const SetRun again { .ranks = 2, .steps = 63 };
        for (RankRecording &rank : told.ranks) {
            if (rank.rank == 2)
                continue;
            rank.steps.resize(39);
            rank.collectives.clear();
            RecordedSpans spans;
            const auto compute = [&spans](Moment start) {
                spans.start.push_back(start);
                spans.duration.push_back(SetRun::kCompute);
                spans.name.push_back(0);
                spans.work.push_back(RecordedWork::Compute);
            };
            for (const RecordedStep &step : rank.steps)
                compute(step.start);
            for (std::int64_t step = 39; step < 42; ++step) { // a minute of 100 ms steps later
                const Moment start = again.startOf(step + 600);
                rank.steps.push_back({ step, start, start + again.lengthOf(step) });
                compute(start);
            }
            rank.streams.front().spans = std::move(spans);
        }
        told.series.clear();
        const RunPtr run = makeRun(std::move(told));
        QCOMPARE(run->steps.back().number, std::int64_t(59));
        QCOMPARE(newestWholeStep(*run), std::optional<std::int64_t>(41));
    }
    /// All new steps are watched with their spans, but no more than 600,000 spans are laid under a plan at once.
    void asManyStepsComeWithTheirSpansAsAreNew()
    {
        QCOMPARE(stepsWithSpans(1, 0), 8);
        QCOMPARE(stepsWithSpans(30, 1000), 31);
        QCOMPARE(stepsWithSpans(1'000'000, 10), 256);
        QCOMPARE(stepsWithSpans(1, 200'000), 3);
        QCOMPARE(stepsWithSpans(5, 2'000'000), 2);
    }
    void aHeldPictureStaysWhileAllIsRecorded()
    {
        Live live;
        live.connectTo();
        live.tell(20);
        QTRY_COMPARE_WITH_TIMEOUT(live.overlaidStep(), std::int64_t(19), kLong);
        live.document.setHeld(true);
        live.tell(30);
        QTest::qWait(1500); // several states would have been shown
        QCOMPARE(live.document.newestStep(), std::int64_t(19));
        QCOMPARE(live.overlaidStep(), std::int64_t(19));
        live.document.setHeld(false);
        QTRY_COMPARE_WITH_TIMEOUT(live.document.newestStep(), std::int64_t(29), kLong);
        QTRY_COMPARE_WITH_TIMEOUT(live.runs.run()->steps.size(), std::size_t(30), kLong); // none is missing
    }
    /// A job that was started again from a checkpoint is at an earlier step: the newest is that one, also while another
    /// is looked at.
    void theNewestStepGoesBackWithARestart()
    {
        Live live;
        live.connectTo();
        live.tell(60);
        QTRY_COMPARE_WITH_TIMEOUT(live.document.newestStep(), std::int64_t(59), kLong);
        live.tell(40);
        QTRY_COMPARE_WITH_TIMEOUT(live.document.newestStep(), std::int64_t(39), kLong);
        live.runs.setStep(3);
        live.tell(35);
        QTRY_COMPARE_WITH_TIMEOUT(live.document.newestStep(), std::int64_t(34), kLong);
    }
    void aStepThatIsChosenStaysWhileTheRunGoesOn()
    {
        Live live;
        live.connectTo();
        live.tell(20);
        QTRY_COMPARE_WITH_TIMEOUT(live.overlaidStep(), std::int64_t(19), kLong);
        QSignalSpy following(&live.document, &LiveDocument::followingChanged);
        live.runs.setStep(3);
        QCOMPARE(following.count(), 1);
        QVERIFY(!live.document.isFollowing());
        live.tell(30);
        QTRY_COMPARE_WITH_TIMEOUT(live.document.newestStep(), std::int64_t(29), kLong);
        QTRY_COMPARE_WITH_TIMEOUT(live.runs.run()->steps.back().number, std::int64_t(29), kLong);
        QCOMPARE(live.shownStep(), std::int64_t(3));
        // Its spans were asked for: eight steps up to it.
        QTRY_VERIFY_WITH_TIMEOUT(live.runs.step() && live.runs.step()->hasSpans(), kLong);
        QCOMPARE(live.overlaidStep(), std::int64_t(3));
        live.document.setFollowing(true);
        QTRY_COMPARE_WITH_TIMEOUT(live.overlaidStep(), std::int64_t(29), kLong);
    }
    void anotherRankIsLookedAtWithoutLeavingTheNewestStep()
    {
        Live live;
        live.connectTo();
        live.tell(4);
        QTRY_COMPARE_WITH_TIMEOUT(live.overlaidStep(), std::int64_t(3), kLong);
        live.runs.setRank(2);
        QVERIFY(live.document.isFollowing());
        live.tell(6);
        QTRY_COMPARE_WITH_TIMEOUT(live.overlaidStep(), std::int64_t(5), kLong);
        QCOMPARE(live.runs.options().rank, std::optional(2));
    }
    void sourcesArePausedTriedAndRemoved()
    {
        Live live;
        const std::uint32_t first = live.connectTo(), second = live.connectTo("listen:4318");
        QVERIFY(first && second && first != second);
        QCOMPARE(live.document.sources().size(), std::size_t(2));
        live.document.setPaused(first, true);
        QCOMPARE(live.document.sources().front().status.state, live::SourceState::Paused);
        live.document.retryNow(second);
        QCOMPARE(live.session->told, std::vector<std::string> { "retry " + std::to_string(second) });
        live.document.remove(first);
        QCOMPARE(live.document.sources().size(), std::size_t(1));
    }
    void whatWasToldStaysAsARunWhenAllSourcesAreGone()
    {
        Live live;
        live.connectTo();
        live.tell(5);
        QTRY_COMPARE_WITH_TIMEOUT(live.overlaidStep(), std::int64_t(4), kLong);
        live.document.disconnectAll();
        QVERIFY(!live.document.isLive());
        QTRY_VERIFY_WITH_TIMEOUT(!live.runs.isLive(), kLong);
        QVERIFY(live.runs.run() && live.runs.overlay());
        live.connectTo(); // another session, which knows nothing of the last
        QCOMPARE(live.session->feeds, 2);
    }
    void closingTheRunForgetsItsSources()
    {
        Live live;
        live.connectTo();
        live.tell(5);
        QTRY_VERIFY_WITH_TIMEOUT(live.runs.isLive(), kLong);
        live.runs.close();
        QVERIFY(!live.document.isLive() && !live.runs.run());
        live.tell(6);
        Live other; // by the time that this one has shown what it was told, the first would have
        other.connectTo();
        other.tell(6);
        QTRY_COMPARE_WITH_TIMEOUT(other.overlaidStep(), std::int64_t(5), kLong);
        QVERIFY(!live.runs.run()); // nothing comes back from behind
    }
    void aRecordingThatIsOpenedTakesThePlaceUntilFollowIsAskedFor()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath("other.trainyard-recording");
        QVERIFY(writeRecording(SetRun { .ranks = 2, .steps = 3 }.recording(0, 3), path.toStdString()));
        Live live;
        live.connectTo();
        live.tell(5);
        QTRY_VERIFY_WITH_TIMEOUT(live.runs.isLive(), kLong);
        live.runs.open({ path });
        QTRY_VERIFY_WITH_TIMEOUT(!live.runs.isLive() && live.runs.run()->recording->ranks.size() == 2, kLong);
        QVERIFY(live.document.isLive() && !live.document.isFollowing() && !live.document.isShown());
        live.tell(7);
        QTRY_COMPARE_WITH_TIMEOUT(live.document.newestStep(), std::int64_t(6), kLong);
        QCOMPARE(live.runs.run()->recording->ranks.size(), std::size_t(2));
        live.document.setFollowing(true);
        QTRY_COMPARE_WITH_TIMEOUT(live.overlaidStep(), std::int64_t(6), kLong);
        QCOMPARE(live.runs.run()->recording->ranks.size(), std::size_t(4));
    }
    void whatWasToldIsWrittenAsARecording()
    {
        QTemporaryDir folder;
        Live live;
        live.connectTo();
        live.tell(5);
        QSignalSpy saved(&live.document, &LiveDocument::saved);
        const QString path = folder.filePath("live.trainyard-recording");
        live.document.save(path);
        QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 1, kLong);
        RunDocument runs;
        runs.open({ path });
        QTRY_VERIFY_WITH_TIMEOUT(runs.run(), kLong);
        QCOMPARE(runs.run()->steps.size(), std::size_t(5));
    }
    void stepsAreMeasuredBesideThePlansAndWhatIfsAreEvaluated()
    {
        Live live;
        live.runs.setEvaluation(evaluatedSample("mixed-lab"));
        live.connectTo();
        live.tell(6);
        QTRY_COMPARE_WITH_TIMEOUT(live.document.steps().size(), std::size_t(6), kLong);
        // A step is 80 ms of products and 20 ms of transfer.
        QVERIFY(std::abs(live.document.steps().back().seconds - 0.1) < 1e-9);
        const double iteration = live.runs.evaluation()->metrics.iterationTime.value();
        QVERIFY(std::abs(live.document.predicted().seconds - iteration) < 1e-9 * iteration);
        QVERIFY(live.document.canAskWhatIf());
        live.document.askWhatIf();
        QTRY_VERIFY_WITH_TIMEOUT(!live.document.whatIfs().empty() && !live.document.questions().isAsking(), kLong);
        for (const LiveWhatIf &one : live.document.whatIfs()) {
            QVERIFY(!one.asked.question.empty());
            QVERIFY(one.answer || !one.failure.empty() || !one.asked.plan);
            QVERIFY(one.asked.plan || !one.asked.why.empty());
        }
    }
    void whatIsLostIsSaidInWords()
    {
        Live live;
        live.connectTo();
        QVERIFY(live.document.dropped().isEmpty());
        live.session->tell([](SetSession &all) {
            all.run.steps = 3;
            all.sources.front().second.dropped = 2'100'000;
            all.sources.front().second.refusedClients = 2;
            all.counts.dropped = { { "later than 30 s", 41 } };
        });
        QTRY_VERIFY_WITH_TIMEOUT(live.document.dropped().contains("41"), kLong);
        QCOMPARE(live.document.dropped(),
            QStringLiteral(
                "2.10 MB came too fast or while paused; 41 left out: later than 30 s; 2 connections refused."));
    }
    /// One number for one silence; of a server that answers with old samples theirs, not the time since its answer.
    void aStaleSourceSaysOnceHowLong()
    {
        const Moment now = live::unixNow();
        live::SourceStatus status { .address = { .type = live::SourceType::Stream, .host = "127.0.0.1", .port = 7070 },
            .state = live::SourceState::Stale,
            .reason = "nothing came for 34 s",
            .heard = now - 34'000'000'000 };
        QCOMPARE(stateText(status, now), QStringLiteral("Stale, silent for 34 s"));
        status.address.type = live::SourceType::Prometheus;
        status.reason = "it answers, but its newest sample is 302 s old";
        status.heard = now - 1'500'000'000; // an answer
        QCOMPARE(stateText(status, now), QStringLiteral("Stale: it answers, but its newest sample is 302 s old"));
        status.state = live::SourceState::Live;
        status.reason.clear();
        QCOMPARE(stateText(status, now), QStringLiteral("Live"));
    }
    void rowsOfSourcesKeepTheirPlaceWhileTheyChange()
    {
        Live live;
        LiveSourceModel model(live.document);
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        live.connectTo();
        const std::uint32_t second = live.connectTo("replay:march.trainyard-recording");
        live.connectTo("tail:/logs/train.log");
        QCOMPARE(model.rowCount(), 3);
        const QPersistentModelIndex last(model.index(2, 0));
        live.session->tell([](SetSession &all) {
            live::SourceStatus &status = all.sources.front().second;
            status.state = live::SourceState::BackingOff;
            status.reason = "connection refused by 127.0.0.1:7070";
            status.nextTry = live::unixNow() + 60'000'000'000;
        });
        QTRY_VERIFY_WITH_TIMEOUT(
            model.index(0, LiveSourceModel::State).data().toString().startsWith("Trying again in"), kLong);
        QCOMPARE(model.index(0, LiveSourceModel::Reason).data().toString(),
            QStringLiteral("connection refused by 127.0.0.1:7070"));
        live.document.remove(second);
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(last.row(), 1);
        QCOMPARE(last.data().toString(), QStringLiteral("tail:/logs/train.log"));
    }
};

TRAINYARD_GUILESS_TEST(LiveDocumentTest)
#include "tst_live_document.moc"

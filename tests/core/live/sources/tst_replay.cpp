// SPDX-License-Identifier: GPL-3.0-or-later
// A recording told again: all of it, in its order, at any speed, again and again, and not while it is paused.
#include "core/live/session.h"
#include "core/live/sources/sources.h"
#include "core/runs/telemetry/recording_file.h"
#include "tests/support/test_program.h"

#include "tests/core/live/made_run.h"
#include "tests/core/live/sources/heard.h"
#include "tests/core/live/told_events.h"
#include "tests/core/runs/telemetry/random_recording.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace trainyard;
using namespace trainyard::live;
using namespace trainyard::live::tests;

namespace {

constexpr int kGenerous = 60'000; // ms
constexpr Moment kSecond = 1'000'000'000;

class Bench {
public:
    explicit Bench(const Recording &recording, const SourceSettings &settings = {})
    {
        path = folder.filePath(QStringLiteral("a.trainyard-recording")).toStdString();
        if (!writeRecording(recording, path))
            qFatal("A recording cannot be written");
        start(settings);
    }
    void start(const SourceSettings &settings)
    {
        Address address;
        address.type = SourceType::Replay;
        address.path = path;
        source = makeReplay(loop, heard, address, settings);
        source->start();
    }

    QTemporaryDir folder;
    std::string path;
    net::Loop loop;
    Heard heard;
    SourcePtr source;
};

SourceSettings speed(double times, bool isRepeated = false)
{
    SourceSettings settings;
    settings.replaySpeed = times;
    settings.isRepeated = isRepeated;
    return settings;
}

} // namespace

class TestReplay : public QObject {
    Q_OBJECT

private slots:
    void allOfARecordingIsToldAsIfItHappenedNow()
    {
        const Recording run = madeRun(20, 0.5);
        const Moment before = unixNow();
        Bench bench(run, speed(0));
        QTRY_VERIFY_WITH_TIMEOUT(bench.heard.state() == SourceState::Ended, kGenerous);
        const auto batches = bench.heard.batches();
        QVERIFY(!batches.empty());
        // its first moment is when it was begun: between then and now
        const Moment zero = batches.front().part.zero;
        QVERIFY(zero >= before && zero <= unixNow());
        ToldEvents sum;
        for (const Batch &batch : batches)
            sum.add(batch.part, zero);
        QVERIFY(sum == eventsOf(run, run.zero));
        QVERIFY(batches.front().part.arguments == run.arguments);
        QCOMPARE(batches.front().part.sources.front().file, std::string("made.json"));
    }

    void recordingsWithEverythingInThemAreToldWhole()
    {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            const Recording run = trainyard::testing::RandomRecording(seed)();
            Bench bench(run, speed(0));
            QTRY_VERIFY_WITH_TIMEOUT(bench.heard.state() == SourceState::Ended, kGenerous);
            const auto batches = bench.heard.batches();
            ToldEvents sum;
            for (const Batch &batch : batches)
                sum.add(batch.part, batches.front().part.zero);
            QVERIFY(sum == eventsOf(run, run.zero));
        }
    }

    void itsPausesAreKept()
    {
        // 4 steps of 0.5 s at twice the speed take a second: told one after the other, none before its time
        Bench bench(madeRun(4, 0.5), speed(2));
        QTRY_VERIFY_WITH_TIMEOUT(bench.heard.state() == SourceState::Ended, kGenerous);
        const auto batches = bench.heard.batches();
        QVERIFY2(batches.size() >= 4, std::to_string(batches.size()).c_str());
        for (const Batch &batch : batches)
            for (const RankRecording &rank : batch.part.ranks)
                for (const RecordedStep &step : rank.steps)
                    // (end − zero) / speed after it was begun, by this machine's clock
                    QVERIFY(batch.received - batches.front().part.zero >= step.end / 2 - kSecond / 20);
    }

    void whilePausedNothingIsTold()
    {
        Bench bench(madeRun(1'000, 0.05), speed(1));
        QTRY_VERIFY_WITH_TIMEOUT(bench.heard.batches().size() > 3, kGenerous);
        bench.source->setPaused(true);
        QVERIFY(bench.heard.state() == SourceState::Paused);
        Bench other(madeRun(1'000, 0.05), speed(1)); // tells at the pace of the first, did that tell
        QTRY_VERIFY_WITH_TIMEOUT(!other.heard.batches().empty(), kGenerous);
        const std::size_t before = bench.heard.batches().size(); // what was under way has come to its end
        QTRY_VERIFY_WITH_TIMEOUT(other.heard.batches().size() > 4, kGenerous);
        other.source->stop();
        QCOMPARE(bench.heard.batches().size(), before);
        bench.source->setPaused(false);
        QTRY_VERIFY_WITH_TIMEOUT(bench.heard.batches().size() > before, kGenerous);
        bench.source->stop();
    }

    void aRepeatedOneBeginsAgainWithLaterMoments()
    {
        const Recording run = madeRun(3, 0.01);
        Bench bench(run, speed(0, true));
        QTRY_VERIFY_WITH_TIMEOUT(bench.heard.batches().size() > 20, kGenerous);
        bench.source->stop();
        Moment last = 0;
        std::size_t steps = 0;
        for (const Batch &batch : bench.heard.batches()) {
            QVERIFY(batch.part.zero >= last);
            last = batch.part.zero;
            for (const RankRecording &rank : batch.part.ranks)
                steps += rank.steps.size();
        }
        QVERIFY(steps > 2 * 3 * 4);
    }

    void aFullQueueIsWaitedFor()
    {
        const Recording run = madeRun(20, 0.1);
        Bench bench(run, speed(0));
        bench.source->stop();
        Heard heard;
        heard.setFull(true);
        Address address;
        address.type = SourceType::Replay;
        address.path = bench.path;
        const SourcePtr source = makeReplay(bench.loop, heard, address, speed(0));
        source->start();
        QTRY_VERIFY_WITH_TIMEOUT(heard.state() == SourceState::Connecting, kGenerous);
        heard.setFull(false);
        QTRY_VERIFY_WITH_TIMEOUT(heard.state() == SourceState::Ended, kGenerous);
        ToldEvents sum;
        for (const Batch &batch : heard.batches())
            sum.add(batch.part, heard.batches().front().part.zero);
        QVERIFY(sum == eventsOf(run, run.zero));
    }

    void whatIsNoRecordingIsRefused()
    {
        QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("a.txt")).toStdString();
        for (const bool isThere : { false, true }) {
            if (isThere)
                std::ofstream(path) << "nothing of a run\n";
            net::Loop loop;
            Heard heard;
            Address address;
            address.type = SourceType::Replay;
            address.path = path;
            const SourcePtr source = makeReplay(loop, heard, address, {});
            source->start();
            QTRY_VERIFY_WITH_TIMEOUT(heard.state() == SourceState::Refused, kGenerous);
            QVERIFY2(heard.last().reason.find("a.txt") != std::string::npos, heard.last().reason.c_str());
        }
    }

    void theStoreOfASessionHoldsWhatTheRecordingHas()
    {
        const Recording run = madeRun(30, 0.2);
        QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("a.trainyard-recording")).toStdString();
        QVERIFY(writeRecording(run, path).has_value());
        Session session;
        QVERIFY(session.add(parseAddress("replay:" + path).value(), speed(0)).has_value());
        QTRY_VERIFY_WITH_TIMEOUT(session.statuses().at(0).second.state == SourceState::Ended, kGenerous);
        session.drain();
        const Recording whole = session.whole();
        const Moment first = whole.ranks.at(0).steps.at(0).start + whole.zero;
        ToldEvents sum = eventsOf(whole, first);
        QVERIFY(sum.steps == eventsOf(run, run.zero).steps);
        QVERIFY(sum.spans == eventsOf(run, run.zero).spans);
        leaveOutStepTimes(sum);
        QVERIFY(sum.samples == eventsOf(run, run.zero).samples);
    }
};

TRAINYARD_GUILESS_TEST(TestReplay)
#include "tst_replay.moc"

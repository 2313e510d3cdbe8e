// SPDX-License-Identifier: GPL-3.0-or-later
// What goes wrong while a run is watched, through a session that listens: senders that are cut, restarted, doubled, out
// of their time or out of their mind. Counts stay honest (taken + told before + dropped = given), and the session
// lives.
#include "core/live/serve.h"
#include "core/live/session.h"
#include "tests/support/test_program.h"

#include "tests/core/live/made_run.h"
#include "tests/core/live/net/peer.h"
#include "tests/core/live/told_events.h"

#include <QTest>

#include <algorithm>
#include <future>
#include <thread>

using namespace trainyard;
using namespace trainyard::live;
using trainyard::live::testing::Peer;

namespace {

constexpr int kGenerous = 60'000; // ms that a condition may take
constexpr Moment kSecond = 1'000'000'000;
constexpr Moment kBegin = 1'760'000'000 * kSecond;

std::string hello(int rank, const std::string &host = "n0")
{
    return "{\"event\":\"hello\",\"format\":\"trainyard.stream\",\"version\":1,\"run\":\"a\",\"rank\":"
        + std::to_string(rank) + ",\"world_size\":4,\"host\":\"" + host + "\"}\n";
}

std::string span(Moment start, std::int64_t duration = 1'000'000)
{
    return "{\"event\":\"span\",\"stream\":\"compute\",\"work\":\"compute\",\"name\":\"forward\",\"start_ns\":"
        + std::to_string(start) + ",\"duration_ns\":" + std::to_string(duration) + "}\n";
}

std::string step(int number, Moment start, Moment end)
{
    return "{\"event\":\"step\",\"number\":" + std::to_string(number) + ",\"start_ns\":" + std::to_string(start)
        + ",\"end_ns\":" + std::to_string(end) + "}\n";
}

std::string loss(int number, double value)
{
    return "{\"event\":\"sample\",\"name\":\"loss\",\"unit\":\"1\",\"value\":" + std::to_string(value)
        + ",\"step\":" + std::to_string(number) + "}\n";
}

/// A step of a second with two spans and a sample: four events.
constexpr int kEventsOfStep = 4;
std::string wholeStep(int number, Moment start)
{
    return span(start) + span(start + kSecond / 2) + step(number, start, start + kSecond - 1'000)
        + loss(number, 3.0 / number);
}

class Listening {
public:
    Listening()
    {
        const auto number = session.add(parseAddress("listen:0").value());
        if (!number)
            qFatal("It does not listen");
    }
    bool waitForPort()
    {
        return QTest::qWaitFor([this] { return status().address.port != 0; }, kGenerous);
    }
    SourceStatus status() const { return session.statuses().at(0).second; }
    Peer peer() { return Peer(status().address.port); }
    std::int64_t told() // events that were taken, told before, or dropped
    {
        session.drain();
        const StoreCounts counts = session.store().counts();
        std::int64_t sum = counts.events + counts.duplicates;
        for (const Dropped &dropped : counts.dropped)
            sum += dropped.count;
        return sum;
    }
    bool waitForTold(std::int64_t events)
    {
        return QTest::qWaitFor([&] { return told() >= events; }, kGenerous) && told() == events;
    }
    bool waitForClients(int clients)
    {
        return QTest::qWaitFor([&] { return status().clients == clients; }, kGenerous);
    }

    Session session;
};

std::int64_t droppedFor(const Recording &recording, const char *reason)
{
    std::int64_t count = 0;
    for (const RecordedSource &source : recording.sources)
        for (const Dropped &dropped : source.dropped)
            count += dropped.reason.find(reason) != std::string::npos ? dropped.count : 0;
    return count;
}

} // namespace

class TestFaults : public QObject {
    Q_OBJECT

private slots:
    void aSenderThatIsRestartedInTheMiddleOfAStepIsASecondAttempt()
    {
        Listening listening;
        QVERIFY(listening.waitForPort());
        {
            Peer peer = listening.peer();
            std::string text = hello(0);
            for (int number = 1; number <= 10; ++number)
                text += wholeStep(number, kBegin + number * kSecond);
            text += span(kBegin + 11 * kSecond) + span(kBegin + 11 * kSecond + 5); // of step 11, which never ends
            QVERIFY(peer.send(text + "{\"event\":\"span\",\"strea")); // torn
            QVERIFY(listening.waitForTold(10 * kEventsOfStep + 2)); // a reset would take back what is on its way
            peer.cut();
        }
        Peer again = listening.peer();
        std::string text = hello(0);
        for (int number = 8; number <= 12; ++number) // from its checkpoint
            text += wholeStep(number, kBegin + (number + 100) * kSecond);
        QVERIFY(again.send(text));
        QVERIFY(listening.waitForTold(15 * kEventsOfStep + 2));
        const auto snapshot = listening.session.snapshot({});
        QVERIFY(snapshot);
        QCOMPARE(snapshot->ranks.size(), std::size_t(1));
        QCOMPARE(snapshot->ranks[0].attempts, 2);
        QCOMPARE(snapshot->ranks[0].step, 12);
        // each step once, those of the later attempt
        const RankRecording &rank = snapshot->recording->ranks.at(0);
        QCOMPARE(rank.steps.size(), std::size_t(12));
        QCOMPARE(rank.steps.at(7).number, 8);
        QCOMPARE(rank.steps.at(7).start + snapshot->recording->zero, kBegin + 108 * kSecond);
    }

    void twoSendersOfOneRankAreBothKeptAndToldApart()
    {
        Listening listening;
        QVERIFY(listening.waitForPort());
        Peer one = listening.peer(), other = listening.peer();
        std::string first = hello(3, "n1"), second = hello(3, "n2");
        for (int number = 1; number <= 5; ++number) {
            first += wholeStep(number, kBegin + number * kSecond);
            second += wholeStep(number, kBegin + number * kSecond + 777);
        }
        QVERIFY(one.send(first));
        QVERIFY(other.send(second));
        QVERIFY(listening.waitForTold(2 * 5 * kEventsOfStep));
        const auto snapshot = listening.session.snapshot({});
        QVERIFY(snapshot);
        QCOMPARE(snapshot->ranks.size(), std::size_t(2));
        QVERIFY(snapshot->ranks[0].host != snapshot->ranks[1].host);
        for (const RankLife &life : snapshot->ranks) {
            QCOMPARE(life.rank, 3);
            QCOMPARE(life.step, 5);
            QCOMPARE(life.attempts, 1);
        }
    }

    void theSameToldTwiceCountsOnce()
    {
        Listening listening;
        QVERIFY(listening.waitForPort());
        std::string text = hello(0);
        for (int number = 1; number <= 5; ++number)
            text += wholeStep(number, kBegin + number * kSecond);
        for (int i = 0; i < 2; ++i) {
            Peer peer = listening.peer();
            QVERIFY(peer.send(text));
            QVERIFY(listening.waitForTold((i + 1) * 5 * kEventsOfStep));
        }
        const StoreCounts counts = listening.session.store().counts();
        QCOMPARE(counts.events, 5 * kEventsOfStep);
        QCOMPARE(counts.duplicates, 5 * kEventsOfStep);
        QCOMPARE(listening.session.stepsTold(), 5);
    }

    void aClockThatJumpsLosesNothingUncounted()
    {
        Listening listening;
        QVERIFY(listening.waitForPort());
        Peer peer = listening.peer();
        std::string text = hello(0);
        const Moment day = 86'400 * kSecond;
        int number = 0;
        for (const Moment jump : { Moment(0), day, Moment(0), -day, Moment(0) })
            for (int i = 0; i < 4; ++i) {
                ++number;
                text += wholeStep(number, kBegin + jump + number * kSecond);
            }
        QVERIFY(peer.send(text));
        QVERIFY(listening.waitForTold(number * kEventsOfStep));
        QCOMPARE(listening.session.stepsTold(), number);
        QVERIFY(listening.session.snapshot({}));
        QVERIFY(listening.status().state == SourceState::Live);
    }

    void aLineOfMegabytesIsDroppedAndTheNextOneIsRead()
    {
        Listening listening;
        QVERIFY(listening.waitForPort());
        Peer peer = listening.peer();
        QVERIFY(peer.send(hello(0) + wholeStep(1, kBegin)));
        const std::string piece(1 << 20, 'x');
        QVERIFY(peer.send("{\"event\":\"sample\",\"name\":\""));
        for (int i = 0; i < 100; ++i) { // 100 MB
            QVERIFY(peer.send(piece));
            listening.session.drain(); // so that the queue has room: this is about the line
        }
        QVERIFY(peer.send("\"}\n" + wholeStep(2, kBegin + kSecond)));
        QVERIFY(QTest::qWaitFor([&] { return listening.session.stepsTold() == 2; }, kGenerous));
        listening.session.drain();
        QVERIFY(listening.status().state == SourceState::Live);
        const Recording whole = listening.session.whole();
        std::int64_t drops = 0;
        for (const RecordedSource &source : whole.sources)
            for (const Dropped &dropped : source.dropped)
                drops += dropped.count;
        QVERIFY(drops > 0);
    }

    void garbageIsTurnedAwayAndOthersAreHeard()
    {
        Listening listening;
        QVERIFY(listening.waitForPort());
        Peer good = listening.peer();
        QVERIFY(good.send(hello(0)));
        for (const std::string &text : { std::string("\x01\x02\x03\x00\xff garbage\n", 13), std::string("{garbage\n"),
                 std::string("{\"event\":\"hello\",\"format\":\"another\",\"version\":1}\n") }) {
            Peer bad = listening.peer();
            QVERIFY(bad.send(text));
            static_cast<void>(bad.readAll()); // until it is turned away
        }
        QVERIFY(QTest::qWaitFor([&] { return listening.status().refusedClients >= 3; }, kGenerous));
        QVERIFY(good.send(wholeStep(1, kBegin)));
        QVERIFY(listening.waitForTold(kEventsOfStep));
    }

    void aStormOfConnectionsPasses()
    {
        Listening listening;
        QVERIFY(listening.waitForPort());
        constexpr int kStorm = 300;
        for (int i = 0; i < kStorm; ++i) {
            Peer peer = listening.peer();
            QVERIFY(peer.isConnected());
            QVERIFY(peer.send(hello(i % 4) + loss(i + 1, 1.0)));
            if (i % 3 == 0)
                peer.cut(); // what it said may be lost on its way
        }
        QVERIFY(listening.waitForClients(0));
        Peer last = listening.peer();
        QVERIFY(last.send(hello(0) + wholeStep(1'000, kBegin)));
        QVERIFY(QTest::qWaitFor(
            [&] {
                const auto snapshot = listening.session.snapshot({});
                return snapshot
                    && std::ranges::any_of(snapshot->ranks, [](const RankLife &life) { return life.step == 1'000; });
            },
            kGenerous));
        QVERIFY(listening.told() >= kStorm * 2 / 3 + kEventsOfStep);
    }

    void aFloodIsCountedToItsLastByte()
    {
        // bytes = what was read + what was dropped, whatever the queue had room for
        SessionOptions options;
        options.queueBytes = 256 << 10;
        Session session(std::move(options));
        QVERIFY(session.add(parseAddress("listen:0").value()).has_value());
        const auto status = [&] { return session.statuses().at(0).second; };
        QVERIFY(QTest::qWaitFor([&] { return status().address.port != 0; }, kGenerous));
        Peer peer(status().address.port);
        std::string block;
        for (int i = 0; i < 1'000; ++i)
            block += span(kBegin + i * 1'000'000);
        std::int64_t sent = 0;
        const std::string first = hello(0);
        QVERIFY(peer.send(first));
        sent += std::ssize(first);
        for (int i = 0; i < 100; ++i) {
            QVERIFY(peer.send(block));
            sent += std::ssize(block);
        }
        QVERIFY(QTest::qWaitFor([&] { return status().bytes == sent; }, kGenerous));
        session.drain();
        const Recording whole = session.whole();
        if (status().dropped > 0)
            QCOMPARE(droppedFor(whole, "came faster"), status().dropped);
        const StoreCounts counts = session.store().counts();
        const double perEvent = double(block.size()) / 1'000;
        // lines that were torn by a gap are lost with it: at most two for each
        QVERIFY(double(counts.events + counts.duplicates) * perEvent >= double(sent - status().dropped) * 0.9);
    }

    void aServedRecordingComesBackThroughASession()
    {
        const Recording run = live::tests::madeRun(20, 0.1);
        std::stop_source stop;
        ServeOptions options;
        options.speed = 0;
        options.stop = stop.get_token();
        std::promise<Address> began;
        std::thread server([&] {
            const Address at = parseAddress("listen:0").value();
            static_cast<void>(
                serveRecording(run, at, {}, options, true, [&](const Address &own) { began.set_value(own); }));
        });
        const Address at = began.get_future().get();
        {
            Session session;
            const auto added = session.add(parseAddress("tcp://127.0.0.1:" + std::to_string(at.port)).value());
            QVERIFY(added.has_value());
            QVERIFY(QTest::qWaitFor(
                [&] { return session.statuses().at(0).second.state == SourceState::Ended; }, kGenerous));
            session.drain();
            const Recording whole = session.whole();
            live::tests::ToldEvents own =
                live::tests::eventsOf(whole, whole.zero + whole.ranks.at(0).steps.at(0).start);
            live::tests::leaveOutStepTimes(own);
            QVERIFY(own == live::tests::eventsOf(run, run.zero));
        }
        server.join();
    }

    void aReplayGoesOnWhereItsConnectionWasCut()
    {
        // A listener that goes away and comes back: steps told before are not told again, none is missing after it
        const Recording run = live::tests::madeRun(40, 0.05);
        auto first = std::make_unique<Listening>();
        QVERIFY(first->waitForPort());
        const std::uint16_t port = first->status().address.port;
        std::stop_source stop;
        ServeOptions options;
        options.speed = 1;
        options.stop = stop.get_token();
        std::thread sender([&] {
            static_cast<void>(
                replayTo(run, parseAddress("tcp://127.0.0.1:" + std::to_string(port)).value(), {}, options));
        });
        QVERIFY(QTest::qWaitFor([&] { return first->session.stepsTold() >= 5; }, kGenerous));
        first.reset();
        Session second;
        Address at = parseAddress("listen:" + std::to_string(port)).value();
        const auto number = second.add(at);
        QVERIFY(number.has_value());
        QVERIFY(QTest::qWaitFor(
            [&] {
                second.retryNow(*number);
                const auto snapshot = second.snapshot({});
                return snapshot && snapshot->ranks.size() == 4
                    && std::ranges::all_of(snapshot->ranks, [](const RankLife &life) { return life.step == 40; });
            },
            kGenerous));
        sender.join();
        // steps that the first one heard are not told again (samples of some steps may share a line behind the last)
        QVERIFY(second.whole().ranks.at(0).steps.at(0).number > 1);
        // the beginning was said again: hosts are known
        const auto snapshot = second.snapshot({});
        for (const RankLife &life : snapshot->ranks)
            QVERIFY(!life.host.empty());
    }
};

TRAINYARD_GUILESS_TEST(TestFaults)
#include "tst_faults.moc"

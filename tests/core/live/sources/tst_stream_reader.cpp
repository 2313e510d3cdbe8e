// SPDX-License-Identifier: GPL-3.0-or-later
// The reader of a served stream as a live source, against our server: connects, says hello, comes again.

#include "core/live/net/credentials.h"
#include "core/live/sources/sources.h"
#include "tests/core/live/net/calling.h"
#include "tests/core/live/net/listening.h"
#include "tests/core/live/sources/sink.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::live;
using namespace trainyard::live::testing;

class TstStreamReader : public QObject {
    Q_OBJECT

private slots:
    void itConnectsSaysHelloAndReads_data()
    {
        QTest::addColumn<bool>("isWebSocket");
        QTest::newRow("TCP") << false;
        QTest::newRow("WebSocket") << true;
    }
    void itConnectsSaysHelloAndReads()
    {
        QFETCH(bool, isWebSocket);
        SourceSettings settings;
        settings.secrets.token = "s3cret";
        Listening at({}, settings);
        Running reader(makeStreamReader,
            streamAt(at.port, false, isWebSocket ? SourceType::WebSocket : SourceType::Stream), settings);
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 1; }));
        if (!isWebSocket)
            QVERIFY(at.waitFor([](const Told &told) {
                return told.bytes.size() == 1
                    && told.bytes.at(1).starts_with(
                        "{\"event\":\"hello\",\"format\":\"trainyard.stream\",\"version\":1");
            }));
        at.loop->call([&] { std::ignore = at.server->send(1, "{\"event\":\"step\",\"number\":1}\n"); });
        QVERIFY(reader.sink.waitFor([&] { return reader.sink.taken[1] == "{\"event\":\"step\",\"number\":1}\n"; }));
        QVERIFY(reader.sink.waitForState(SourceState::Live));
        QVERIFY(reader.sink.decoders[1] != nullptr);
        QVERIFY(reader.sink.waitFor([&] { return reader.sink.now.bytes >= 28; }));
    }

    void cutItComesAgainAfterAPauseWithTheReasonShown()
    {
        auto at = std::make_unique<Listening>();
        Running reader(makeStreamReader, streamAt(at->port));
        QVERIFY(at->waitFor([](const Told &told) { return told.opened.size() == 1; }));
        at->loop->call([&] { std::ignore = at->server->send(1, "{1}\n{2"); });
        QVERIFY(reader.sink.waitFor([&] { return reader.sink.taken[1] == "{1}\n{2"; }));
        Address same;
        same.port = at->port;
        at.reset();
        QVERIFY(reader.sink.waitForState(SourceState::BackingOff));
        const SourceStatus status = reader.sink.shown();
        QVERIFY(!status.reason.empty() && status.nextTry > unixNow() - 1'000'000'000);
        QCOMPARE(reader.sink.ended, std::vector<std::uint64_t> { 1 });
        Listening again({}, {}, same);
        QVERIFY(again.server);
        reader.loop->call([&] { reader.source->retryNow(); }); // or by itself, a second later
        QVERIFY(again.waitFor([](const Told &told) { return told.opened.size() == 1; }));
        again.loop->call([&] { std::ignore = again.server->send(1, "{3}\n"); });
        QVERIFY(reader.sink.waitFor([&] { return reader.sink.taken[2] == "{3}\n"; }));
    }

    void nobodyThereIsTriedAgainByItself()
    {
        std::uint16_t port = 0;
        {
            Listening gone;
            port = gone.port;
        }
        Running reader(makeStreamReader, streamAt(port));
        QVERIFY(reader.sink.waitForState(SourceState::BackingOff));
        QVERIFY(reader.sink.shown().reason.find("connection refused") != std::string::npos);
        QVERIFY(reader.sink.waitFor([&] { return reader.sink.now.tries >= 2; }));
    }

    void aRefusalIsToldInTheServersWords()
    {
        SourceSettings settings;
        settings.secrets.token = "s3cret";
        Listening at({}, settings);
        settings.secrets.token = "another";
        Running reader(makeStreamReader, streamAt(at.port), settings);
        QVERIFY(reader.sink.waitForState(SourceState::BackingOff));
        QCOMPARE(
            reader.sink.shown().reason, std::string("the server refused: the token of its hello is missing or wrong"));
    }

    void aStreamThatSaidItsEndIsOver()
    {
        Listening at;
        Running reader(makeStreamReader, streamAt(at.port));
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 1; }));
        at.loop->call([&] {
            std::ignore = at.server->send(1, "{1}\n{2}\n{\"event\":\"en");
            std::ignore = at.server->send(1, "d\",\"rank\":3}\n");
            at.server->close(1, {});
        });
        QVERIFY(reader.sink.waitForState(SourceState::Ended));
        QCOMPARE(reader.sink.shown().reason, std::string("the stream has ended"));
    }

    void aFullQueueDoesNotHoldTheServerUp()
    {
        Listening at;
        Running reader(makeStreamReader, streamAt(at.port));
        reader.sink.fill(true);
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 1; }));
        const std::string block = std::string(999'999, 'x') + '\n';
        for (int sent = 0; sent < 40;) {
            bool isTaken = false;
            at.loop->call([&] { isTaken = at.server->send(1, block); });
            sent += isTaken;
        }
        QVERIFY(reader.sink.waitFor([&] { return reader.sink.lost == 40'000'000; }));
    }

    void pausedItDropsAndCounts()
    {
        Listening at;
        Running reader(makeStreamReader, streamAt(at.port));
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 1; }));
        reader.pause(true);
        at.loop->call([&] { std::ignore = at.server->send(1, "{\"lost\":1}\n"); });
        QVERIFY(reader.sink.waitFor([&] { return reader.sink.now.dropped == 11; }));
        QCOMPARE(reader.sink.shown().state, SourceState::Paused);
        reader.pause(false);
        at.loop->call([&] { std::ignore = at.server->send(1, "{2}\n"); });
        QVERIFY(reader.sink.waitFor([&] { return reader.sink.taken[1] == "{2}\n"; }));
        QVERIFY(reader.sink.waitForState(SourceState::Live));
    }

    void stoppedItTellsNothingMore()
    {
        Listening at;
        Running reader(makeStreamReader, streamAt(at.port));
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 1; }));
        reader.loop->call([&] { reader.source->stop(); });
        QCOMPARE(reader.sink.shown().state, SourceState::Idle);
        const int calls = reader.sink.calls;
        QVERIFY(at.waitFor([](const Told &told) { return told.closed.size() == 1; }));
        reader.loop->call([] {});
        QCOMPARE(reader.sink.calls, calls);
    }
};

TRAINYARD_GUILESS_TEST(TstStreamReader)
#include "tst_stream_reader.moc"

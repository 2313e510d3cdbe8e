// SPDX-License-Identifier: GPL-3.0-or-later
// Lines over TCP: passed on as they come, bounded for every peer, harmless whatever strangers do.

#include "core/live/net/credentials.h"
#include "tests/core/live/net/listening.h"
#include "tests/support/test_program.h"

#include <sys/resource.h>

#include <QTest>

using namespace trainyard;
using namespace trainyard::live;
using namespace trainyard::live::testing;

namespace {

/// Bytes of memory that this process has had at most.
std::int64_t mostMemory()
{
    rusage used {};
    getrusage(RUSAGE_SELF, &used);
    return std::int64_t(used.ru_maxrss) * 1024;
}

std::string onlyBytes(const Told &told)
{
    return told.bytes.size() == 1 ? told.bytes.begin()->second : std::string();
}

} // namespace

class TstServerLines : public QObject {
    Q_OBJECT

private slots:
    void linesArriveAsTheyWereSentHoweverTheyAreCut()
    {
        Listening at;
        Peer peer(at.port);
        const std::string text = "{\"event\":\"hello\"}\n{\"event\":\"step\",\"number\":1}\n";
        for (const char c : text)
            QVERIFY(peer.send({ &c, 1 }));
        QVERIFY(at.waitFor([&](const Told &told) { return onlyBytes(told) == text; }));
        QCOMPARE(at.now().opened.size(), std::size_t(1));
        QVERIFY(!at.now().isWebSocket.front());
        peer.close();
        QVERIFY(at.waitFor([](const Told &told) { return told.closed.size() == 1; }));
        QCOMPARE(at.now().closed.begin()->second, std::string("the peer closed the connection"));
        QVERIFY(at.waitForConnections(0));
    }

    void aConnectionThatIsCutInTheMiddleOfALineKeepsWhatCame()
    {
        Listening at;
        Peer peer(at.port);
        QVERIFY(peer.send("{\"event\":\"hello\"}\n{\"event\":\"st"));
        QVERIFY(at.waitFor([](const Told &told) { return onlyBytes(told).ends_with("\"st"); }));
        peer.cut();
        QVERIFY(at.waitFor([](const Told &told) { return told.closed.size() == 1; }));
        QCOMPARE(at.now().closed.begin()->second, std::string("the peer cut the connection"));
    }

    void aSenderThatIsStartedAgainIsAConnectionOfItsOwn()
    {
        Listening at;
        for (int run = 1; run <= 3; ++run) {
            Peer peer(at.port);
            QVERIFY(peer.send("{\"run\":" + std::to_string(run) + "}\n{\"event\":\"st"));
            QVERIFY(at.waitFor([&](const Told &told) { return told.bytes.size() == std::size_t(run); }));
            peer.cut();
            QVERIFY(at.waitFor([&](const Told &told) { return told.closed.size() == std::size_t(run); }));
        }
        QCOMPARE(at.now().opened, (std::vector<std::uint64_t> { 1, 2, 3 }));
    }

    void garbageIsRefusedByItsFirstByte()
    {
        Listening at;
        for (const std::string_view bytes : { std::string_view("\0\0\0\1", 4), std::string_view("\xff\xfe{"),
                 std::string_view("\n\n"), std::string_view("[1,2]") }) {
            Peer peer(at.port);
            QVERIFY(peer.send(bytes));
            QCOMPARE(peer.readAll(), std::string());
        }
        QVERIFY(at.waitFor([](const Told &told) { return told.refused.size() == 4; }));
        QCOMPARE(at.now().refused.front(), std::string("it speaks neither HTTP nor lines of JSON nor TLS"));
        QVERIFY(at.now().opened.empty());
    }

    void tlsIsRefusedWhereThereIsNoCertificate()
    {
        Listening at;
        Peer peer(at.port);
        QVERIFY(peer.send(std::string_view("\x16\x03\x01\x00\x05hello", 10)));
        QCOMPARE(peer.readAll(), std::string());
        QVERIFY(at.waitFor([](const Told &told) { return told.refused.size() == 1; }));
        QCOMPARE(at.now().refused.front(), std::string("it speaks TLS, for which this listener has no certificate"));
    }

    void aLineOfAHundredMegabytesPassesInPiecesWithoutBeingHeld()
    {
        Listening at;
        {
            const std::lock_guard lock(at.mutex);
            at.told.keepsBytes = false;
        }
        constexpr std::size_t kLine = 100'000'000;
        const std::string block(1'000'000, 'x');
        const std::int64_t before = mostMemory();
        Peer peer(at.port);
        QVERIFY(peer.send("{"));
        for (std::size_t sent = 0; sent < kLine; sent += block.size())
            QVERIFY(peer.send(block));
        QVERIFY(at.waitFor([](const Told &told) { return told.allBytes == kLine + 1; }));
        QVERIFY(at.now().largestPiece <= (std::size_t(128) << 10));
        QVERIFY2(mostMemory() - before < 20'000'000, qPrintable(QString::number(mostMemory() - before)));
    }

    void whoSaysNothingIsClosed()
    {
        net::ServerLimits limits;
        limits.headSeconds = 0.05;
        Listening at(limits);
        Peer peer(at.port);
        QCOMPARE(peer.readAll(), std::string());
        QVERIFY(at.waitFor([](const Told &told) { return told.refused.size() == 1; }));
        QVERIFY(at.now().refused.front().starts_with("it said nothing for"));
        QVERIFY(at.waitForConnections(0));
    }

    void aStreamThatIsSilentStays()
    {
        net::ServerLimits limits;
        limits.headSeconds = limits.idleSeconds = limits.bodySeconds = 0.05;
        Listening at(limits);
        Peer quiet(at.port);
        QVERIFY(quiet.send("{}\n"));
        QVERIFY(at.waitFor([](const Told &told) { return told.bytes.size() == 1; }));
        // Others come and are closed for their silence meanwhile.
        for (int other = 0; other < 3; ++other)
            QCOMPARE(Peer(at.port).readAll(), std::string());
        QVERIFY(quiet.send("{}\n"));
        QVERIFY(at.waitFor([](const Told &told) { return onlyBytes(told) == "{}\n{}\n"; }));
    }

    void connectionsAreLimited()
    {
        net::ServerLimits limits;
        limits.connections = 3;
        Listening at(limits);
        std::vector<Peer> peers;
        for (std::size_t i = 0; i < limits.connections; ++i) {
            peers.emplace_back(at.port);
            QVERIFY(peers.back().send("{}\n"));
        }
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 3; }));
        Peer more(at.port);
        QCOMPARE(more.readAll(), std::string());
        QVERIFY(at.waitFor([](const Told &told) { return told.refused.size() == 1; }));
        QCOMPARE(at.now().refused.front(), std::string("there are 3 connections already"));
        // One that leaves makes room.
        peers.pop_back();
        QVERIFY(at.waitForConnections(2));
        Peer next(at.port);
        QVERIFY(next.send("{}\n"));
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 4; }));
    }

    void connectionsOfOneHostAreLimited()
    {
        net::ServerLimits limits;
        limits.connectionsOfOneHost = 2;
        Listening at(limits);
        std::vector<Peer> peers;
        for (int i = 0; i < 2; ++i) {
            peers.emplace_back(at.port);
            QVERIFY(peers.back().send("{}\n"));
        }
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 2; }));
        QCOMPARE(Peer(at.port).readAll(), std::string());
        QVERIFY(at.waitFor([](const Told &told) { return told.refused.size() == 1; }));
        QCOMPARE(at.now().refused.front(), std::string("its host has 2 connections already"));
    }

    void newConnectionsWaitWhereTooManyComeAtOnce()
    {
        net::ServerLimits limits;
        limits.newPerSecond = 80;
        Listening at(limits);
        const auto began = std::chrono::steady_clock::now();
        std::vector<Peer> peers;
        for (int i = 0; i < 100; ++i) {
            peers.emplace_back(at.port);
            QVERIFY(peers.back().isConnected()); // the system keeps it waiting
            QVERIFY(peers.back().send("{}\n"));
        }
        // All are let in; none before its turn: (100 - 80) / 80 per s = 0.25 s at least.
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 100; }));
        QVERIFY(std::chrono::steady_clock::now() - began >= std::chrono::milliseconds(240));
        QVERIFY(at.now().refused.empty());
    }

    void aPeerIsReadNoFasterThanItsLimit()
    {
        net::ServerLimits limits;
        limits.bytesPerSecond = 400'000;
        Listening at(limits);
        const auto began = std::chrono::steady_clock::now();
        Peer peer(at.port);
        QVERIFY(peer.send('{' + std::string(499'999, 'x')));
        // A second's bytes at once, then as fast as the limit: (500,000 - 400,000) / 400,000 per s = 0.25 s at least.
        QVERIFY(at.waitFor([](const Told &told) { return told.allBytes == 500'000; }));
        QVERIFY(std::chrono::steady_clock::now() - began >= std::chrono::milliseconds(230));
    }

    void aStormOfConnectionsIsHarmless()
    {
        Listening at({ .newPerSecond = 100'000 });
        constexpr int kStorm = 5'000;
        for (int i = 0; i < kStorm; ++i) {
            Peer peer(at.port);
            QVERIFY(peer.isConnected());
            if (i % 3 == 0)
                peer.send("{\"event\":\"hello\"}\n");
            if (i % 2 == 0)
                peer.cut();
        }
        Peer after(at.port);
        QVERIFY(after.send("{\"after\":1}\n"));
        QVERIFY(at.waitFor([](const Told &told) {
            return std::ranges::any_of(told.bytes, [](const auto &one) { return one.second == "{\"after\":1}\n"; });
        }));
        QVERIFY(at.waitForConnections(1));
    }

    void aTokenIsShownInTheHello()
    {
        Listening at({}, withToken());
        Peer peer(at.port);
        const std::string text = "{\"event\":\"hello\",\"token\":\"" + std::string(kToken) + "\"}\n{\"event\":";
        QVERIFY(peer.send(text.substr(0, 20)));
        QVERIFY(peer.send(text.substr(20)));
        QVERIFY(at.waitFor([&](const Told &told) { return onlyBytes(told) == text; }));
        QVERIFY(at.now().refused.empty());
    }

    void whoShowsNoTokenOrAnotherOneIsToldWhy_data()
    {
        QTest::addColumn<QByteArray>("said");
        QTest::addColumn<QByteArray>("why");
        QTest::newRow("no token") << QByteArray("{\"event\":\"hello\"}\n")
                                  << QByteArray("the token of its hello is missing or wrong");
        QTest::newRow("another") << QByteArray("{\"event\":\"hello\",\"token\":\"s3cret-of-this-ruN\"}\n")
                                 << QByteArray("the token of its hello is missing or wrong");
        QTest::newRow("no text") << QByteArray("{\"event\":\"hello\",\"token\":7}\n")
                                 << QByteArray("the token of its hello is missing or wrong");
        QTest::newRow("no hello") << QByteArray("{\"event\":\"step\",\"number\":1}\n")
                                  << QByteArray("the first line has to be a hello with the token of this listener");
        QTest::newRow("no JSON") << QByteArray("{ hello\n")
                                 << QByteArray("the first line has to be a hello with the token of this listener");
        QTest::newRow("too long") << QByteArray("{") + QByteArray(200'000, 'x')
                                  << QByteArray("its first line is longer than a hello");
        QTest::newRow("nested") << QByteArray("{\"event\":") + QByteArray(30'000, '[') + '\n'
                                << QByteArray("the first line has to be a hello with the token of this listener");
    }
    void whoShowsNoTokenOrAnotherOneIsToldWhy()
    {
        QFETCH(QByteArray, said);
        QFETCH(QByteArray, why);
        Listening at({}, withToken());
        Peer peer(at.port);
        peer.send({ said.constData(), std::size_t(said.size()) });
        const std::string line = peer.readUntil("\n");
        QCOMPARE(net::refusedReason(line), why.toStdString());
        peer.close();
        QVERIFY(at.waitFor([](const Told &told) { return told.refused.size() == 1; }));
        QCOMPARE(at.now().refused.front(), why.toStdString());
        QVERIFY(at.now().opened.empty() && at.now().allBytes == 0);
        QVERIFY(at.waitForConnections(0));
    }

    void aHelloThatIsNeverWholeIsNotWaitedFor()
    {
        net::ServerLimits limits;
        limits.headSeconds = 0.05;
        Listening at(limits, withToken());
        Peer peer(at.port);
        QVERIFY(peer.send("{\"event\":\"he"));
        peer.readAll();
        QVERIFY(at.waitFor([](const Told &told) { return told.refused.size() == 1; }));
        QVERIFY(at.now().refused.front().starts_with("no hello within"));
    }

    void aListenerBeyondLoopbackNeedsAToken_data()
    {
        QTest::addColumn<QByteArray>("host");
        QTest::newRow("every address") << QByteArray("0.0.0.0");
        QTest::newRow("every address, IPv6") << QByteArray("::");
        QTest::newRow("one of a network") << QByteArray("192.0.2.1");
    }
    void aListenerBeyondLoopbackNeedsAToken()
    {
        QFETCH(QByteArray, host);
        Address address;
        address.host = host.toStdString();
        Listening at({}, {}, address);
        QVERIFY(!at.server);
        QCOMPARE(at.error.code, ErrorCode::BadValue);
        QCOMPARE(at.error.what, std::string("whoever reaches this machine could connect, and no token is set"));
        QVERIFY(!at.error.right.empty());
    }

    void withATokenItListensOnEveryAddress()
    {
        Address address;
        address.host = "0.0.0.0";
        Listening at({}, withToken(), address);
        QVERIFY2(at.server, qPrintable(QString::fromStdString(toString(at.error))));
        Peer peer(at.port);
        peer.send("{\"event\":\"hello\"}\n");
        QVERIFY(!net::refusedReason(peer.readUntil("\n")).empty());
    }

    void aPortThatIsTakenIsNamed()
    {
        Listening first;
        Address address;
        address.port = first.port;
        Listening second({}, {}, address);
        QVERIFY(!second.server);
        QCOMPARE(second.error.code, ErrorCode::CannotWrite);
        QCOMPARE(second.error.where, "127.0.0.1:" + std::to_string(first.port));
        QCOMPARE(second.error.what, std::string("address already in use"));
        QVERIFY(!second.error.right.empty());
    }

    void anAddressThatIsNotOursIsNamed()
    {
        Address address;
        address.host = "192.0.2.1"; // of documentation: nobody's
        Listening at({}, withToken(), address);
        QVERIFY(!at.server);
        QCOMPARE(at.error.right, std::string("an address of this machine"));
        address.host = "node7.cluster";
        Listening named({}, withToken(), address);
        QVERIFY(!named.server);
        QCOMPARE(named.error.what, std::string("\"node7.cluster\" is no address"));
    }

    void theServerSpeaksAndEndsAStreamWithItsReason()
    {
        Listening at;
        Peer peer(at.port);
        QVERIFY(peer.send("{}\n"));
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 1; }));
        std::string said;
        bool isTaken = true, isTakenAfterEnd = true;
        at.loop->call([&] {
            for (int i = 0; i < 1'000; ++i) {
                said += std::to_string(i) + '\n';
                isTaken &= at.server->send(1, std::to_string(i) + '\n');
            }
            at.server->close(1, "it was enough");
            isTakenAfterEnd = at.server->send(1, "more\n");
        });
        QVERIFY(isTaken && !isTakenAfterEnd);
        peer.send("{\"still\":1}\n");
        QCOMPARE(peer.readAll(), said + net::refusedLine("it was enough"));
        peer.close();
        QVERIFY(at.waitFor([](const Told &told) { return told.closed.size() == 1; }));
        QCOMPARE(at.now().closed.at(1), std::string("it was enough"));
        QCOMPARE(onlyBytes(at.now()), std::string("{}\n")); // nothing is taken after the end
    }

    void aPeerThatDoesNotListenIsNotWaitedFor()
    {
        Listening at;
        Peer deaf(at.port);
        QVERIFY(deaf.send("{}\n"));
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 1; }));
        std::size_t taken = 0;
        at.loop->call([&] {
            const std::string block(std::size_t(1) << 20, 'x');
            while (taken < 1'000 && at.server->send(1, block))
                ++taken;
        });
        QCOMPARE(taken, std::size_t(1)); // MiB that wait at most
    }

    void readingStopsAndGoesOn()
    {
        Listening at;
        Peer peer(at.port);
        QVERIFY(peer.send("{1}\n"));
        QVERIFY(at.waitFor([](const Told &told) { return onlyBytes(told) == "{1}\n"; }));
        at.loop->call([&] { at.server->setReading(false); });
        // One read was under way already; what comes after it stays with the system.
        QVERIFY(peer.send("{2}\n"));
        QVERIFY(at.waitFor([](const Told &told) { return onlyBytes(told) == "{1}\n{2}\n"; }));
        QVERIFY(peer.send("{3}\n"));
        Peer other(at.port);
        QVERIFY(other.send("{}\n"));
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 2; }));
        QCOMPARE(at.now().bytes.at(1), std::string("{1}\n{2}\n"));
        at.loop->call([&] { at.server->setReading(true); });
        QVERIFY(at.waitFor([](const Told &told) { return told.bytes.at(1) == "{1}\n{2}\n{3}\n"; }));
    }

    void itEndsWithoutWaitingForPeersAndTellsNothingAfterwards()
    {
        auto at = std::make_unique<Listening>();
        std::vector<Peer> peers;
        for (int i = 0; i < 20; ++i) {
            peers.emplace_back(at->port);
            peers.back().send(i % 2 ? "{}\n" : "GET / HT");
        }
        QVERIFY(at->waitFor([](const Told &told) { return told.opened.size() == 10; }));
        const std::uint16_t port = at->port;
        at->loop->call([&] { at->server.reset(); });
        const std::size_t closed = at->now().closed.size();
        for (Peer &peer : peers)
            peer.readAll();
        QVERIFY(!Peer(port).isConnected());
        at->loop->call([] {});
        QCOMPARE(at->now().closed.size(), closed);
        at.reset();
    }

    /// What waits for those who do not read is bounded for each and for all, and they are cut in time.
    void peersThatDoNotReadHoldLittleAndAreCut()
    {
        net::ServerLimits limits;
        limits.waitingBytes = 200'000;
        limits.waitingBytesOfAll = 500'000;
        limits.writeSeconds = 0.3;
        Listening at(limits);
        std::vector<Peer> peers;
        for (int i = 0; i < 8; ++i) {
            peers.emplace_back(at.port);
            QVERIFY(peers.back().send("{}\n"));
        }
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 8; }));
        const std::string block(50'000, 'x');
        const std::vector<std::uint64_t> opened = at.now().opened;
        std::size_t taken = 0, before = 1;
        while (taken != before) { // until none of them is given more: what the system takes for them is gone
            before = taken;
            for (int turn = 0; turn < 20; ++turn)
                at.loop->call([&] {
                    for (const std::uint64_t one : opened)
                        taken += at.server->send(one, block) ? 1 : 0;
                });
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        QVERIFY(at.waitFor([](const Told &told) { return told.closed.size() == 8; }));
        for (const auto &[connection, why] : at.now().closed)
            QVERIFY2(why.starts_with("it took nothing for"), why.c_str());
        QVERIFY(at.waitForConnections(0));
    }

    void theLoopMayEndFirstWithPeersConnected()
    {
        net::ServerLimits limits;
        Listening at(limits);
        Peer streaming(at.port), asking(at.port), silent(at.port);
        streaming.send("{}\n");
        asking.send("POST /v1/metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n");
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 1; }));
        QVERIFY(at.waitForConnections(3));
        at.stop();
        QVERIFY(!at.loop);
    }
};

TRAINYARD_GUILESS_TEST(TstServerLines)
#include "tst_server_lines.moc"

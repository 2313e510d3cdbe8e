// SPDX-License-Identifier: GPL-3.0-or-later
// Peers that take up a place and never get on (slow loris), in the clear and with TLS: however many come, an honest one
// is served, and none of them is waited for longer than a head may take.

#include "tests/core/live/net/certificates.h"
#include "tests/core/live/net/listening.h"
#include "tests/core/live/net/tls_peer.h"
#include "tests/support/packed.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <csignal>

using namespace trainyard;
using namespace trainyard::live;
using namespace trainyard::live::testing;
using test::gzipped;

namespace {

constexpr std::size_t kMostBody = std::size_t(16) << 20; // bytes: ServerLimits::bodyBytes
constexpr std::size_t kAllBodies = std::size_t(256) << 20; // bytes, as SECURITY.md promises

std::string head(std::size_t bytes, const std::string &headers = {})
{
    return "POST /v1/metrics HTTP/1.1\r\nHost: localhost\r\n" + headers + "Content-Length: " + std::to_string(bytes)
        + "\r\n\r\n";
}

int statusOf(std::uint16_t port, const std::string &body)
{
    Peer peer(port);
    return peer.send(head(body.size()) + body) ? answerOf(peer).status : 0;
}

double secondsSince(std::chrono::steady_clock::time_point began)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

} // namespace

class TstSlowPeers : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    SourceSettings m_withTls;

private slots:
    void initTestCase()
    {
        std::signal(SIGPIPE, SIG_IGN); // OpenSSL writes to sockets that were closed
        QVERIFY(m_folder.isValid());
        m_withTls.certificateFile = m_folder.filePath("server.pem").toStdString();
        m_withTls.keyFile = m_folder.filePath("server.key").toStdString();
        const Certificate made({}, nullptr);
        made.writeCertificate(m_withTls.certificateFile);
        made.writeKey(m_withTls.keyFile);
    }

    /// Sixteen that announce 16 MiB each were 256 MiB at once, and the seventeenth was turned away for a minute.
    void whoAnnouncesMuchAndSendsLittleHoldsNobodyUp()
    {
        Listening at;
        std::vector<Peer> peers;
        for (int i = 0; i < 64; ++i) {
            peers.emplace_back(at.port);
            QVERIFY(peers.back().send(head(kMostBody) + "ten bytes!"));
        }
        QCOMPARE(statusOf(at.port, std::string(std::size_t(4) << 20, 'x')), 200);
        QCOMPARE(statusOf(at.port, std::string(kMostBody, 'x')), 200);
    }

    void whoAnnouncesMoreThanABodyMayHaveIsRefusedAtOnce()
    {
        Listening at;
        Peer peer(at.port);
        QVERIFY(peer.send(head(kMostBody + 1)));
        QCOMPARE(answerOf(peer).status, 413);
    }

    /// 16 MiB but for a byte of each: what has arrived of all of them stays within 256 MiB, and small bodies pass.
    void whatHasArrivedOfAllBodiesIsBounded()
    {
        Listening at({ .bodySeconds = 600 });
        const std::string most(kMostBody - 1, 'x');
        std::vector<Peer> peers;
        std::size_t held = 0;
        for (; held <= kAllBodies; held += most.size()) {
            peers.emplace_back(at.port);
            QVERIFY(peers.back().send(head(kMostBody, "Expect: 100-continue\r\n")));
            if (!peers.back().readUntil("\r\n\r\n").starts_with("HTTP/1.1 100")) // 503
                break;
            peers.back().send(most);
        }
        QVERIFY2(held <= kAllBodies, qPrintable(QString::number(held)));
        QVERIFY2(held >= kAllBodies / 2, qPrintable(QString::number(held)));
        QCOMPARE(statusOf(at.port, std::string(60'000, 'x')), 200);
        // One that leaves makes room.
        const std::size_t there = at.connections();
        peers.pop_back();
        peers.pop_back();
        QTRY_VERIFY(at.connections() < there);
        QCOMPARE(statusOf(at.port, std::string(std::size_t(4) << 20, 'x')), 200);
    }

    void slowPeersMakeRoomForAnHonestOne_data()
    {
        QTest::addColumn<bool>("isTls");
        QTest::addColumn<QByteArray>("said");
        QTest::addColumn<int>("limit"); // which of the three
        for (int limit = 0; limit < 3; ++limit) {
            const auto row = [limit](const char *name, bool isTls, const QByteArray &said) {
                QTest::addRow("%s, limit %d", name, limit) << isTls << said << limit;
            };
            row("nothing is said", false, {});
            row("a head that stops", false, "POST / HTTP/1.1\r\nHost: local");
            row("a first line that stops", false, "{\"event\":");
            row("a handshake that stops", true, QByteArray("\x16\x03\x01", 3));
            if (limit > 0) // whose head is whole
                row("a body that stops", false, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nfour");
        }
    }
    void slowPeersMakeRoomForAnHonestOne()
    {
        QFETCH(bool, isTls);
        QFETCH(QByteArray, said);
        QFETCH(int, limit);
        constexpr std::size_t kFew = 8;
        net::ServerLimits limits;
        limits.headSeconds = limits.bodySeconds = 600; // no deadline helps
        (limit == 0 ? limits.unfinished : limit == 1 ? limits.connections : limits.connectionsOfOneHost) = kFew;
        Listening at(limits, isTls ? m_withTls : SourceSettings {});
        std::vector<Peer> peers;
        for (std::size_t i = 0; i < 5 * kFew; ++i) {
            peers.emplace_back(at.port);
            peers.back().send({ said.constData(), std::size_t(said.size()) });
        }
        if (isTls) {
            TlsPeer honest(at.port);
            QVERIFY(honest.shakeHands());
            QVERIFY(honest.send(head(3) + "abc"));
            QVERIFY(honest.read().starts_with("HTTP/1.1 200"));
        } else {
            QCOMPARE(statusOf(at.port, "abc"), 200);
        }
        QVERIFY(at.connections() <= kFew + 1);
        QCOMPARE(peers.front().readAll(), std::string()); // the oldest was closed
    }

    void whoWaitsToSpeakAgainMakesRoomQuietly()
    {
        net::ServerLimits limits;
        limits.connectionsOfOneHost = 4;
        Listening at(limits);
        std::vector<Peer> peers;
        for (int i = 0; i < 12; ++i) {
            peers.emplace_back(at.port);
            QVERIFY(peers.back().send(head(3) + "abc"));
            QCOMPARE(answerOf(peers.back()).status, 200);
        }
        QVERIFY(at.now().refused.empty());
        QVERIFY(at.connections() <= 4);
    }

    /// A stream is no slow peer: it may be silent for hours, and makes no room.
    void streamsStay()
    {
        net::ServerLimits limits;
        limits.connectionsOfOneHost = limits.unfinished = 4;
        Listening at(limits);
        std::vector<Peer> streams;
        for (int i = 0; i < 4; ++i) {
            streams.emplace_back(at.port);
            QVERIFY(streams.back().send("{}\n"));
        }
        QVERIFY(at.waitFor([](const Told &told) { return told.bytes.size() == 4; }));
        QCOMPARE(Peer(at.port).readAll(), std::string());
        QCOMPARE(at.now().refused.back(), std::string("its host has 4 connections already"));
        QCOMPARE(at.connections(), std::size_t(4));
        for (Peer &one : streams)
            QVERIFY(one.send("{\"again\":1}\n"));
        QVERIFY(at.waitFor([](const Told &told) { return told.allBytes == 4 * 15; }));
    }

    void aStreamThatMakesRoomIsToldOfAsClosed()
    {
        net::ServerLimits limits;
        limits.unfinished = 1;
        Listening at(limits);
        Peer slow(at.port);
        QVERIFY(slow.send("{\"event\":"));
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 1; }));
        QCOMPARE(statusOf(at.port, "abc"), 200);
        QVERIFY(at.waitFor([](const Told &told) { return told.closed.size() == 1; }));
        QCOMPARE(at.now().closed.begin()->second, std::string("others came, and what it wants was not whole"));
    }

    /// One deadline of handshake and head together: what was said in time does not begin it anew.
    void aHeadInPiecesHasOneDeadline_data()
    {
        QTest::addColumn<bool>("isTls");
        QTest::newRow("in the clear") << false;
        QTest::newRow("with TLS") << true;
    }
    void aHeadInPiecesHasOneDeadline()
    {
        QFETCH(bool, isTls);
        net::ServerLimits limits;
        limits.headSeconds = 2;
        Listening at(limits, isTls ? m_withTls : SourceSettings {});
        const auto began = std::chrono::steady_clock::now();
        TlsPeer peer(at.port);
        QVERIFY(!isTls || peer.shakeHands());
        const auto send = [&](std::string_view bytes) { return isTls ? peer.send(bytes) : peer.peer().send(bytes); };
        QTest::qWait(1'500);
        QVERIFY(send("POST / HTTP/1.1\r\nX: "));
        // With TLS tickets of the session wait to be read: there the end shows by what cannot be sent any more.
        for (std::size_t sent = 0; sent < 30'000 && send("x"); ++sent)
            if (QTest::qSleep(5); !isTls && peer.peer().hasBytes(0))
                break;
        const double seconds = secondsSince(began);
        QVERIFY2(seconds > 1.9 && seconds < 3.2, qPrintable(QString::number(seconds)));
        QVERIFY(at.waitFor([](const Told &told) { return told.refused.size() == 1; }));
        QCOMPARE(at.now().refused.front(), std::string("no whole request within 2 s"));
    }

    /// Each byte of a handshake comes in time, the whole never does.
    void aHandshakeByteByByteHasADeadline()
    {
        net::ServerLimits limits;
        limits.headSeconds = 0.5;
        Listening at(limits, m_withTls);
        Peer peer(at.port);
        // A record of 16 KiB, of a hello as long.
        std::string hello("\x16\x03\x01\x3f\xff\x01\x00\x3f\xfb\x03\x03", 11);
        hello.resize(16'000, 'x');
        std::size_t sent = 0;
        while (sent < hello.size() && peer.send(hello.substr(sent, 1)) && !peer.hasBytes(5))
            ++sent;
        QVERIFY(sent < hello.size());
        QVERIFY(at.waitFor([](const Told &told) { return told.refused.size() == 1; }));
        QCOMPARE(at.now().refused.front(), std::string("the TLS handshake was not done in time"));
        QVERIFY(at.waitForConnections(0));
    }

    /// Twenty bodies that take long to unpack came first; the small one does not wait for all of them.
    void aSmallPackedBodyWaitsForNoQueueOfLargeOnes()
    {
        constexpr std::size_t kLong = std::size_t(6) << 20; // bytes
        std::string text;
        for (int i = 0; text.size() < kLong; ++i)
            text += std::to_string(std::sin(i));
        const std::string packed = gzipped(text);
        Listening at;
        std::vector<std::size_t> order;
        at.onRequest = [&](net::ServerRequest &&request, std::function<void(net::ServerAnswer)> answer) {
            order.push_back(request.body.size());
            answer({ 200, {}, "ok" });
        };
        std::vector<Peer> large;
        for (int i = 0; i < 20; ++i) {
            large.emplace_back(at.port);
            QVERIFY(large.back().send(head(packed.size(), "Content-Encoding: gzip\r\n") + packed));
        }
        const std::string small = gzipped("small");
        Peer honest(at.port);
        QVERIFY(honest.send(head(small.size(), "Content-Encoding: gzip\r\n") + small));
        QCOMPARE(answerOf(honest).status, 200);
        std::size_t before = 0;
        at.loop->call([&] { before = order.size(); });
        for (Peer &one : large)
            QVERIFY(answerOf(one).status != 0);
        QVERIFY2(before < 19, qPrintable(QString::number(before)));
    }
};

TRAINYARD_GUILESS_TEST(TstSlowPeers)
#include "tst_slow_peers.moc"

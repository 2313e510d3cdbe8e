// SPDX-License-Identifier: GPL-3.0-or-later
// WebSocket written by hand, frame by frame, against the server (RFC 6455).

#include "tests/core/live/net/frames.h"
#include "tests/core/live/net/listening.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::live;
using namespace trainyard::live::testing;

namespace {

constexpr int kNormal = 1000, kBadPayload = 1007, kPolicy = 1008, kTooBig = 1009, kProtocol = 1002;

std::string hello(const std::string &token)
{
    return "{\"event\":\"hello\",\"token\":\"" + token + "\"}";
}

bool shakeHands(Peer &peer, const std::string &headers = {}, const std::string &target = "/")
{
    return peer.send(handshake(headers, target)) && peer.readUntil("\r\n\r\n").starts_with("HTTP/1.1 101");
}

bool arrived(Listening &at, const std::string &text)
{
    return at.waitFor([&](const Told &told) { return told.bytes.size() == 1 && told.bytes.begin()->second == text; });
}

} // namespace

class TstServerWebsocket : public QObject {
    Q_OBJECT

private slots:
    void theHandshakeIsThatOfTheStandardAtAnyPath()
    {
        Listening at;
        Peer peer(at.port);
        QVERIFY(peer.send(handshake({}, "/any/path?run=7")));
        const std::string answer = peer.readUntil("\r\n\r\n");
        QVERIFY(answer.starts_with("HTTP/1.1 101"));
        // RFC 6455, 1.3: the key of its example and what has to be answered to it.
        QVERIFY(answer.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") != std::string::npos);
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 1; }));
        QVERIFY(at.now().isWebSocket.front());
    }

    void eachMessageIsALine()
    {
        Listening at;
        Peer peer(at.port);
        QVERIFY(shakeHands(peer));
        QVERIFY(peer.send(frame(kText, "{1}") + frame(kBinary, "{2}")));
        QVERIFY(arrived(at, "{1}\n{2}\n"));
    }

    void fragmentsOfAMessageArriveAsOneLineWithControlInBetween()
    {
        Listening at;
        Peer peer(at.port);
        QVERIFY(shakeHands(peer));
        QVERIFY(peer.send(frame(kText, "{\"eve", false)));
        QVERIFY(peer.send(frame(kPing, "are you there")));
        const Frame pong = nextFrame(peer);
        QCOMPARE(pong.opcode, kPong);
        QCOMPARE(pong.payload, std::string("are you there"));
        QVERIFY(peer.send(frame(kContinuation, "nt\":", false)));
        QVERIFY(peer.send(frame(kContinuation, "", false)));
        QVERIFY(peer.send(frame(kContinuation, "\"end\"}")));
        QVERIFY(arrived(at, "{\"event\":\"end\"}\n"));
    }

    void framesMayComeByteByByte()
    {
        Listening at;
        Peer peer(at.port);
        QVERIFY(shakeHands(peer));
        for (const char byte : frame(kText, "{1}") + frame(kText, std::string(300, 'x')))
            QVERIFY(peer.send({ &byte, 1 }));
        QVERIFY(arrived(at, "{1}\n" + std::string(300, 'x') + '\n'));
    }

    void aLongMessageIsPassedOnInPiecesAndATooLongOneEndsIt()
    {
        net::ServerLimits limits;
        limits.bodyBytes = std::size_t(2) << 20;
        Listening at(limits);
        Peer peer(at.port);
        QVERIFY(shakeHands(peer));
        const std::string fits(limits.bodyBytes, 'x');
        QVERIFY(peer.send(frame(kText, fits)));
        QVERIFY(arrived(at, fits + '\n'));
        QVERIFY(at.now().largestPiece <= (std::size_t(128) << 10));
        peer.send(frame(kText, fits + 'x'));
        QCOMPARE(nextFrame(peer).closeCode(), kTooBig);
        peer.close();
        QVERIFY(at.waitFor([](const Told &told) { return told.closed.size() == 1; }));
        QCOMPARE(at.now().closed.at(1), std::string("a message had more than 2097152 bytes"));
    }

    void whatIsNoWebSocketIsEndedWithItsCode_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<int>("code");
        const auto of = [](const std::string &bytes) { return QByteArray(bytes.data(), qsizetype(bytes.size())); };
        std::string open = frame(kText, "x");
        open[1] = static_cast<char>(open[1] & 0x7F); // not masked
        QTest::newRow("not masked") << of(open) << kProtocol;
        QTest::newRow("no text") << of(frame(kText, "\xff\xfe")) << kBadPayload;
        QTest::newRow("a kind that there is not") << of(frame(5, "x")) << kProtocol;
        QTest::newRow("nothing to go on with") << of(frame(kContinuation, "x")) << kProtocol;
        QTest::newRow("a ping in parts") << of(frame(kPing, "x", false)) << kProtocol;
        QTest::newRow("a farewell that is none") << of(frame(kClose, closing(999, ""))) << kProtocol;
    }
    void whatIsNoWebSocketIsEndedWithItsCode()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(int, code);
        Listening at;
        Peer peer(at.port);
        QVERIFY(shakeHands(peer));
        QVERIFY(peer.send({ bytes.constData(), std::size_t(bytes.size()) }));
        const Frame end = nextFrame(peer);
        QCOMPARE(end.opcode, kClose);
        QCOMPARE(end.closeCode(), code);
        peer.close();
        QVERIFY(at.waitFor([](const Told &told) { return told.closed.size() == 1; }));
        QVERIFY(at.waitForConnections(0));
    }

    void aPeersFarewellIsReturnedAndItsReasonTold()
    {
        Listening at;
        Peer peer(at.port);
        QVERIFY(shakeHands(peer));
        QVERIFY(peer.send(frame(kText, "{1}") + frame(kClose, closing(kNormal, "the run is over"))));
        const Frame end = nextFrame(peer);
        QCOMPARE(end.opcode, kClose);
        QCOMPARE(end.closeCode(), kNormal);
        peer.close();
        QVERIFY(at.waitFor([](const Told &told) { return told.closed.size() == 1; }));
        QCOMPARE(at.now().closed.at(1), std::string("the peer closed the connection: the run is over"));
    }

    void theServersFarewellHasItsReason_data()
    {
        QTest::addColumn<QByteArray>("why");
        QTest::addColumn<int>("code");
        QTest::addColumn<QByteArray>("shown");
        QTest::newRow("none") << QByteArray() << kNormal << QByteArray();
        QTest::newRow("one") << QByteArray("it speaks garbage") << kPolicy << QByteArray("it speaks garbage");
        QTest::newRow("long") << QByteArray(500, 'x') << kPolicy << QByteArray(120, 'x');
    }
    void theServersFarewellHasItsReason()
    {
        QFETCH(QByteArray, why);
        QFETCH(int, code);
        QFETCH(QByteArray, shown);
        Listening at;
        Peer peer(at.port);
        QVERIFY(shakeHands(peer));
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 1; }));
        at.loop->call([&] {
            for (int i = 0; i < 3; ++i)
                std::ignore = at.server->send(1, std::to_string(i) + '\n');
            at.server->close(1, why.toStdString());
        });
        std::string said;
        Frame next = nextFrame(peer);
        for (; next.opcode == kText; next = nextFrame(peer))
            said += next.payload + '\n';
        QCOMPARE(said, std::string("0\n1\n2\n"));
        QCOMPARE(next.opcode, kClose);
        QCOMPARE(next.closeCode(), code);
        QCOMPARE(next.closeReason(), shown.toStdString());
        QVERIFY(peer.send(frame(kClose, next.payload)));
        QCOMPARE(peer.readAll(), std::string());
        peer.close();
        QVERIFY(at.waitFor([](const Told &told) { return told.closed.size() == 1; }));
    }

    void aPeerThatDoesNotAnswerAFarewellIsNotWaitedFor()
    {
        net::ServerLimits limits;
        limits.headSeconds = 0.1;
        Listening at(limits);
        Peer peer(at.port);
        QVERIFY(shakeHands(peer));
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 1; }));
        at.loop->call([&] { at.server->close(1, "enough"); });
        QVERIFY(at.waitFor([](const Told &told) { return told.closed.size() == 1; }));
        QCOMPARE(at.now().closed.at(1), std::string("enough"));
        QVERIFY(at.waitForConnections(0));
    }

    void theTokenIsShownInAHeaderOrInTheHello()
    {
        Listening at({}, withToken());
        Peer header(at.port);
        QVERIFY(shakeHands(header, std::string("Authorization: Bearer ") + kToken + "\r\n"));
        QVERIFY(header.send(frame(kText, "{1}")));
        QVERIFY(arrived(at, "{1}\n"));
        Peer inHello(at.port);
        QVERIFY(shakeHands(inHello, "Origin: https://elsewhere.example\r\n"));
        QVERIFY(inHello.send(frame(kText, hello(kToken).substr(0, 9), false)));
        QVERIFY(inHello.send(frame(kContinuation, hello(kToken).substr(9)) + frame(kText, "{2}")));
        QVERIFY(at.waitFor(
            [](const Told &told) { return told.bytes.contains(2) && told.bytes.at(2) == hello(kToken) + "\n{2}\n"; }));
        QVERIFY(at.now().refused.empty());
    }

    void withoutTheTokenItIsRefused()
    {
        Listening at({}, withToken());
        Peer wrongHeader(at.port);
        QVERIFY(wrongHeader.send(handshake("Authorization: Bearer of-another-run\r\n")));
        QVERIFY(wrongHeader.readAll().starts_with("HTTP/1.1 401"));
        Peer inTarget(at.port);
        QVERIFY(inTarget.send(handshake({}, std::string("/?token=") + kToken)));
        QVERIFY(inTarget.readAll().starts_with("HTTP/1.1 400"));
        for (const std::string &said :
            { hello("of-another-run"), std::string("{\"event\":\"step\"}"), std::string(99'999, 'x') }) {
            Peer peer(at.port);
            QVERIFY(shakeHands(peer));
            QVERIFY(peer.send(frame(kText, said)));
            const Frame end = nextFrame(peer);
            QCOMPARE(end.closeCode(), kPolicy);
            QVERIFY(!end.closeReason().empty());
        }
        QVERIFY(at.waitFor([](const Told &told) { return told.refused.size() == 5; }));
        QVERIFY(at.now().opened.empty() && at.now().bytes.empty());
    }

    void aHelloThatNeverComesIsNotWaitedFor()
    {
        net::ServerLimits limits;
        limits.headSeconds = 0.1;
        Listening at(limits, withToken());
        Peer peer(at.port);
        QVERIFY(shakeHands(peer));
        peer.readAll();
        QVERIFY(at.waitFor([](const Told &told) { return told.refused.size() == 1; }));
        QVERIFY(at.now().opened.empty());
    }

    void pagesOfOtherMachinesMayNotConnect()
    {
        Listening at;
        Peer peer(at.port);
        QVERIFY(peer.send(handshake("Origin: https://elsewhere.example\r\n")));
        QVERIFY(peer.readAll().starts_with("HTTP/1.1 403"));
    }

    void aHandshakeWithoutItsKeyIsRefused()
    {
        Listening at;
        Peer peer(at.port);
        QVERIFY(peer.send("GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"));
        QVERIFY(peer.readUntil("\r\n\r\n").starts_with("HTTP/1.1 400"));
        peer.close();
        QVERIFY(at.waitFor([](const Told &told) { return told.refused.size() == 1; }));
        QVERIFY(at.waitForConnections(0));
    }
};

TRAINYARD_GUILESS_TEST(TstServerWebsocket)
#include "tst_server_websocket.moc"

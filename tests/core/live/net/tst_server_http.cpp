// SPDX-License-Identifier: GPL-3.0-or-later
// HTTP/1.1 written by hand, byte by byte, against the server: what passes, what is refused, and with which words.

#include "tests/core/live/net/listening.h"
#include "tests/support/packed.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::live;
using namespace trainyard::live::testing;
using test::gzipped;

namespace {

std::string post(const std::string &body, const std::string &headers = {}, const std::string &target = "/v1/metrics")
{
    return "POST " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers
        + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string refusedOnce(Listening &at)
{
    at.waitFor([](const Told &told) { return !told.refused.empty(); });
    const Told told = at.now();
    return told.refused.size() == 1 ? told.refused.front() : std::to_string(told.refused.size()) + " were refused";
}

} // namespace

class TstServerHttp : public QObject {
    Q_OBJECT

private slots:
    void aRequestArrivesWholeAndIsAnswered()
    {
        Listening at;
        Peer peer(at.port);
        QVERIFY(peer.send(post("twelve bytes", "Content-Type: text/x\r\nX-Two: a\r\n", "/a?b=c")));
        const HttpAnswer answer = answerOf(peer);
        QCOMPARE(answer.status, 200);
        QCOMPARE(answer.body, std::string("12"));
        const Told told = at.now();
        QCOMPARE(told.requests.size(), std::size_t(1));
        QCOMPARE(told.requests[0].method, std::string("POST"));
        QCOMPARE(told.requests[0].target, std::string("/a?b=c"));
        QCOMPARE(told.requests[0].body, std::string("twelve bytes"));
        QCOMPARE(told.requests[0].headers.at("content-type"), std::string("text/x"));
        QVERIFY(told.requests[0].peer.starts_with("127.0.0.1:"));
    }

    void aConnectionIsKeptForManyRequestsAlsoWhereTheyComeAtOnce()
    {
        Listening at;
        Peer peer(at.port);
        std::string all;
        for (int i = 0; i < 50; ++i)
            all += post(std::string(std::size_t(i), 'x'));
        QVERIFY(peer.send(all));
        for (int i = 0; i < 50; ++i)
            QCOMPARE(answerOf(peer).body, std::to_string(i));
        QVERIFY(peer.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
        QVERIFY(peer.readAll().starts_with("HTTP/1.1 200"));
        QVERIFY(at.waitForConnections(0));
    }

    void bodiesInChunksAndAfterAnExpectationArrive()
    {
        Listening at;
        Peer peer(at.port);
        QVERIFY(peer.send("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"));
        QVERIFY(peer.send("7\r\n, world\r\n0\r\n\r\n"));
        QCOMPARE(answerOf(peer).body, std::string("12"));
        QVERIFY(peer.send("POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"));
        QVERIFY(peer.readUntil("\r\n\r\n").starts_with("HTTP/1.1 100 Continue"));
        QVERIFY(peer.send("four"));
        QCOMPARE(answerOf(peer).body, std::string("4"));
        QCOMPARE(at.now().requests[0].body, std::string("hello, world"));
    }

    void aHeadHasNoBody()
    {
        Listening at;
        Peer peer(at.port);
        QVERIFY(peer.send("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n" + post("abc")));
        QVERIFY(answerOf(peer, false).head.find("Content-Length: 1") != std::string::npos);
        QCOMPARE(answerOf(peer).body, std::string("3"));
    }

    void packedBodiesAreUnpacked()
    {
        Listening at;
        Peer peer(at.port);
        std::string text;
        for (int i = 0; i < 20'000; ++i)
            text += std::to_string(i * 7919) + ' ';
        QVERIFY(peer.send(post(gzipped(text), "Content-Encoding: gzip\r\n")));
        QCOMPARE(answerOf(peer).body, std::to_string(text.size()));
        QCOMPARE(at.now().requests[0].body, text);
        // Two members behind each other are one text.
        QVERIFY(peer.send(post(gzipped("one") + gzipped("two"), "Content-Encoding: GZIP\r\n")));
        QCOMPARE(answerOf(peer).status, 200);
        QCOMPARE(at.now().requests[1].body, std::string("onetwo"));
    }

    void whatUnpacksToTooMuchIsRefused_data()
    {
        QTest::addColumn<qulonglong>("bytes");
        QTest::addColumn<int>("status");
        // 1 MiB is always allowed; beyond it no more than 200 times the packed size (zeros pack 1,000 : 1), and no more
        // than the limit of a body.
        QTest::newRow("1 MiB of zeros") << (1ULL << 20) << 200;
        QTest::newRow("2 MiB of zeros") << (2ULL << 20) << 413;
        QTest::newRow("100 MiB of zeros") << (100ULL << 20) << 413;
    }
    void whatUnpacksToTooMuchIsRefused()
    {
        QFETCH(qulonglong, bytes);
        QFETCH(int, status);
        const std::string request = post(gzipped(std::string(bytes, '\0')), "Content-Encoding: gzip\r\n");
        Listening at;
        Peer peer(at.port);
        QVERIFY(peer.send(request));
        QCOMPARE(answerOf(peer).status, status);
        QCOMPARE(at.now().requests.size(), std::size_t(status == 200));
        QVERIFY(peer.send(post("abc"))); // the connection goes on
        QCOMPARE(answerOf(peer).body, std::string("3"));
    }

    void aPackedBodyThatIsDamagedOrCutOffIsRefused()
    {
        Listening at;
        Peer peer(at.port);
        const std::string packed = gzipped("a text that is packed");
        QVERIFY(peer.send(post(packed.substr(0, packed.size() - 9), "Content-Encoding: gzip\r\n")));
        QCOMPARE(answerOf(peer).status, 400);
        std::string damaged = packed;
        damaged[12] = static_cast<char>(damaged[12] ^ 0x55);
        QVERIFY(peer.send(post(damaged, "Content-Encoding: gzip\r\n")));
        QCOMPARE(answerOf(peer).status, 400);
        QVERIFY(peer.send(post(packed, "Content-Encoding: br\r\n")));
        const HttpAnswer answer = answerOf(peer);
        QCOMPARE(answer.status, 415);
        QVERIFY(answer.body.find("gzip, deflate or none") != std::string::npos);
        QVERIFY(at.now().requests.empty());
    }

    void aBodyThatIsTooLargeIsRefusedBeforeItIsRead()
    {
        net::ServerLimits limits;
        limits.bodyBytes = 1'000;
        Listening at(limits);
        Peer declared(at.port);
        QVERIFY(declared.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\n\r\n"));
        QCOMPARE(answerOf(declared).status, 413);
        Peer counted(at.port);
        counted.send("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1388\r\n"
            + std::string(5'000, 'x'));
        QCOMPARE(answerOf(counted).status, 413);
        Peer endless(at.port);
        QVERIFY(endless.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n"));
        const int status = answerOf(endless).status;
        QVERIFY2(status == 400 || status == 413, qPrintable(QString::number(status)));
        QVERIFY(at.now().requests.empty());
    }

    void aHeadThatIsTooLongOrNoHttpIsRefused_data()
    {
        QTest::addColumn<QByteArray>("said");
        QTest::addColumn<int>("status");
        QTest::newRow("a long header") << QByteArray("GET / HTTP/1.1\r\nX: ") + QByteArray(100'000, 'x') << 431;
        QTest::newRow("a long target") << QByteArray("GET /") + QByteArray(100'000, 'x') << 431;
        QTest::newRow("HTTP/0.9") << QByteArray("GET /\r\n\r\n") << 400;
        QTest::newRow("HTTP/2.0") << QByteArray("GET / HTTP/2.0\r\n\r\n") << 505;
        QTest::newRow("garbage") << QByteArray("Garbage\x01\x02\r\n\r\n") << 400;
        QTest::newRow("a header without a colon") << QByteArray("GET / HTTP/1.1\r\nwhat is this\r\n\r\n") << 400;
        QTest::newRow("two lengths") << QByteArray(
            "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx")
                                     << 400;
    }
    void aHeadThatIsTooLongOrNoHttpIsRefused()
    {
        QFETCH(QByteArray, said);
        QFETCH(int, status);
        Listening at;
        Peer peer(at.port);
        peer.send({ said.constData(), std::size_t(said.size()) });
        QCOMPARE(answerOf(peer).status, status);
        peer.close();
        QVERIFY(at.now().requests.empty());
        QVERIFY(at.waitForConnections(0));
    }

    void anExporterOfGrpcIsToldWhatToChoose()
    {
        Listening at;
        Peer peer(at.port);
        QVERIFY(peer.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
        peer.readAll();
        QCOMPARE(refusedOnce(at),
            std::string("it speaks HTTP/2, as OTLP over gRPC does: choose http/protobuf in the exporter"));
    }

    void whoSendsItsHeadByteByByteIsNotWaitedFor()
    {
        net::ServerLimits limits;
        limits.headSeconds = 0.3;
        Listening at(limits);
        Peer peer(at.port);
        // Each byte comes in time; the whole never does.
        const std::string head = "POST / HTTP/1.1\r\nX: " + std::string(100'000, 'x');
        std::size_t sent = 0;
        while (sent < head.size() && peer.send(head.substr(sent, 1))) {
            ++sent;
            if (peer.hasBytes(5))
                break;
        }
        QVERIFY(sent < head.size());
        QCOMPARE(refusedOnce(at), std::string("no whole request within 0 s"));
    }

    void aBodyThatNeverComesIsNotWaitedFor()
    {
        net::ServerLimits limits;
        limits.bodySeconds = 0.1;
        Listening at(limits);
        Peer peer(at.port);
        QVERIFY(peer.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nten bytes!"));
        peer.readAll();
        QCOMPARE(refusedOnce(at), std::string("no whole body within 0 s"));
        QVERIFY(at.waitForConnections(0));
    }

    void aKeptConnectionThatIsIdleEndsQuietly()
    {
        net::ServerLimits limits;
        limits.idleSeconds = 0.1;
        Listening at(limits);
        Peer peer(at.port);
        QVERIFY(peer.send(post("abc")));
        QCOMPARE(answerOf(peer).status, 200);
        QCOMPARE(peer.readAll(), std::string());
        QVERIFY(at.now().refused.empty());
    }

    void withoutTheTokenItSays401_data()
    {
        QTest::addColumn<QByteArray>("header");
        QTest::addColumn<int>("status");
        QTest::newRow("none") << QByteArray() << 401;
        QTest::newRow("another") << QByteArray("Authorization: Bearer s3cret-of-this-ruN\r\n") << 401;
        QTest::newRow("longer") << QByteArray("Authorization: Bearer s3cret-of-this-run1\r\n") << 401;
        QTest::newRow("basic") << QByteArray("Authorization: Basic s3cret-of-this-run\r\n") << 401;
        QTest::newRow("empty") << QByteArray("Authorization: Bearer \r\n") << 401;
        QTest::newRow("the token") << QByteArray("Authorization: Bearer s3cret-of-this-run\r\n") << 200;
        QTest::newRow("in other letters") << QByteArray("authorization: bearer   s3cret-of-this-run\r\n") << 200;
    }
    void withoutTheTokenItSays401()
    {
        QFETCH(QByteArray, header);
        QFETCH(int, status);
        Listening at({}, withToken());
        Peer peer(at.port);
        QVERIFY(peer.send(post("abc", header.toStdString())));
        const HttpAnswer answer = answerOf(peer);
        QCOMPARE(answer.status, status);
        QCOMPARE(at.now().requests.size(), std::size_t(status == 200));
        if (status == 200) {
            QVERIFY(!at.now().requests[0].headers.contains("authorization")); // nobody else's business
            return;
        }
        QVERIFY(answer.head.find("www-authenticate: Bearer") != std::string::npos);
        QVERIFY(!answer.body.empty());
        QCOMPARE(peer.readAll(), std::string()); // a guess costs a connection
        QVERIFY(!refusedOnce(at).empty());
    }

    void aTokenInTheAddressIsRefusedEvenWhereItIsRight()
    {
        Listening at({}, withToken());
        for (const char *target : { "/?token=s3cret-of-this-run", "/v1/metrics?a=b&Token=x", "/?access_token=1" }) {
            Peer peer(at.port);
            QVERIFY(peer.send(post("abc", "Authorization: Bearer s3cret-of-this-run\r\n", target)));
            const HttpAnswer answer = answerOf(peer);
            QCOMPARE(answer.status, 400);
            QVERIFY(answer.body.find("Authorization: Bearer") != std::string::npos);
        }
        QVERIFY(at.now().requests.empty());
    }

    void pagesOfOtherMachinesMaySendNothing()
    {
        Listening at;
        for (const char *origin : { "https://elsewhere.example", "null", "http://127.0.0.1.elsewhere.example:80",
                 "http://[::1].elsewhere.example", "http://[::1]elsewhere.example:80",
                 "http://localhost:80.elsewhere.example", "http://localhost:", "http://localhost:123456",
                 "http://[::1" }) {
            Peer peer(at.port);
            QVERIFY(peer.send(post("abc", std::string("Origin: ") + origin + "\r\n")));
            QCOMPARE(answerOf(peer).status, 403);
        }
        for (const char *origin : { "http://localhost:3000", "http://127.0.0.1", "http://[::1]:80" }) {
            Peer peer(at.port);
            QVERIFY(peer.send(post("abc", std::string("Origin: ") + origin + "\r\n")));
            QCOMPARE(answerOf(peer).status, 200);
        }
    }

    /// A browser takes a page of elsewhere.example for one of this machine once that name leads here (DNS rebinding).
    void aNameOfSomebodyElsesIsNotThisListener()
    {
        Listening at;
        const auto statusOf = [&](const std::string &host) {
            Peer peer(at.port);
            const std::string body = "abc";
            if (!peer.send("POST / HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 3\r\n\r\n" + body))
                return 0;
            return answerOf(peer).status;
        };
        for (const char *host : { "elsewhere.example:4318", "elsewhere.example", "127.0.0.1.elsewhere.example",
                 "[::1].elsewhere.example", "[::1", "localhost:4318.elsewhere.example", "localhost.:80x" })
            QCOMPARE(statusOf(host), 403);
        for (const char *host : { "localhost", "LocalHost:4318", "127.0.0.1:4318", "[::1]:4318", "[::1]" })
            QCOMPARE(statusOf(host), 200);
        Listening guarded({}, withToken()); // which no page has, whatever its name
        Peer peer(guarded.port);
        QVERIFY(peer.send("POST / HTTP/1.1\r\nHost: node7.cluster:4318\r\nAuthorization: Bearer "
                          "s3cret-of-this-run\r\nContent-Length: 3\r\n\r\nabc"));
        QCOMPARE(answerOf(peer).status, 200);
    }

    void anAnswerMayComeLaterOrAfterTheServersEnd()
    {
        Listening at;
        std::function<void(net::ServerAnswer)> kept;
        at.onRequest = [&](net::ServerRequest &&, std::function<void(net::ServerAnswer)> answer) {
            kept = std::move(answer);
        };
        Peer peer(at.port);
        QVERIFY(peer.send(post("abc")));
        QVERIFY(at.waitFor([](const Told &told) { return told.requests.size() == 1; }));
        at.loop->call([&] {
            kept({ 202, {}, "later" });
            kept({ 500, {}, "once is enough" });
        });
        QCOMPARE(answerOf(peer).body, std::string("later"));
        QVERIFY(peer.send(post("def")));
        QVERIFY(at.waitFor([](const Told &told) { return told.requests.size() == 2; }));
        at.loop->call([&] { at.server.reset(); });
        QCOMPARE(peer.readAll(), std::string());
        at.loop->call([&] { kept({ 200, {}, "nobody hears it" }); });
    }

    void whoIsNeverAnsweredIsToldToComeAgain()
    {
        net::ServerLimits limits;
        limits.bodySeconds = 0.1;
        Listening at(limits);
        std::function<void(net::ServerAnswer)> kept;
        at.onRequest = [&](net::ServerRequest &&, std::function<void(net::ServerAnswer)> answer) {
            kept = std::move(answer);
        };
        Peer peer(at.port);
        QVERIFY(peer.send(post("abc")));
        QCOMPARE(answerOf(peer).status, 503);
    }

    /// 20,000 empty gzip members took the network thread for seconds, in which nobody else was heard.
    void aBodyOfEmptyMembersIsRefusedAndNobodyWaitsForIt()
    {
        Listening at;
        std::string body = gzipped(std::string(std::size_t(4) << 20, ' ') + std::string(100'000, 'x'));
        const std::string empty = gzipped("");
        for (int i = 0; i < 20'000; ++i)
            body += empty;
        Peer slow(at.port), other(at.port);
        QVERIFY(slow.send(post(body, "Content-Encoding: gzip\r\n")));
        QVERIFY(other.send(post("ping")));
        QCOMPARE(answerOf(other).status, 200);
        const HttpAnswer refused = answerOf(slow);
        QCOMPARE(refused.status, 413);
        QVERIFY(refused.body.find("gzip members") != std::string::npos);
    }

    void packedBodiesAreAnsweredInTheirOrderOnOneConnection()
    {
        Listening at;
        Peer peer(at.port);
        std::string all;
        for (int i = 1; i <= 20; ++i)
            all += post(gzipped(std::string(std::size_t(i), 'x')), "Content-Encoding: gzip\r\n");
        QVERIFY(peer.send(all));
        for (int i = 1; i <= 20; ++i)
            QCOMPARE(answerOf(peer).body, std::to_string(i));
    }
};

TRAINYARD_GUILESS_TEST(TstServerHttp)
#include "tst_server_http.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// The client of a stream against our server, and against peers that do as they like.

#include "tests/core/live/net/calling.h"
#include "tests/core/live/net/frames.h"
#include "tests/core/live/net/listening.h"
#include "tests/support/loopback.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <thread>

using namespace trainyard;
using namespace trainyard::live;
using namespace trainyard::live::testing;

namespace {

/// A socket of the system that listens, for a test that plays the server.
class Waiting {
public:
    Waiting() = default;
    ~Waiting() { ::close(m_socket); }
    Waiting(const Waiting &) = delete;
    Waiting &operator=(const Waiting &) = delete;
    /// Answers whoever connects next with `said`, and closes.
    void answerOnce(const std::string &said) const
    {
        const int peer = accept(m_socket, nullptr, nullptr);
        std::array<char, 4'096> asked {};
        std::string all; // what is left unread would cut the answer off
        for (ssize_t got = 1; got > 0 && !all.starts_with('\x16') && all.find("\r\n\r\n") == std::string::npos;) {
            got = recv(peer, asked.data(), asked.size(), 0);
            all.append(asked.data(), std::size_t(std::max<ssize_t>(got, 0)));
        }
        std::ignore = ::send(peer, said.data(), said.size(), MSG_NOSIGNAL);
        ::close(peer);
    }
    std::uint16_t port = 0;

private:
    int m_socket = test::listenOnLoopback(port);
};

} // namespace

class TstStreamClient : public QObject {
    Q_OBJECT

private slots:
    void bytesGoBothWays_data()
    {
        QTest::addColumn<bool>("isWebSocket");
        QTest::newRow("TCP") << false;
        QTest::newRow("WebSocket") << true;
    }
    void bytesGoBothWays()
    {
        QFETCH(bool, isWebSocket);
        Listening at;
        Calling call(streamAt(at.port, false, isWebSocket ? SourceType::WebSocket : SourceType::Stream));
        QVERIFY(call.send("{\"sent\":\"before it opened\"}\n"));
        QVERIFY(call.waitOpen());
        QVERIFY(call.send("{2}\n"));
        QVERIFY(at.waitFor([](const Told &told) {
            return told.bytes.size() == 1 && told.bytes.begin()->second == "{\"sent\":\"before it opened\"}\n{2}\n";
        }));
        at.loop->call([&] { std::ignore = at.server->send(1, "{3}\n"); });
        QVERIFY(call.waitFor([&] { return call.bytes == "{3}\n"; }));
        std::size_t waiting = 1;
        call.loop.call([&] { waiting = call.client->waiting(); });
        QCOMPARE(waiting, std::size_t(0));
    }

    void itEndsAfterAllIsSent_data() { bytesGoBothWays_data(); }
    void itEndsAfterAllIsSent()
    {
        QFETCH(bool, isWebSocket);
        Listening at;
        Calling call(streamAt(at.port, false, isWebSocket ? SourceType::WebSocket : SourceType::Stream));
        std::string all;
        bool isTaken = true, isTakenLate = true;
        call.loop.call([&] {
            for (int i = 0; i < 1'000; ++i) {
                const std::string line =
                    "{\"line\":" + std::to_string(i) + ",\"x\":\"" + std::string(500, 'x') + "\"}\n";
                all += line;
                isTaken &= call.client->send(line);
            }
            call.client->finish();
            isTakenLate = call.client->send("more\n");
        });
        QVERIFY(isTaken && !isTakenLate);
        QVERIFY(at.waitFor([](const Told &told) { return told.closed.size() == 1; }));
        QCOMPARE(at.now().bytes.begin()->second, all);
        call.waitClosed();
    }

    void nobodyAtThePortIsToldWithTheAddress()
    {
        std::uint16_t port = 0;
        {
            const Waiting free;
            port = free.port;
        }
        Calling call(streamAt(port));
        const Error why = call.waitClosed();
        QCOMPARE(why.code, ErrorCode::CannotRead);
        QCOMPARE(why.where, "127.0.0.1:" + std::to_string(port));
        QCOMPARE(why.what, std::string("connection refused"));
        QCOMPARE(call.opened, 0);
    }

    void aServerThatWantsAnotherTokenIsToldApart()
    {
        SourceSettings settings;
        settings.secrets.token = "one";
        Listening at({}, settings);
        Calling right(streamAt(at.port, false, SourceType::WebSocket), settings);
        QVERIFY(right.waitOpen());
        settings.secrets.token = "other";
        Calling wrong(streamAt(at.port, false, SourceType::WebSocket), settings);
        QCOMPARE(wrong.waitClosed().what, std::string("the server answered 401 Unauthorized: it wants another token"));
        QCOMPARE(wrong.opened, 0);
    }

    void aServerThatSpeaksSomethingElseIsToldApart()
    {
        const Waiting waiting;
        {
            std::thread serving([&] { waiting.answerOnce("220 mail.example ESMTP\r\n"); });
            Calling call(streamAt(waiting.port, false, SourceType::WebSocket));
            const std::string why = call.waitClosed().what;
            serving.join();
            QVERIFY2(why.starts_with("the server does not speak WebSocket"), why.c_str());
        }
        {
            std::thread serving([&] { waiting.answerOnce("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"); });
            Calling call(streamAt(waiting.port, false, SourceType::WebSocket));
            const std::string why = call.waitClosed().what;
            serving.join();
            QCOMPARE(why, std::string("the server answered 404 Not Found"));
        }
        {
            std::thread serving([&] { waiting.answerOnce("this is no TLS"); });
            Calling call(streamAt(waiting.port, true));
            const std::string why = call.waitClosed().what;
            serving.join();
            QCOMPARE(why, std::string("the peer does not speak TLS"));
        }
    }

    void theReasonOfAFarewellIsTold()
    {
        Listening at;
        Calling call(streamAt(at.port, false, SourceType::WebSocket));
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 1; }));
        at.loop->call([&] { at.server->close(1, "your lines are none"); });
        QCOMPARE(call.waitClosed().what, std::string("the peer closed the connection: your lines are none"));
    }

    void aServerThatEndsIsToldOnce()
    {
        Listening at;
        Calling call(streamAt(at.port));
        QVERIFY(call.waitOpen());
        QVERIFY(call.send("{}\n"));
        QVERIFY(at.waitFor([](const Told &told) { return told.opened.size() == 1; }));
        at.stop();
        QVERIFY(!call.waitClosed().what.empty());
        QVERIFY(!call.send("{}\n"));
        QCOMPARE(call.closed, 1);
    }

    void whatWaitsIsBounded()
    {
        const Waiting deaf; // connects, by the system alone, and never reads
        Calling call(streamAt(deaf.port));
        QVERIFY(call.waitOpen());
        const std::string block(std::size_t(1) << 20, 'x');
        int taken = 0;
        while (taken < 1'000 && call.send(block))
            ++taken;
        // 16 MiB wait here; some more is with the system.
        QVERIFY2(taken >= 16 && taken < 64, qPrintable(QString::number(taken)));
        std::size_t waiting = 0;
        call.loop.call([&] { waiting = call.client->waiting(); });
        QVERIFY(waiting <= net::StreamClient::queueBytes);
    }

    void destroyedItTellsNothing()
    {
        const Waiting deaf;
        for (const SourceType type : { SourceType::Stream, SourceType::WebSocket }) {
            auto call = std::make_unique<Calling>(streamAt(deaf.port, false, type));
            call->loop.call([&] { call->client.reset(); });
            call->loop.call([] {});
            QCOMPARE(call->closed, 0);
        }
        // And a loop that ends with clients on their way waits for none of them.
        for (const bool isTls : { false, true }) {
            net::Loop loop;
            std::unique_ptr<net::StreamClient> client;
            loop.call([&] {
                client = std::make_unique<net::StreamClient>(
                    loop, streamAt(deaf.port, isTls), SourceSettings {}, net::StreamEvents {});
            });
            loop.call([&] { client.reset(); });
        }
    }
};

TRAINYARD_GUILESS_TEST(TstStreamClient)
#include "tst_stream_client.moc"

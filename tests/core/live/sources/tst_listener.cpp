// SPDX-License-Identifier: GPL-3.0-or-later
// The listener as a live source: OTLP in both encodings, lines over TCP and WebSocket; nobody who sends is held up.

#include "core/live/sources/sources.h"
#include "tests/core/live/net/frames.h"
#include "tests/core/live/sources/sink.h"
#include "tests/support/packed.h"
#include "tests/support/test_program.h"

#include <nlohmann/json.hpp>

#include <QFile>
#include <QTest>

using namespace trainyard;
using namespace trainyard::live;
using namespace trainyard::live::testing;
using test::gzipped;

namespace {

constexpr const char *kProtobuf = "application/x-protobuf", *kJson = "application/json";

/// A gauge with one point, as the mapping to JSON of OTLP writes it.
std::string metricJson()
{
    return "{\"resourceMetrics\":[{\"resource\":{\"attributes\":[]},\"scopeMetrics\":[{\"metrics\":[{\"name\":"
           "\"megatron.training.loss\",\"gauge\":{\"dataPoints\":[{\"timeUnixNano\":\"1544712660300000000\","
           "\"asDouble\":2.5}]}}]}]}]}";
}

/// A field of protobuf whose value is bytes, a message or a text.
std::string field(int number, const std::string &bytes)
{
    std::string all(1, static_cast<char>(number << 3 | 2));
    all += static_cast<char>(bytes.size()); // all of them are short
    return all + bytes;
}
template <class Value> std::string fixed64(int number, Value value)
{
    std::string all(1, static_cast<char>(number << 3 | 1));
    return all.append(reinterpret_cast<const char *>(&value), sizeof value);
}

/// The same as a message of opentelemetry.proto.collector.metrics.v1, by the numbers of its fields.
std::string metricProtobuf()
{
    const std::string point = fixed64(3, std::uint64_t(1544712660300000000)) + fixed64(4, 2.5);
    const std::string metric = field(1, "megatron.training.loss") + field(5, field(1, point));
    return field(1, field(1, "") + field(2, field(2, metric)));
}

HttpAnswer ask(Peer &peer, const std::string &method, const std::string &target, const std::string &type = {},
    const std::string &body = {}, const std::string &headers = {})
{
    peer.send(method + ' ' + target + " HTTP/1.1\r\nHost: localhost\r\n"
        + (type.empty() ? std::string() : "Content-Type: " + type + "\r\n") + headers
        + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return answerOf(peer);
}

struct Listener : Running {
    explicit Listener(const SourceSettings &settings = {}, const std::string &host = "127.0.0.1")
        : Running(makeListener, address(host), settings)
    {
        port = sink.shown().address.port;
    }
    static Address address(const std::string &host)
    {
        Address address;
        address.type = SourceType::Listener;
        address.host = host;
        return address;
    }
    std::uint16_t port = 0;
};

} // namespace

class TstListener : public QObject {
    Q_OBJECT

private slots:
    void itTellsThePortThatItGotAndWaitsForSenders()
    {
        Listener at;
        const SourceStatus status = at.sink.shown();
        QCOMPARE(status.state, SourceState::Connecting);
        QCOMPARE(status.reason, std::string("nobody is connected yet"));
        QVERIFY(status.address.port != 0);
        QCOMPARE(status.clients, 0);
        Peer peer(at.port);
        QVERIFY(at.sink.waitFor([&] { return at.sink.now.clients == 1; }));
        peer.close();
        QVERIFY(at.sink.waitFor([&] { return at.sink.now.clients == 0; }));
    }

    void itSaysInPlainWordsWhatItIs()
    {
        Listener at;
        Peer peer(at.port);
        const HttpAnswer answer = ask(peer, "GET", "/");
        QCOMPARE(answer.status, 200);
        QVERIFY(answer.head.find("text/plain") != std::string::npos);
        QVERIFY(answer.body.starts_with("This is Trainyard, listening to a training run."));
        QCOMPARE(ask(peer, "GET", "/favicon.ico").status, 404);
        QCOMPARE(at.sink.shown().state, SourceState::Connecting); // a look is no telemetry
    }

    void otlpIsTakenInBothEncodingsPackedOrNot_data()
    {
        QTest::addColumn<bool>("isJson");
        QTest::addColumn<bool>("isPacked");
        QTest::newRow("protobuf") << false << false;
        QTest::newRow("protobuf, packed") << false << true;
        QTest::newRow("JSON") << true << false;
        QTest::newRow("JSON, packed") << true << true;
    }
    void otlpIsTakenInBothEncodingsPackedOrNot()
    {
        QFETCH(bool, isJson);
        QFETCH(bool, isPacked);
        Listener at;
        Peer peer(at.port);
        const std::string body = isJson ? metricJson() : metricProtobuf();
        const HttpAnswer answer = ask(peer, "POST", "/v1/metrics", isJson ? kJson : kProtobuf,
            isPacked ? gzipped(body) : body, isPacked ? "Content-Encoding: gzip\r\n" : "");
        // OTLP/HTTP: 200 and an empty response message of the same encoding.
        QCOMPARE(answer.status, 200);
        QCOMPARE(answer.body, std::string(isJson ? "{}" : ""));
        QVERIFY(answer.head.find(isJson ? kJson : kProtobuf) != std::string::npos);
        QVERIFY(at.sink.waitFor([&] { return at.sink.batches.size() == 1; }));
        double seen = 0;
        for (const SampleSeries &series : at.sink.batches.front().part.series)
            for (const double value : series.value)
                seen = value;
        QCOMPARE(seen, 2.5);
        QVERIFY(at.sink.waitForState(SourceState::Live));
        QVERIFY(at.sink.waitFor(
            [&] { return at.sink.now.batches == 1 && at.sink.now.bytes == std::int64_t(body.size()); }));
    }

    void bothEncodingsMeanTheSame()
    {
        const auto of = [](const std::string &body, bool isJson) { return decodeOtlp(body, isJson, "x", 0); };
        const Expected<Batch> json = of(metricJson(), true), protobuf = of(metricProtobuf(), false);
        QVERIFY(json && protobuf);
        QCOMPARE(json->part.series, protobuf->part.series);
        QVERIFY(!json->part.series.empty());
    }

    void tracesAndLogsHavePathsOfTheirOwn()
    {
        Listener at;
        Peer peer(at.port);
        QCOMPARE(ask(peer, "POST", "/v1/traces", kJson, "{\"resourceSpans\":[]}").status, 200);
        QCOMPARE(ask(peer, "POST", "/v1/logs", "Application/JSON; charset=utf-8", "{\"resourceLogs\":[]}").status, 200);
        QCOMPARE(ask(peer, "POST", "/v1/traces", kProtobuf, "").status, 200);
        QCOMPARE(ask(peer, "POST", "/v1/profiles", kJson, "{}").status, 404);
        const HttpAnswer read = ask(peer, "GET", "/v1/metrics");
        QCOMPARE(read.status, 405);
        QVERIFY(read.head.find("allow: POST") != std::string::npos);
        QCOMPARE(ask(peer, "POST", "/v1/metrics", "text/csv", "1,2").status, 415);
        QCOMPARE(ask(peer, "POST", "/v1/metrics", {}, "1,2").status, 415);
    }

    void whatCannotBeDecodedIsNotToComeAgain()
    {
        Listener at;
        Peer peer(at.port);
        const HttpAnswer json = ask(peer, "POST", "/v1/metrics", kJson, "this is no JSON");
        QCOMPARE(json.status, 400);
        const nlohmann::json status = nlohmann::json::parse(json.body);
        QCOMPARE(status.at("code").get<int>(), 3); // google.rpc.Code.INVALID_ARGUMENT
        QVERIFY(!status.at("message").get<std::string>().empty());
        const HttpAnswer protobuf = ask(peer, "POST", "/v1/metrics", kProtobuf, "\xff\xfe\xfd is no protobuf");
        QCOMPARE(protobuf.status, 400);
        // google.rpc.Status: code = 1 as a varint, message = 2 as text.
        QVERIFY(protobuf.body.starts_with(std::string("\x08\x03\x12", 3)));
        QVERIFY(at.sink.waitFor([&] { return at.sink.now.refusedClients == 2 && !at.sink.now.notes.empty(); }));
        // The connection goes on.
        QCOMPARE(ask(peer, "POST", "/v1/metrics", kJson, metricJson()).status, 200);
    }

    void aBombIsRefused()
    {
        const std::string bomb = gzipped(std::string(std::size_t(64) << 20, ' '));
        Listener at;
        Peer peer(at.port);
        QCOMPARE(ask(peer, "POST", "/v1/metrics", kJson, bomb, "Content-Encoding: gzip\r\n").status, 413);
        QCOMPARE(at.sink.wholeBytes, std::size_t(0));
    }

    void whereNoMoreFitsOtlpIsAskedToComeLater()
    {
        Listener at;
        Peer peer(at.port);
        at.sink.fill(true);
        const HttpAnswer full = ask(peer, "POST", "/v1/metrics", kProtobuf, metricProtobuf());
        QCOMPARE(full.status, 429);
        QVERIFY(full.head.find("retry-after: 2") != std::string::npos);
        QVERIFY(full.body.starts_with(std::string("\x08\x08\x12", 3))); // RESOURCE_EXHAUSTED
        at.sink.fill(false);
        QCOMPARE(ask(peer, "POST", "/v1/metrics", kProtobuf, metricProtobuf()).status, 200);
        QVERIFY(at.sink.waitFor([&] { return at.sink.now.notes.size() == 1; }));
    }

    void aDecoderThatIsSlowOrGoneHoldsNobodyUp()
    {
        Listener at;
        {
            const std::lock_guard lock(at.sink.mutex);
            at.sink.isHeld = true;
        }
        Peer asking(at.port), speaking(at.port);
        asking.send("POST /v1/metrics HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
                    "2\r\n\r\n{}");
        QVERIFY(at.sink.waitFor([&] { return at.sink.held.size() == 1; }));
        QVERIFY(speaking.send("{}\n"));
        QVERIFY(at.sink.waitFor([&] { return at.sink.taken.size() == 1; }));
        at.stop();
        asking.readAll();
        // Decoded after all has ended: its answer goes nowhere.
        QVERIFY(at.sink.held.front()(0).has_value());
    }

    void linesOfEachSenderReachADecoderOfItsOwn()
    {
        Listener at;
        Peer tcp(at.port), webSocket(at.port);
        QVERIFY(tcp.send("{1}\n{2"));
        QVERIFY(at.sink.waitFor([&] { return at.sink.taken[1] == "{1}\n{2"; }));
        QVERIFY(webSocket.send(handshake()));
        QVERIFY(webSocket.readUntil("\r\n\r\n").starts_with("HTTP/1.1 101"));
        QVERIFY(webSocket.send(frame(kText, "{3}")));
        QVERIFY(at.sink.waitFor([&] { return at.sink.taken[2] == "{3}\n"; }));
        QVERIFY(at.sink.decoders[1] && at.sink.decoders[2]);
        QVERIFY(at.sink.waitForState(SourceState::Live));
        tcp.cut();
        QVERIFY(at.sink.waitFor([&] { return at.sink.ended == std::vector<std::uint64_t> { 1 }; }));
    }

    void aFullQueueDoesNotHoldASenderUp()
    {
        Listener at;
        at.sink.fill(true);
        Peer peer(at.port);
        // Far more than the system keeps for a peer that does not read.
        const std::string block = std::string(999'999, 'x') + '\n';
        QVERIFY(peer.send("{"));
        for (int i = 0; i < 64; ++i)
            QVERIFY(peer.send(block));
        QVERIFY(at.sink.waitFor([&] { return at.sink.lost == 64'000'001; }));
        QCOMPARE(at.sink.shown().dropped, 0); // the sink counts what it does not take
    }

    void pausedItDropsWholeLinesAndCountsThem()
    {
        Listener at;
        Peer peer(at.port);
        QVERIFY(peer.send("{\"begun\":"));
        QVERIFY(at.sink.waitFor([&] { return at.sink.taken[1] == "{\"begun\":"; }));
        at.pause(true);
        QCOMPARE(at.sink.shown().state, SourceState::Paused);
        QVERIFY(peer.send("1}\n{\"lost\":1}\n{\"half\":"));
        QVERIFY(at.sink.waitFor([&] { return at.sink.now.dropped == 19; }));
        QCOMPARE(at.sink.taken[1], std::string("{\"begun\":1}\n"));
        const HttpAnswer answer = [&] {
            Peer other(at.port);
            return ask(other, "POST", "/v1/metrics", kJson, metricJson());
        }();
        QCOMPARE(answer.status, 200);
        QVERIFY(at.sink.waitFor([&] { return at.sink.now.dropped == 19 + std::int64_t(metricJson().size()); }));
        at.pause(false);
        QCOMPARE(at.sink.shown().state, SourceState::Live);
        QVERIFY(peer.send("1}\n{\"next\":1}\n"));
        QVERIFY(at.sink.waitFor([&] { return at.sink.taken[1] == "{\"begun\":1}\n{\"next\":1}\n"; }));
    }

    void aDecoderThatRefusesEndsItsConnectionWithTheReason()
    {
        Listener at;
        Peer peer(at.port);
        QVERIFY(peer.send("{garbage\n"));
        QVERIFY(at.sink.waitFor([&] { return at.sink.taken.size() == 1; }));
        at.loop->call([&] { at.source->refuse(1, { ErrorCode::BadSyntax, "line 1", "it is garbage", "lines" }); });
        QVERIFY(peer.readUntil("\n").find("line 1: it is garbage") != std::string::npos);
        peer.close();
        QVERIFY(at.sink.waitFor([&] { return at.sink.ended.size() == 1 && at.sink.now.refusedClients == 1; }));
        at.loop->call([&] { at.source->refuse(1, { ErrorCode::BadSyntax, "", "again", "" }); }); // gone already
    }

    void whoIsRefusedIsCountedAndTheReasonNoted()
    {
        SourceSettings settings;
        settings.secrets.token = "s3cret";
        Listener at(settings);
        for (int i = 0; i < 3; ++i) {
            Peer peer(at.port);
            QCOMPARE(ask(peer, "POST", "/v1/metrics", kJson, metricJson()).status, 401);
        }
        QVERIFY(at.sink.waitFor([&] { return at.sink.now.refusedClients == 3; }));
        QCOMPARE(at.sink.shown().notes.size(), std::size_t(1));
        QVERIFY(at.sink.shown().notes[0].starts_with("127.0.0.1: This listener wants its token"));
        QVERIFY(at.sink.shown().notes[0].find("s3cret") == std::string::npos);
        Peer peer(at.port);
        QCOMPARE(ask(peer, "POST", "/v1/metrics", kJson, metricJson(), "Authorization: Bearer s3cret\r\n").status, 200);
    }

    void whatCannotListenIsRefusedWithTheReasonAndMayBeTriedAgain()
    {
        auto first = std::make_unique<Listener>();
        Address taken = first->sink.shown().address;
        Running second(makeListener, taken);
        QVERIFY(second.sink.waitForState(SourceState::Refused));
        QVERIFY(second.sink.shown().reason.find("address already in use") != std::string::npos);
        first.reset();
        second.loop->call([&] { second.source->retryNow(); });
        QCOMPARE(second.sink.shown().state, SourceState::Connecting);

        Listener open({}, "0.0.0.0");
        QCOMPARE(open.sink.shown().state, SourceState::Refused);
        QVERIFY(open.sink.shown().reason.find("no token is set") != std::string::npos);
        SourceSettings settings;
        settings.secrets.token = "s3cret";
        Listener guarded(settings, "0.0.0.0");
        QCOMPARE(guarded.sink.shown().state, SourceState::Connecting);
        QCOMPARE(guarded.sink.shown().notes,
            std::vector<std::string> { "without TLS, the token and what is sent can be read on their way" });
    }

    void stoppedItTellsNothingMoreAndBeginsAnew()
    {
        Listener at;
        Peer peer(at.port);
        QVERIFY(peer.send("{}\n"));
        QVERIFY(at.sink.waitFor([&] { return at.sink.taken.size() == 1; }));
        at.loop->call([&] { at.source->stop(); });
        QCOMPARE(at.sink.shown().state, SourceState::Idle);
        QCOMPARE(at.sink.ended, std::vector<std::uint64_t> { 1 });
        const int calls = at.sink.calls;
        peer.readAll();
        QVERIFY(!Peer(at.port).isConnected());
        at.loop->call([] {});
        QCOMPARE(at.sink.calls, calls);
        at.loop->call([&] { at.source->start(); });
        Peer again(at.sink.shown().address.port);
        QVERIFY(again.isConnected());
    }
};

TRAINYARD_GUILESS_TEST(TstListener)
#include "tst_listener.moc"

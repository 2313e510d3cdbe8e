// SPDX-License-Identifier: GPL-3.0-or-later
// Addresses of live sources: forms, near misses, secrets, and settings that can start none.
#include "core/live/address.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::live;

namespace {

struct Form {
    const char *text;
    SourceType type;
    const char *host;
    int port;
    const char *path;
    bool isTls;
};

std::string rightOf(const char *text)
{
    const auto address = parseAddress(text);
    return address ? "it was taken as " + address->text() : address.error().right;
}

std::string allOf(const char *text)
{
    const auto address = parseAddress(text);
    return address ? "it was taken as " + address->text() : toString(address.error());
}

bool has(const std::string &text, const char *part)
{
    return text.find(part) != std::string::npos;
}

} // namespace

class TestAddress : public QObject {
    Q_OBJECT

private slots:
    void everyFormIsReadAndWrittenAgain()
    {
        static constexpr Form kForms[] = {
            { "http://prometheus:9090/prefix", SourceType::Prometheus, "prometheus", 9090, "/prefix", false },
            { "https://p.example.org", SourceType::Prometheus, "p.example.org", 443, "", true },
            { "HTTP://10.0.0.7:9090/", SourceType::Prometheus, "10.0.0.7", 9090, "", false },
            { "http://[fd00::7]:9090", SourceType::Prometheus, "fd00::7", 9090, "", false },
            { "http://[fe80::1%eth0]", SourceType::Prometheus, "fe80::1%eth0", 80, "", false },
            { "listen:4318", SourceType::Listener, "127.0.0.1", 4318, "", false },
            { "listen:0", SourceType::Listener, "127.0.0.1", 0, "", false },
            { "listen:0.0.0.0:4318", SourceType::Listener, "0.0.0.0", 4318, "", false },
            { "listen:[::]:4318", SourceType::Listener, "::", 4318, "", false },
            { "tcp://n0:7000", SourceType::Stream, "n0", 7000, "", false },
            { "tls://n0:7000/", SourceType::Stream, "n0", 7000, "", true },
            { "ws://n0:7000/live?run=7", SourceType::WebSocket, "n0", 7000, "/live?run=7", false },
            { "wss://n0/live", SourceType::WebSocket, "n0", 443, "/live", true },
            { "tail:/var/log/train.log", SourceType::Tail, "127.0.0.1", 0, "/var/log/train.log", false },
            { "tail:///var/log/train.log", SourceType::Tail, "127.0.0.1", 0, "/var/log/train.log", false },
            { "  tail:a log: with blanks.txt\n", SourceType::Tail, "127.0.0.1", 0, "a log: with blanks.txt", false },
            { "command:ssh node7 tail -F /logs/train.log", SourceType::Command, "127.0.0.1", 0,
                "ssh node7 tail -F /logs/train.log", false },
            { "replay:run.trainyard-recording", SourceType::Replay, "127.0.0.1", 0, "run.trainyard-recording", false },
        };
        for (const Form &form : kForms) {
            const auto address = parseAddress(form.text);
            QVERIFY2(address.has_value(), address ? "" : toString(address.error()).c_str());
            QVERIFY2(address->type == form.type, form.text);
            QCOMPARE(address->host, std::string(form.host));
            QCOMPARE(int(address->port), form.port);
            QCOMPARE(address->path, std::string(form.path));
            QCOMPARE(address->isTls, form.isTls);
            // text() and parseAddress() are each other's inverse
            const auto again = parseAddress(address->text());
            QVERIFY2(again.has_value(), address->text().c_str());
            QVERIFY2(*again == *address, address->text().c_str());
        }
    }

    void nearMissesAreToldWhatWouldBeRight()
    {
        QVERIFY2(has(rightOf("4318"), "listen:4318"), rightOf("4318").c_str());
        QVERIFY2(has(rightOf("prometheus:9090"), "http://prometheus:9090"), rightOf("prometheus:9090").c_str());
        QVERIFY2(has(rightOf("/var/log/a.log"), "tail:/var/log/a.log"), rightOf("/var/log/a.log").c_str());
        QVERIFY2(has(rightOf("a.trainyard-recording"), "replay:a.trainyard-recording"), "a file");
        QVERIFY2(has(rightOf("tail:a.trainyard-recording"), "replay:a.trainyard-recording"), "a recording");
        QVERIFY2(has(rightOf("http:prometheus:9090"), "http://prometheus:9090"), "slashes");
        QVERIFY2(has(rightOf("http:/prometheus:9090"), "http://prometheus:9090"), "slashes");
        QVERIFY2(has(rightOf("http://prometheus:9090/api/v1/query"), "http://prometheus:9090"), "a page");
        QVERIFY2(!has(rightOf("http://prometheus:9090/api/v1/query"), "/api"), "a page");
        QVERIFY2(has(rightOf("tcp://::1:7000"), "[::1]:7000"), rightOf("tcp://::1:7000").c_str());
        QVERIFY2(has(rightOf("listen:::1:7000"), "[::1]:7000"), rightOf("listen:::1:7000").c_str());
        QVERIFY2(has(rightOf("grpc://host:4317"), "listen:4318"), rightOf("grpc://host:4317").c_str());
        QVERIFY2(has(rightOf("ssh node7 tail -F x"), "command:ssh node7 tail -F x"), "a command");
        QVERIFY2(has(rightOf("file:///a/b"), "tail:/a/b"), rightOf("file:///a/b").c_str());
        QVERIFY2(has(rightOf("tcp://n0"), "n0:PORT"), rightOf("tcp://n0").c_str());
        QVERIFY2(has(rightOf("tcp://n0:7000/a"), "ws://n0:7000/PATH"), rightOf("tcp://n0:7000/a").c_str());
        QVERIFY2(has(rightOf("wibble:wobble"), "http://HOST:9090"), rightOf("wibble:wobble").c_str());
    }

    void whatIsNoAddressIsRefused()
    {
        for (const char *text : { "", "   ", "http://", "http://:9090", "tcp://n0:0", "tcp://n0:70000", "tcp://n0:7e3",
                 "listen:", "listen:65536", "listen:-1", "listen:[::1", "listen:[nine]:9", "http://a b:9090",
                 "http://a:9090/a b", "tail:", "tail:/var/log/", "command:", "command:   ", "tail:a\nb", "\x1b[31m",
                 "http://a:9090?query=up", "http://-a:1", "tcp://[::1]7000" })
            QVERIFY2(!parseAddress(text).has_value(), text);
        QVERIFY(!parseAddress(std::string(100'000, 'a')).has_value());
        QVERIFY(!parseAddress("tail:" + std::string(100'000, 'a')).has_value());
    }

    void secretsAreRefusedAndNotRepeated()
    {
        for (const char *text : { "http://me:hunter2@prometheus:9090", "http://me:hun/ter2@prometheus:9090/x",
                 "https://hunter2@p", "ws://n0:7000/live?token=hunter2", "wss://n0/live?run=7&PASSWORD=hunter2",
                 "listen:hunter2@0.0.0.0:4318", "prometheus://me:hunter2@p:9090", "me:hunter2@prometheus:9090",
                 "command:sshpass -p hunter2 ssh node7", "command:curl -H 'Authorization: Bearer hunter2' x",
                 "command:reader --password=hunter2", "command:reader --token hunter2", "command:TOKEN=hunter2 reader",
                 "command:curl -u me:hunter2 http://a/b", "command:curl -ume:hunter2 x",
                 "command:curl --user me:hunter2 x", "command:curl -s --proxy-user=me:hunter2 x",
                 "command:PGPASSWORD=hunter2 psql -c x", "command:env MYSQL_PWD=hunter2 mysql",
                 "command:AWS_SECRET_ACCESS_KEY=hunter2 aws logs tail x", "command:curl http://me:hunter2@a/b",
                 "command:curl -H 'PRIVATE-TOKEN: hunter2' x", "command:curl -su me:hunter2 x",
                 "command:curl --oauth2-bearer hunter2 x", "command:wget --http-password hunter2 x",
                 "command:mysql -phunter2 -e x", "command:redis-cli -h n -a hunter2 monitor",
                 "command:sshpass -phunter2 ssh node7", "command:curl -H \"X-Api-Key: hunter2\" x" }) {
            const std::string said = allOf(text);
            QVERIFY2(!said.starts_with("it was taken"), text);
            QVERIFY2(!has(said, "hunter2") && !has(said, "ter2"), said.c_str());
        }
        QVERIFY(has(allOf("http://me:hunter2@p:9090"), "--password-file"));
        QVERIFY(has(allOf("listen:hunter2@0.0.0.0:4318"), "--token-file"));
        // What names where a secret is, is none
        for (const char *text : { "command:reader --token $TOKEN", "command:TOKEN=\"$(cat token)\" reader",
                 "command:sshpass -f file ssh -p 22 me@node7", "command:mysql -p -e x",
                 "command:redis-cli -h n monitor", "command:reader --no-auth x", "command:grep tokens= a.log",
                 "command:tail -F tokens.log", "command:curl -u me:$PASSWORD x", "command:PGPASSWORD=$(cat p) psql",
                 "command:journalctl -fu train.service", "command:docker exec -u 1000:1000 t tail -F x",
                 "command:PWD=$HOME reader", "command:curl http://a:9090/b", "command:curl -H \"X-Api-Key: $KEY\" x" })
            QVERIFY2(parseAddress(text).has_value(), text);
    }

    void loopbackIsThisMachineAlone()
    {
        for (const char *host :
            { "127.0.0.1", "127.255.0.9", "::1", "[::1]", "localhost", "LOCALHOST", "::ffff:127.0.0.1" })
            QVERIFY2(isLoopback(host), host);
        for (const char *host : { "0.0.0.0", "::", "10.0.0.1", "128.0.0.1", "localhost.example.org",
                 "127.0.0.1.example.org", "", "::ffff:10.0.0.1", "127.1" })
            QVERIFY2(!isLoopback(host), host);
    }

    void settingsThatStartNothingAreRefused()
    {
        const auto of = [](const char *text, const SourceSettings &settings) {
            const auto checked = checkSettings(parseAddress(text).value(), settings);
            return checked ? std::string() : toString(checked.error());
        };
        SourceSettings settings;
        QCOMPARE(of("listen:4318", settings), std::string());
        QCOMPARE(of("listen:[::1]:4318", settings), std::string());
        QVERIFY(has(of("listen:0.0.0.0:4318", settings), "--token-file"));
        QVERIFY(has(of("listen:[::]:4318", settings), "--token-file"));
        settings.secrets.token = "a token";
        QCOMPARE(of("listen:0.0.0.0:4318", settings), std::string());
        settings.secrets.user = "me";
        QVERIFY(has(of("http://p:9090", settings), "one of the two"));
        settings = {};
        settings.certificateFile = "a.pem";
        QVERIFY(has(of("listen:4318", settings), "without its key"));
        settings = {};
        settings.intervalSeconds = 0;
        QVERIFY(has(of("http://p:9090", settings), "interval"));
        settings = {};
        settings.replaySpeed = -1;
        QVERIFY(has(of("replay:a", settings), "speed"));
        settings = {};
        settings.headers = { "X-Scope-OrgID: tenant" };
        QCOMPARE(of("http://p:9090", settings), std::string());
        for (const char *header : { "no colon", ": empty", "a: b\r\nc: d", "a b: c" }) {
            settings.headers = { header };
            QVERIFY2(has(of("http://p:9090", settings), "NAME: VALUE"), header);
        }
    }
};

TRAINYARD_GUILESS_TEST(TestAddress)
#include "tst_address.moc"

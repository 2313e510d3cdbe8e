// SPDX-License-Identifier: GPL-3.0-or-later
// TLS of both ends, with certificates that the test makes: what is wrong with one is named.

#include "tests/core/live/net/calling.h"
#include "tests/core/live/net/certificates.h"
#include "tests/core/live/net/listening.h"
#include "tests/support/test_program.h"

#include <openssl/ssl.h>

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace trainyard;
using namespace trainyard::live;
using namespace trainyard::live::testing;

class TstTls : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::unique_ptr<Certificate> m_authority;

    [[nodiscard]] std::string path(const std::string &name) const
    {
        return m_folder.filePath(QString::fromStdString(name)).toStdString();
    }
    /// Of a server with such a certificate.
    [[nodiscard]] SourceSettings server(const CertificateAsked &asked, bool isSelfSigned = false) const
    {
        const Certificate made(asked, isSelfSigned ? nullptr : m_authority.get());
        SourceSettings settings;
        settings.certificateFile = path("server.pem");
        settings.keyFile = path("server.key");
        made.writeCertificate(settings.certificateFile);
        made.writeKey(settings.keyFile);
        return settings;
    }
    [[nodiscard]] SourceSettings client() const
    {
        SourceSettings settings;
        settings.caFile = path("ca.pem");
        return settings;
    }
    [[nodiscard]] Error faultOf(const SourceSettings &serverSettings, const SourceSettings &clientSettings,
        const std::string &host = "127.0.0.1") const
    {
        Listening at({}, serverSettings);
        if (!at.server)
            return at.error;
        Address to = streamAt(at.port, true);
        to.host = host;
        Calling call(to, clientSettings);
        return call.waitOpen() ? Error { ErrorCode::Internal, {}, "it opened", {} } : call.waitClosed();
    }

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        m_authority = std::make_unique<Certificate>(
            CertificateAsked { .name = "Authority of a test", .names = {}, .isAuthority = true });
        m_authority->writeCertificate(path("ca.pem"));
    }

    void linesGoBothWays_data()
    {
        QTest::addColumn<bool>("isWebSocket");
        QTest::addColumn<QByteArray>("host");
        QTest::newRow("lines") << false << QByteArray("127.0.0.1");
        QTest::newRow("by name") << false << QByteArray("localhost");
        QTest::newRow("WebSocket") << true << QByteArray("localhost");
    }
    void linesGoBothWays()
    {
        QFETCH(bool, isWebSocket);
        QFETCH(QByteArray, host);
        Listening at({}, server({}));
        QVERIFY2(at.server, qPrintable(QString::fromStdString(toString(at.error))));
        Address to = streamAt(at.port, true, isWebSocket ? SourceType::WebSocket : SourceType::Stream);
        to.host = host.toStdString();
        Calling call(to, client());
        QVERIFY2(call.waitOpen(), qPrintable(QString::fromStdString(toString(call.error))));
        const std::string large(300'000, 'x');
        QVERIFY(call.send("{1}\n") && call.send('{' + large + "}\n"));
        QVERIFY(at.waitFor([&](const Told &told) {
            return told.bytes.size() == 1 && told.bytes.begin()->second == "{1}\n{" + large + "}\n";
        }));
        at.loop->call([&] {
            std::ignore = at.server->send(1, "{\"answer\":\"" + large + "\"}\n");
            at.server->close(1, {});
        });
        QVERIFY(call.waitFor([&] { return call.bytes == "{\"answer\":\"" + large + "\"}\n"; }));
        call.waitClosed();
        QVERIFY(at.waitForConnections(0));
    }

    void whatIsWrongWithACertificateIsNamed()
    {
        QVERIFY(faultOf(server({}), client()).what == "it opened");
        const Error early = faultOf(server({ .validFrom = 3'600 }), client());
        QVERIFY2(early.what.starts_with("the certificate \"localhost\" is valid from 20"), early.what.c_str());

        const Error other = faultOf(server({ .name = "other", .names = "DNS:other.example,IP:192.0.2.7" }), client());
        QCOMPARE(
            other.what, std::string("the certificate \"other\" is for other.example, 192.0.2.7, not for 127.0.0.1"));
        const Error otherName = faultOf(server({ .names = "DNS:*.example" }), client(), "localhost");
        QCOMPARE(otherName.what, std::string("the certificate \"localhost\" is for *.example, not for localhost"));

        const Error untrusted = faultOf(server({}), {});
        QCOMPARE(untrusted.what,
            std::string("the certificate \"localhost\" is signed by \"Authority of a test\", which is not among those "
                        "that are trusted"));
        QVERIFY(!untrusted.right.empty());
        QVERIFY(untrusted.where.starts_with("127.0.0.1:"));
        const Error alone = faultOf(server({}, true), client());
        QCOMPARE(alone.what,
            std::string("the certificate \"localhost\" is signed by itself, and is not among those that are trusted"));
    }

    void anExpiredCertificateIsRefusedByBothEnds()
    {
        const Error own = faultOf(server({ .validFrom = -86'400, .validTo = -3'600 }), client());
        QVERIFY2(own.what.starts_with("the certificate expired on 20"), own.what.c_str());
        QVERIFY(own.where.ends_with("server.pem"));

        // A server that does not look: OpenSSL itself.
        const SourceSettings settings = server({ .validFrom = -86'400, .validTo = -3'600 });
        SSL_CTX *const context = SSL_CTX_new(TLS_server_method());
        SSL_CTX_use_certificate_chain_file(context, settings.certificateFile.c_str());
        SSL_CTX_use_PrivateKey_file(context, settings.keyFile.c_str(), SSL_FILETYPE_PEM);
        BIO *const listening = BIO_new_accept("127.0.0.1:0");
        BIO_do_accept(listening);
        sockaddr_in at {};
        socklen_t size = sizeof at;
        getsockname(int(BIO_get_fd(listening, nullptr)), reinterpret_cast<sockaddr *>(&at), &size);
        std::thread serving([&] {
            BIO_do_accept(listening);
            BIO *const peer = BIO_pop(listening);
            SSL *const tls = SSL_new(context);
            SSL_set_bio(tls, peer, peer);
            SSL_accept(tls);
            SSL_free(tls);
        });
        Calling call(streamAt(ntohs(at.sin_port), true), client());
        const Error seen = call.waitClosed();
        serving.join();
        BIO_free_all(listening);
        SSL_CTX_free(context);
        QVERIFY2(seen.what.starts_with("the certificate \"localhost\" expired on 20"), seen.what.c_str());
    }

    void whoAsksForNoCheckIsTakenAtItsWord()
    {
        SourceSettings unchecked;
        unchecked.isVerified = false;
        QCOMPARE(faultOf(server({ .name = "other", .names = "DNS:other.example" }, true), unchecked).what,
            std::string("it opened"));
    }

    void aServerWithoutTlsIsToldApart()
    {
        QCOMPARE(faultOf({}, client()).what,
            std::string("the peer closed the connection during the TLS handshake: it may not speak TLS"));
    }

    void withACertificateNothingIsTakenInTheClear()
    {
        Listening at({}, server({}));
        Calling lines(streamAt(at.port));
        QVERIFY(lines.waitOpen());
        QVERIFY(lines.send("{\"event\":\"hello\"}\n"));
        lines.waitClosed();
        QVERIFY(lines.bytes.find("this port takes TLS only") != std::string::npos);
        Peer http(at.port);
        QVERIFY(http.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        const std::string answer = http.readAll();
        QVERIFY(answer.starts_with("HTTP/1.1 400"));
        QVERIFY(answer.find("This port takes HTTPS only.") != std::string::npos);
        QVERIFY(at.waitFor([](const Told &told) { return told.refused.size() == 2; }));
        QVERIFY(at.now().opened.empty() && at.now().requests.empty());
    }

    void oldVersionsAreNotSpoken()
    {
        Listening at({}, server({}));
        for (const int version : { TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION, TLS1_3_VERSION }) {
            SSL_CTX *const context = SSL_CTX_new(TLS_client_method());
            SSL_CTX_set_security_level(context, 0); // or this end would refuse them itself
            SSL_CTX_set_min_proto_version(context, version);
            SSL_CTX_set_max_proto_version(context, version);
            SSL *const tls = SSL_new(context);
            Peer peer(at.port);
            SSL_set_fd(tls, peer.handle());
            const bool isSpoken = SSL_connect(tls) == 1;
            SSL_free(tls);
            SSL_CTX_free(context);
            QCOMPARE(isSpoken, version >= TLS1_2_VERSION);
        }
    }

    void aHandshakeThatStandsStillOrIsGarbageEnds()
    {
        net::ServerLimits limits;
        limits.headSeconds = 0.1;
        Listening at(limits, server({}));
        Peer slow(at.port);
        QVERIFY(slow.send(std::string_view("\x16\x03\x01", 3)));
        slow.readAll();
        QVERIFY(at.waitFor([](const Told &told) { return told.refused.size() == 1; }));
        QCOMPARE(at.now().refused.front(), std::string("the TLS handshake was not done in time"));
        Peer garbage(at.port);
        garbage.send(std::string_view("\x16\x03\x01\x00\x05", 5));
        garbage.send("hello hello hello");
        garbage.readAll();
        QVERIFY(at.waitFor([](const Told &told) { return told.refused.size() == 2; }));
        QVERIFY(at.waitForConnections(0));
    }

    void filesOfAServerThatCannotBeUsedAreNamed()
    {
        const SourceSettings good = server({});
        const auto faultWith = [&](auto change) {
            SourceSettings settings = good;
            change(settings);
            Address address;
            address.isTls = true;
            Listening at({}, settings, address);
            return at.server ? Error { ErrorCode::Internal, {}, "it listens", {} } : at.error;
        };
        std::ofstream(path("no.pem")) << "this is no certificate\n";
        Certificate({ .passphrase = "open sesame" }).writeKey(path("locked.key"));
        Certificate({}).writeKey(path("other.key"));

        const Error none = faultWith([](SourceSettings &s) { s.certificateFile.clear(); });
        QCOMPARE(none.where, std::string("certificate"));
        const Error missing = faultWith([&](SourceSettings &s) { s.certificateFile = path("missing.pem"); });
        QCOMPARE(missing.where, path("missing.pem"));
        QCOMPARE(missing.what, std::string("No such file or directory"));
        const Error noPem = faultWith([&](SourceSettings &s) { s.certificateFile = path("no.pem"); });
        QVERIFY2(noPem.what.starts_with("no certificate can be read of it"), noPem.what.c_str());
        const Error noKey = faultWith([&](SourceSettings &s) { s.keyFile = path("no.pem"); });
        QVERIFY2(noKey.what.starts_with("no private key can be read of it"), noKey.what.c_str());
        const Error locked = faultWith([&](SourceSettings &s) { s.keyFile = path("locked.key"); });
        QCOMPARE(locked.what, std::string("the key is locked by a passphrase"));
        const Error other = faultWith([&](SourceSettings &s) { s.keyFile = path("other.key"); });
        QCOMPARE(other.what, std::string("the key does not belong to the certificate"));
        for (const Error &fault : { none, missing, noPem, noKey, locked, other })
            QCOMPARE(fault.code, ErrorCode::BadValue);
        QCOMPARE(faultWith([](SourceSettings &) {}).what, std::string("it listens"));
    }

    void filesOfAClientThatCannotBeUsedAreNamed()
    {
        std::ofstream(path("no.pem")) << "this is no certificate\n";
        SourceSettings settings;
        settings.caFile = path("no.pem");
        const Error noPem = faultOf(server({}), settings);
        QCOMPARE(noPem.where, path("no.pem"));
        QVERIFY2(noPem.what.starts_with("no certificate can be read of it"), noPem.what.c_str());
        settings.caFile = path("missing.pem");
        QCOMPARE(faultOf(server({}), settings).where, path("missing.pem"));
    }
};

TRAINYARD_GUILESS_TEST(TstTls)
#include "tst_tls.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// Against a real Prometheus server (Debian's package), which scrapes an exporter of this test's on loopback:
// connecting, outages of a target, of the way and of the server, what came meanwhile, credentials, TLS, more points
// than it gives at once.
#include "asked_prometheus.h"
#include "prometheus_server.h"
#include "tests/core/live/net/listening.h"
#include "tests/support/loopback.h"
#include "tests/support/test_program.h"

#include <QProcess>
#include <QtTest>

#include <atomic>
#include <cmath>

using namespace trainyard;
using namespace trainyard::live;

namespace {

/// Two GPUs of a host: each scrape finds how often it was scraped as the temperature.
class Exporter {
public:
    Exporter()
    {
        m_at.onRequest = [this](net::ServerRequest &&, const std::function<void(net::ServerAnswer)> &answer) {
            net::ServerAnswer page;
            if (isDown) {
                ++misses;
                page.status = 503;
                return answer(page);
            }
            const int count = ++scrapes;
            page.headers["content-type"] = "text/plain; version=0.0.4";
            for (const char *gpu : { "0", "1" }) {
                const std::string labels = std::string("{gpu=\"") + gpu + "\",Hostname=\"n0\"} ";
                page.body += "DCGM_FI_DEV_GPU_UTIL" + labels + "73\n" + "DCGM_FI_DEV_GPU_TEMP" + labels
                    + std::to_string(count) + "\nDCGM_FI_DEV_BOARD_POWER_WATTS" + labels + "412.5\n";
            }
            answer(page);
        };
    }
    [[nodiscard]] int port() const { return m_at.port; }

    std::atomic<int> scrapes = 0, misses = 0;
    std::atomic<bool> isDown = false;

private:
    testing::Listening m_at; // ends first
};

} // namespace

class PrometheusTest : public QObject {
    Q_OBJECT
private slots:
    void itConnectsAndGivesEveryScrapeOnce()
    {
        NEEDS_SERVER;
        Exporter exporter;
        PrometheusServer server(exporter.port());
        Live live(server.address());
        WAIT(live.samples() > 20, live);
        QVERIFY(live.sink.is(SourceState::Live));
        // Each scrape found one more: every sample is there, once, in order, with the scraper's own time.
        const SampleSeries counts = live.sink.series("temperature", "n0/gpu0");
        for (std::size_t i = 1; i < counts.at.size(); ++i)
            if (!std::isnan(counts.value[i]) && !std::isnan(counts.value[i - 1])) {
                QCOMPARE(counts.value[i], counts.value[i - 1] + 1);
                QVERIFY(counts.at[i] > counts.at[i - 1]);
            }
        // Names and units are this program's, under DCGM's older and newer names.
        QCOMPARE(live.sink.series("gpu_utilization", "n0/gpu1").value.front(), 0.73);
        QCOMPARE(live.sink.series("power", "n0/gpu1").value.front(), 412.5);
    }

    void anOutageOfATargetIsAGapWithItsReason()
    {
        NEEDS_SERVER;
        Exporter exporter;
        PrometheusServer server(exporter.port());
        Live live(server.address());
        WAIT(live.samples() > 10, live);
        const int before = live.gaps();
        exporter.isDown = true;
        WAIT(live.sink.told().contains("is down since"), live);
        QTRY_VERIFY_WITH_TIMEOUT(exporter.misses >= 10, kLong);
        exporter.isDown = false;
        WAIT(live.sink.told().contains("is back since"), live);
        WAIT(live.gaps() > before, live);
        QCOMPARE(live.sink.series("prometheus.up", "127.0.0.1").value.front(), 1.0);
    }

    void whatCameDuringAPauseIsAskedForAfterwards()
    {
        NEEDS_SERVER;
        Exporter exporter;
        PrometheusServer server(exporter.port());
        Live live(server.address());
        WAIT(live.samples() > 10, live);
        live.with([](Source &source) { source.setPaused(true); });
        WAIT(live.sink.is(SourceState::Paused), live);
        const std::size_t had = live.samples();
        const int scraped = exporter.scrapes + 20;
        QTRY_VERIFY_WITH_TIMEOUT(exporter.scrapes > scraped, kLong);
        QCOMPARE(live.samples(), had);
        live.with([](Source &source) { source.setPaused(false); });
        WAIT(live.samples() >= had + 20, live);
        const SampleSeries counts = live.sink.series("temperature", "n0/gpu0");
        for (std::size_t i = 1; i < counts.at.size(); ++i)
            if (!std::isnan(counts.value[i]) && !std::isnan(counts.value[i - 1]))
                QCOMPARE(counts.value[i], counts.value[i - 1] + 1);
    }

    void whatWasBeforeItConnectedIsAskedFor()
    {
        NEEDS_SERVER;
        Exporter exporter;
        PrometheusServer server(exporter.port());
        QTRY_VERIFY_WITH_TIMEOUT(exporter.scrapes > 30, kLong);
        const Moment began = unixNow();
        Live live(server.address());
        WAIT(live.samples() > 0, live);
        const Recording all = live.sink.store.whole();
        QVERIFY(all.zero + live.sink.series("temperature", "n0/gpu0").at.front() < began - 1'000'000'000);
    }

    void aServerThatEndsIsTriedAgainUntilItIsBack()
    {
        NEEDS_SERVER;
        Exporter exporter;
        PrometheusServer server(exporter.port());
        Live live(server.address());
        WAIT(live.samples() > 5, live);
        server.stop();
        WAIT(live.sink.is(SourceState::BackingOff), live);
        QVERIFY2(live.sink.told().contains("refused"), qPrintable(live.sink.told()));
        QVERIFY(live.sink.now().nextTry > 0);
        const std::size_t had = live.samples();
        server.start();
        WAIT(live.sink.is(SourceState::Live) && live.samples() > had + 5, live);
        QVERIFY(live.gaps() >= 1); // nobody scraped while it was away
    }

    void itSaysWhichCredentialsAreWrong()
    {
        NEEDS_SERVER;
        Exporter exporter;
        // bcrypt of "test"
        PrometheusServer server(exporter.port(),
            "basic_auth_users:\n  admin: $2b$12$hNf2lSsxfm0.i4a.1kVpSOVyBCfIB51VRjgBUyv6kdnyTlgWj81Ay\n");
        SourceSettings settings;
        settings.secrets = { .user = "admin", .password = "test" };
        Live right(server.address(), settings);
        WAIT(right.samples() > 2, right);
        settings.secrets.password = "wrong";
        Live wrong(server.address(), settings), nobody(server.address());
        WAIT(wrong.sink.is(SourceState::Refused) && wrong.sink.told().contains("password (401)"), wrong);
        WAIT(nobody.sink.is(SourceState::Refused) && nobody.sink.told().contains("who asks"), nobody);
    }

    void tlsIsUsedAndItsCertificateChecked()
    {
        NEEDS_SERVER;
        const QString openssl = QStandardPaths::findExecutable("openssl");
        if (openssl.isEmpty())
            QSKIP("no openssl on this machine, which makes the certificate");
        Exporter exporter;
        PrometheusServer server(exporter.port());
        server.stop();
        QCOMPARE(QProcess::execute(openssl,
                     { "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                         "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                         "-keyout", server.file("key.pem"), "-out", server.file("cert.pem") }),
            0);
        server.write("web.yml", "tls_server_config: {cert_file: cert.pem, key_file: key.pem}\n");
        server.start();
        Address address = server.address();
        Live plain(address);
        address.isTls = true;
        SourceSettings settings;
        Live unknown(address, settings);
        settings.isVerified = false;
        Live unchecked(address, settings);
        settings.isVerified = true;
        settings.caFile = server.file("cert.pem").toStdString();
        Live known(address, settings);
        WAIT(known.samples() > 2, known);
        WAIT(unchecked.samples() > 2, unchecked);
        WAIT(unknown.sink.told().contains("certificate"), unknown);
        QCOMPARE(unknown.samples(), std::size_t(0));
        WAIT(plain.sink.told().contains("Trying again"), plain);
        QCOMPARE(plain.samples(), std::size_t(0));
    }

    void moreThanElevenThousandPointsComeInPieces()
    {
        NEEDS_SERVER;
        Exporter exporter;
        PrometheusServer server(exporter.port());
        QTRY_VERIFY_WITH_TIMEOUT(exporter.scrapes > 10, kLong);
        SourceSettings settings;
        settings.queries = { "sum(up)", "vector(7)", "no_such_metric", "sum(" };
        settings.backfillSeconds = 2'600; // 13,000 steps of 0.2 s
        Live live(server.address(), settings);
        const auto longest = [&] {
            std::size_t most = 0;
            for (const SampleSeries &one : live.sink.store.whole().series)
                if (!one.at.empty())
                    most = std::max(most, std::size_t((one.at.back() - one.at.front()) / 200'000'000));
            return most;
        };
        WAIT(longest() > 12'900, live);
        QVERIFY2(!live.sink.told().contains("11,000"), qPrintable(live.sink.told()));
        WAIT(live.sink.told().contains("refuses \"sum(\""), live);
        QVERIFY(live.sink.is(SourceState::Live));
    }
};

TRAINYARD_GUILESS_TEST(PrometheusTest)
#include "tst_prometheus.moc"

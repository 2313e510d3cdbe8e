// SPDX-License-Identifier: GPL-3.0-or-later
// How a Prometheus server is asked: nothing of a time is left out or asked for beyond its limits.
#include "core/live/sources/prometheus_asks.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace trainyard;
using namespace trainyard::live::prometheus;

class PrometheusAsksTest : public QObject {
    Q_OBJECT
private slots:
    void aSelectorIsToldFromAnExpression_data()
    {
        QTest::addColumn<QString>("query");
        QTest::addColumn<bool>("is");
        for (const char *query : { "up", " up ", "up{}", "up{job=\"x\"}", "{__name__=~\"a|b\"}", "a:b:c{l=\"}\"}",
                 "up {l='{\\'}'}", "up{l=`}`}" })
            QTest::newRow(query) << query << true;
        for (const char *query : { "", "rate(up[5m])", "up > 1", "up[5m]", "up{a=\"b\"} offset 5m", "sum by (a) (up)",
                 "1", "up{a=\"b\"", "\"text\"", "up + up", "{a=\"b\"}[1m]" })
            QTest::newRow(query[0] != '\0' ? query : "nothing") << query << false;
    }
    void aSelectorIsToldFromAnExpression()
    {
        QFETCH(QString, query);
        QFETCH(bool, is);
        QCOMPARE(isSelector(query.toStdString()), is);
    }

    void bothNamesOfARenamedFieldAreAskedFor()
    {
        const auto &names = knownMetrics();
        for (const char *name : { "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL_RATIO", "DCGM_FI_DEV_POWER_USAGE",
                 "DCGM_FI_DEV_BOARD_POWER_WATTS", "node_network_transmit_bytes_total", "DCGM_FI_DEV_XID_ERRORS",
                 "DCGM_FI_DEV_XID_ERROR", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "DCGM_FI_DEV_ROW_REMAP_FAILED",
                 "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_TOTAL", "gpu_clock", "amd_gpu_clock", "gpu_health",
                 "gpu_ecc_uncorrect_total", "amd_gpu_SCLK_MHz" })
            QVERIFY2(std::ranges::find(names, name) != names.end(), name);
        // Only what the server has, in one selector, with `up`.
        QCOMPARE(selectorOf({ "go_goroutines", "DCGM_FI_DEV_GPU_UTIL_RATIO", "DCGM_FI_DEV_POWER_USAGE" }),
            "{__name__=~\"up|DCGM_FI_DEV_GPU_UTIL_RATIO|DCGM_FI_DEV_POWER_USAGE\"}");
        QVERIFY(isSelector(selectorOf(names)));
        QVERIFY(selectorOf({ "go_goroutines" }).empty());
    }

    void piecesCoverTheTimeWithoutOverlap()
    {
        // The server refuses more than 11,000 points a series: pieces of steps × 10,000.
        for (const double step : { 0.1, 1.0, 15.0 }) {
            const Window whole { 1'795'225'408'000'000'000, 1'795'225'408'000'000'000 + 86'400'000'000'000 };
            const double most = longestPiece(false, step);
            QVERIFY(most / step <= 10'000.5);
            Moment at = whole.from;
            int pieces = 0;
            while (at < whole.to) {
                const Window piece = firstPiece({ at, whole.to }, most);
                QVERIFY(piece.from == at && piece.to > at && piece.to <= whole.to);
                at = piece.to;
                ++pieces;
            }
            QCOMPARE(pieces, int(std::ceil(86'400 / most)));
        }
    }

    void samplesAreAskedForAsTheyWereScraped()
    {
        const Window window { 1'795'225'408'500'000'000, 1'795'225'708'500'000'000 };
        QCOMPARE(targetOf("up", window, 5), "/api/v1/query?query=up%5B300000ms%5D&time=1795225708.500");
        QCOMPARE(targetOf("sum(up)", window, 5),
            "/api/v1/query_range?query=sum%28up%29&start=1795225408.500&end=1795225708.500&step=5.000");
    }
};

TRAINYARD_APPLESS_TEST(PrometheusAsksTest)
#include "tst_prometheus_asks.moc"

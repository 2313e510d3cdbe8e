// SPDX-License-Identifier: GPL-3.0-or-later
// Expositions of metrics, answers of Prometheus and tables of nvidia-smi: own fixtures in their shapes, and the
// captured files with numbers taken off them by hand.
#include "core/runs/telemetry/readers/exporter_metrics.h"
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::trial;

class TestHardwareSamples : public QObject {
    Q_OBJECT

private slots:
    void amdsExporterNamesItsOwn()
    {
        const std::string labels = "{card_model=\"102-G30213-0C\",gpu_id=\"3\",hostname=\"n1\",serial_number=\"9\"} ";
        const Recording r = read("metrics.txt",
            "# TYPE gpu_gfx_activity gauge\ngpu_gfx_activity" + labels + "75\n# TYPE gpu_package_power gauge\n"
                + "gpu_package_power" + labels + "640\n# TYPE gpu_used_vram gauge\ngpu_used_vram" + labels + "2048\n");
        QCOMPARE(valueOf(r, "gpu_utilization", "n1/gpu3"), 0.75);
        QCOMPARE(valueOf(r, "power", "n1/gpu3"), 640.0);
        QCOMPARE(valueOf(r, "memory_used", "n1/gpu3"), 2048.0 * 1048576);
    }

    void namesOfBothDcgmGenerationsAreTheSameSeries()
    {
        const Recording r = read("metrics",
            "# TYPE DCGM_FI_PROF_TENSOR_UTIL_RATIO gauge\n# HELP DCGM_FI_PROF_TENSOR_UTIL_RATIO x\n"
            "DCGM_FI_PROF_TENSOR_UTIL_RATIO{gpu=\"2\", UUID=\"GPU-1\",hostname=\"n1\",} 0.5\n"
            "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{gpu=\"3\",UUID=\"GPU-2\",Hostname=\"n1\"} 0.25\n"
            "DCGM_FI_DEV_FB_USED{gpu=\"3\",UUID=\"GPU-2\",Hostname=\"n1\"} 1024\n"
            "DCGM_FI_DEV_BOARD_POWER_WATTS{gpu=\"3\",UUID=\"GPU-2\",Hostname=\"n1\"} 2147483634\n");
        QCOMPARE(valueOf(r, "tensor_active", "n1/gpu2"), 0.5);
        QCOMPARE(valueOf(r, "tensor_active", "n1/gpu3"), 0.25);
        QCOMPARE(valueOf(r, "memory_used", "n1/gpu3"), 1073741824.0);
        QVERIFY(seriesOf(r, "power", "n1/gpu3") && std::isnan(valueOf(r, "power", "n1/gpu3")));
        QCOMPARE(droppedOf(r, "values that DCGM marks as missing"), std::int64_t(1));
        for (const auto &[before, since] : readers::dcgmRenamedFields())
            QCOMPARE(readers::exporterMetricNamed(before).name, readers::exporterMetricNamed(since).name);
    }

    void timesAreMillisecondsUnlessItIsOpenMetrics()
    {
        const std::string types = "# TYPE a gauge\n# HELP a text\n";
        const Recording text = read("a", types + "a{x=\"1\"} 0x1p-2 1700000000123\n");
        QCOMPARE(text.zero, std::int64_t(1700000000123000000));
        QCOMPARE(valueOf(text, "prometheus.a", "{x=1}"), 0.25);
        const Recording open =
            read("a", types + "a{x=\"1\"} 3 1700000000.5 # {trace_id=\"7\"} 0.6\na_created 1\n# EOF\n");
        QCOMPARE(open.zero, std::int64_t(1700000000500000000));
        QCOMPARE(valueOf(open, "prometheus.a", "{x=1}"), 3.0);
        QCOMPARE(droppedOf(open, "moments at which counters were made"), std::int64_t(1));
    }

    void labelsHaveEscapesAndNamesOfAllKinds()
    {
        const Recording r = read("a",
            "# TYPE b gauge\r\n# HELP b text\r\nb { p = \"C:\\\\x \\\"y\\\"\\n\" , } -Inf\r\n{\"my.metric\",l=\"v\"} "
            "NaN\r\nbroken{ 5\r\n"
            "cut_value 12");
        QVERIFY(std::isinf(valueOf(r, "prometheus.b", "{p=C:\\x \"y\"\n}")));
        QVERIFY(seriesOf(r, "prometheus.my.metric", "{l=v}"));
        QCOMPARE(droppedOf(r, "lines that are no sample"), std::int64_t(1));
        QVERIFY(r.sources[0].isTruncated && !seriesOf(r, "prometheus.cut_value", ""));
    }

    void countersOfNetworksBecomeRatesAndARestartHasNone()
    {
        const Recording r = read("q.json",
            R"({"status":"success","warnings":["slow"],"data":{"resultType":"matrix","result":[{"metric":{"__name__":)"
            R"("node_network_transmit_bytes_total","device":"eth0","instance":"h:9100"},"values":[[10,"100"],[12,"300"],)"
            R"([14,"50"],[16,"1e+02"]]}]}})");
        QCOMPARE(valueOf(r, "network_out", "h/eth0", 0), 100.0);
        QVERIFY(std::isnan(valueOf(r, "network_out", "h/eth0", 1)));
        QCOMPARE(valueOf(r, "network_out", "h/eth0", 2), 25.0);
        QVERIFY(hasNote(r, "Prometheus: slow"));
    }

    void samplesWithAndWithoutTimesMayStandTogether()
    {
        const std::string name = "node_network_transmit_bytes_total{device=\"eth0\"} ";
        const Recording r = read("a",
            "# TYPE x counter\n# HELP x y\n" + name + "1\n" + name + "5 1000\n" + name + "9 3000\n" + name
                + "7 -5000\n");
        QCOMPARE(valueOf(r, "network_out", "eth0"), 2.0);
        QCOMPARE(r.zero, std::int64_t(1'000'000'000));
    }

    void queriesOfSmiHaveUnitsInHeaderAndCells()
    {
        const Recording r = read("smi.csv",
            "timestamp, index, name, utilization.gpu [%], memory.used [MiB], power.draw [W], clocks.sm [MHz]\r\n"
            "2026/01/02 03:04:05.500, 0, NVIDIA H100, 97 %, 1024 MiB, 650.25 W, 1980 MHz\r\n"
            "2026/01/02 03:04:05.500, 1, NVIDIA H100, [N/A], 2048 MiB, [Not Supported], 1980 MHz\r\n"
            "2026/01/02 03:04:06.500, 0, NVIDIA H100, 98, 1025, 651, 1");
        QCOMPARE(r.sources[0].kind, SourceKind::SmiQuery);
        QCOMPARE(valueOf(r, "gpu_utilization", "gpu0"), 0.97);
        QCOMPARE(valueOf(r, "memory_used", "gpu1"), 2147483648.0);
        QVERIFY(std::isnan(valueOf(r, "power", "gpu1")) && seriesOf(r, "power", "gpu1"));
        QCOMPARE(valueOf(r, "sm_clock", "gpu0"), 1.98e9);
        QCOMPARE(r.zero, std::int64_t(1767323045500000000)); // date -u -d '2026-01-02 03:04:05.5' +%s%N
        QVERIFY(r.sources[0].isTruncated); // the last line has no end
        QVERIFY(read("smi.csv", "2026/01/02 03:04:05.500, 0, NVIDIA H100, 97 %, 1024 MiB\n")
                    .sources[0]
                    .refused.find("without its header")
            != std::string::npos);
    }

    void dmonIsReadByItsHeadersWithTimesAndAsCsv()
    {
        const Recording r = read("dmon.txt",
            "#Date       Time        gpu   pwr    fb rxpci\n#YYYYMMDD   HH:MM:SS    Idx     W    MB  MB/s\n"
            " 20260102   03:04:05      0   400  1000   12\n 20260102   03:04:06      0     -  1001   13\n");
        QCOMPARE(r.zero, std::int64_t(1767323045000000000));
        QCOMPARE(valueOf(r, "power", "gpu0"), 400.0);
        QVERIFY(std::isnan(valueOf(r, "power", "gpu0", 1)));
        QCOMPARE(valueOf(r, "memory_used", "gpu0", 1), 1001 * 1048576.0);
        const Recording csv = read("dmon.csv", "#gpu, pwr, sm\n0, 300, 50\n0, 310, 60\n");
        QCOMPARE(valueOf(csv, "gpu_utilization", "gpu0", 1), 0.6);
        QVERIFY(hasNote(csv, "a second apart"));
    }

    void whatHoldsNoSamplesSaysWhatItIs()
    {
        QVERIFY(read("x", "<!DOCTYPE html><html><head><title>Sign in</title>")
                    .sources[0]
                    .refused.starts_with("It is a web page (\"Sign in\")"));
        QVERIFY(read("counters.csv",
            "# Format\nDCGM_FI_DEV_SM_CLOCK, gauge, SM clock\nDCGM_FI_DEV_MEM_CLOCK, gauge, x\nDCGM_FI_DEV_GPU_TEMP, "
            "gauge, y\n")
                    .sources[0]
                    .refused.starts_with("It is a list of DCGM's fields"));
        QCOMPARE(
            read("q.json", R"({"status":"error","errorType":"timeout","error":"query timed out"})").sources[0].refused,
            std::string("A Prometheus server refused the query (timeout): query timed out"));
    }

    void capturedExpositionsGiveTheNumbersThatStandInThem()
    {
        Recording r = readOwn("dcgm/exporter.prom");
        QCOMPARE(valueOf(r, "power", "lab-a/gpu0"), 512.25);
        QCOMPARE(valueOf(r, "memory_used", "lab-a/gpu1"), 20480 * 1048576.0);
        QCOMPARE(valueOf(r, "nvlink_out", "lab-a/gpu0"), 25e9);
        QVERIFY(std::isnan(valueOf(r, "prometheus.DCGM_FI_DEV_MEMORY_TEMP", "lab-a/gpu1")));
        r = readOwn("dcgm/missing.prom");
        QCOMPARE(r.series.size(), std::size_t(3));
        QCOMPARE(valueOf(r, "nvlink_in", "lab-d/gpu0"), 1500.0);
        QCOMPARE(droppedOf(r, "values that DCGM marks as missing"), std::int64_t(1));
        QVERIFY(readOwn("dcgm/field_names.txt").sources.at(0).refused.starts_with("It is a list of DCGM's fields"));
        r = readOwn("prometheus/node_exporter.txt");
        QCOMPARE(r.sources.at(0).taken, std::int64_t(7)); // grep -vc '^#'
        QCOMPARE(valueOf(r, "prometheus.node_network_receive_bytes_total", "eth0"), 2.5e9);
        QCOMPARE(valueOf(r, "prometheus.go_memstats_alloc_bytes", ""), 3145728.0);
        r = readOwn("smi/dmon.txt");
        QVERIFY(valueOf(r, "power", "gpu1") == 310 && valueOf(r, "pcie_to_gpu", "gpu0", 1) == 5000e6);
        QVERIFY(seriesOf(r, "power", "gpu1") && std::isnan(valueOf(r, "power", "gpu1", 1)));
        QCOMPARE(valueOf(r, "pcie_to_host", "gpu1", 1), 8000e6);
        if (!isThere("dcgm/dcgm_real_lines.prom"))
            return;
        r = readShared("dcgm/dcgm_exporter_like.prom");
        QCOMPARE(valueOf(r, "power", "node000/gpu0"), 641.337);
        QCOMPARE(valueOf(r, "memory_used", "node000/gpu1"), 71234 * 1048576.0);
        QCOMPARE(valueOf(r, "nvlink_out", "node000/gpu0"), 47e9);
        QVERIFY(std::isnan(valueOf(r, "prometheus.DCGM_FI_DEV_MEMORY_TEMP", "node000/gpu1")));
        r = readShared("dcgm/dcgm_real_lines.prom");
        QCOMPARE(r.series.size(), std::size_t(3));
        QCOMPARE(valueOf(r, "nvlink_out", "axa/gpu1"), 0.0);
        QCOMPARE(droppedOf(r, "values that DCGM marks as missing"), std::int64_t(1));
        QVERIFY(readShared("dcgm/dcgm_field_aliases.txt")
                    .sources.at(0)
                    .refused.starts_with("It is a list of DCGM's fields"));
        r = readShared("prometheus/node_exporter_openmetrics.txt");
        QCOMPARE(r.sources.at(0).taken, std::int64_t(507)); // grep -vc '^#'
        QCOMPARE(valueOf(r, "prometheus.node_network_receive_bytes_total", "eth0"), 1.080409849e9);
        QCOMPARE(valueOf(r, "prometheus.go_memstats_alloc_bytes", ""), 2150704.0);
        r = readShared("smi/dmon_pcut.txt");
        QVERIFY(valueOf(r, "power", "gpu1") == 372 && valueOf(r, "pcie_to_gpu", "gpu7") == 25966e6);
        QCOMPARE(valueOf(r, "pcie_to_host", "gpu0", 1), 14767e6);
    }

    void capturedAnswersGiveTheNumbersThatStandInThem()
    {
        Recording r = readOwn("prometheus/instant.json");
        QCOMPARE(valueOf(r, "tensor_active", "lab-a/gpu1"), 0.375);
        QCOMPARE(r.zero, std::int64_t(1770000000000000000));
        r = readOwn("prometheus/matrix.json");
        QCOMPARE(valueOf(r, "power", "lab-a/gpu1", 3), 513.0);
        QCOMPARE(r.zero, std::int64_t(1770000000500000000));
        r = readOwn("prometheus/range.json");
        QCOMPARE(valueOf(r, "prometheus.query", "lab-a/gpu0", 0), 0.25);
        QCOMPARE(valueOf(r, "prometheus.query", "lab-a/gpu1", 3), 0.5);
        r = readOwn("prometheus/range_gap.json");
        QVERIFY(valueOf(r, "sm_clock", "lab-a/gpu0", 3) == 1755e6 && r.series.at(0).at.at(3) == 50'000'000'000);
        r = readOwn("prometheus/range_up.json");
        QVERIFY(valueOf(r, "prometheus.up", "127.0.0.1", 2) == 1 && valueOf(r, "prometheus.up", "127.0.0.1", 3) == 0);
        r = readOwn("prometheus/stale_gap.json");
        QVERIFY(r.series.at(0).at.size() == 10 && hasNote(r, "Samples are missing: 4 of power"));
        r = readOwn("prometheus/blank.json");
        QCOMPARE(valueOf(r, "prometheus.DCGM_FI_DEV_MEMORY_TEMP", "lab-a/gpu0"), 70.0);
        QVERIFY(std::isnan(valueOf(r, "prometheus.DCGM_FI_DEV_MEMORY_TEMP", "lab-a/gpu1")));
        r = readOwn("prometheus/nan.json");
        QVERIFY(r.series.size() == 2 && std::isnan(r.series[0].value.at(0)) && r.zero == 1770000000125000000);
        r = readOwn("prometheus/scalar.json");
        QVERIFY(std::isinf(r.series.at(0).value.at(0)) && r.zero == 1770000000500000000);
        r = readOwn("prometheus/empty.json");
        QVERIFY(r.sources.at(0).refused.empty() && hasNote(r, "The query matched nothing"));
        if (!isThere("prometheus/query_range.json"))
            return;
        r = readShared("prometheus/query_instant.json");
        QCOMPARE(valueOf(r, "tensor_active", "node000/gpu1"), 0.43177838412168806);
        QCOMPARE(r.zero, std::int64_t(1795225429000000000));
        r = readShared("prometheus/query_matrix_inst.json");
        QCOMPARE(valueOf(r, "power", "node000/gpu1", 4), 642.337);
        QCOMPARE(r.zero, std::int64_t(1795225424446000000));
        r = readShared("prometheus/query_range.json");
        QCOMPARE(valueOf(r, "prometheus.query", "node000/gpu0", 0), 0.392905844528307);
        QCOMPARE(valueOf(r, "prometheus.query", "node000/gpu1", 3), 0.43177838412168806);
        r = readShared("prometheus/query_range_gap.json");
        QVERIFY(valueOf(r, "sm_clock", "node000/gpu0", 5) == 1830e6 && r.series.at(0).at.at(5) == 50'000'000'000);
        r = readShared("prometheus/query_range_up.json");
        QVERIFY(valueOf(r, "prometheus.up", "127.0.0.1", 11) == 1 && valueOf(r, "prometheus.up", "127.0.0.1", 12) == 0);
        r = readShared("prometheus/query_range_with_stale_gap.json");
        QVERIFY(r.series.at(0).at.size() == 17 && hasNote(r, "Samples are missing: 9 of power"));
        r = readShared("prometheus/query_blank.json");
        QCOMPARE(valueOf(r, "prometheus.DCGM_FI_DEV_MEMORY_TEMP", "node000/gpu0"), 74.0);
        QVERIFY(std::isnan(valueOf(r, "prometheus.DCGM_FI_DEV_MEMORY_TEMP", "node000/gpu1")));
        r = readShared("prometheus/query_nan.json");
        QVERIFY(r.series.size() == 2 && std::isnan(r.series[0].value.at(0)) && r.zero == 1795225429091000000);
        r = readShared("prometheus/query_scalar.json");
        QVERIFY(std::isinf(r.series.at(0).value.at(0)) && r.zero == 1795225429064000000);
        r = readShared("prometheus/empty.json");
        QVERIFY(r.sources.at(0).refused.empty() && hasNote(r, "The query matched nothing"));
    }

    void capturedRefusalsAreExact_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QByteArray>("text"); // of ours; empty: captured
        QTest::addColumn<QString>("sentence");
        const QString refused = QStringLiteral("A Prometheus server refused the query (%1): %2");
        const QString data = QStringLiteral("bad_data");
        const QString instead = QStringLiteral(", without samples; save the answer of query or query_range instead");
        const QString labels = "It is a Prometheus server's list of labels or of their values" + instead;
        const auto own = [](const char *file, const char *text, const QString &sentence) {
            QTest::addRow("own %s", file) << file << QByteArray(text) << sentence;
        };
        own("parse.json", R"({"status":"error","errorType":"bad_data","error":"1:4: parse error: no number"})",
            refused.arg(data, "1:4: parse error: no number"));
        own("match.json",
            R"({"status":"error","errorType":"execution","error":"a vector of two series cannot be matched"})",
            refused.arg("execution", "a vector of two series cannot be matched"));
        own("labels.json", R"({"status":"success","data":["Hostname","__name__","gpu"]})", labels);
        own("metadata.json", R"({"status":"success","data":{"lab_power":[{"type":"gauge","help":"W","unit":""}]}})",
            "It is a Prometheus server's description of metrics" + instead);
        own("series.json", R"({"status":"success","data":[{"__name__":"lab_power","gpu":"0"}]})",
            "It is a Prometheus server's list of series" + instead);
        own("targets.json",
            R"({"status":"success","data":{"activeTargets":[{"labels":{"job":"lab"},"health":"up"}],"droppedTargets":[]}})",
            "It is a Prometheus server's list of targets" + instead);
        own("page.txt", "403 forbidden\n", "It is an answer of a web server in place of metrics: \"403 forbidden\"");
        const auto add = [](const char *file, const QString &sentence) {
            if (isThere((std::string("prometheus/") + file).c_str()))
                QTest::newRow(file) << file << QByteArray() << sentence;
        };
        add("err_parse.json",
            refused.arg(data, "invalid parameter \"query\": 1:10: parse error: unclosed left parenthesis"));
        add("err_range.json",
            refused.arg(data, "invalid parameter \"end\": end timestamp must not be before start time"));
        add("err_toomany.json",
            refused.arg(data,
                "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution "
                "(?step=XX)"));
        add("err_exec_duplicate_labelset.json",
            refused.arg("execution", "vector cannot contain metrics with the same labelset"));
        add("labels.json", labels);
        add("label_values.json", labels);
        add("metadata.json", "It is a Prometheus server's description of metrics" + instead);
        add("series.json", "It is a Prometheus server's list of series" + instead);
        add("targets.json", "It is a Prometheus server's list of targets" + instead);
        add("err_404.txt", "It is an answer of a web server in place of metrics: \"404 page not found\"");
    }

    void capturedRefusalsAreExact()
    {
        QFETCH(const QString, file);
        QFETCH(const QByteArray, text);
        QFETCH(const QString, sentence);
        const std::string path = "prometheus/" + file.toStdString();
        const Recording r = text.isEmpty() ? readShared(path.c_str()) : read(path, text.toStdString());
        QCOMPARE(QString::fromStdString(r.sources.at(0).refused), sentence);
        if (text.isEmpty())
            QVERIFY(readShared("prometheus/err_exec.json")
                        .sources.at(0)
                        .refused.starts_with("A Prometheus server refused the query (execution): found duplicate "
                                             "series for the match group {job=\"dcgm\"}"));
    }
};

TRAINYARD_APPLESS_TEST(TestHardwareSamples)
#include "tst_hardware_samples.moc"

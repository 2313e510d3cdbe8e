// SPDX-License-Identifier: GPL-3.0-or-later
// iperf3 and fio: own fixtures in their shapes, and the captured results with numbers taken off them by hand.
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::trial;

class TestLinkBenchmarks : public QObject {
    Q_OBJECT

private slots:
    void omittedIntervalsAreLeftOutAndGoodputIsWhatWasReceived()
    {
        const Recording r = read("wan.json",
            R"({"start":{"connected":[{"local_host":"a","remote_host":"b"}],"version":"iperf 3.9","timestamp":{"timesecs":1700000000},)"
            R"("test_start":{"protocol":"TCP","num_streams":8,"reverse":0}},"intervals":[)"
            R"({"sum":{"end":1,"seconds":1,"bytes":9,"bits_per_second":72,"omitted":true}},)"
            R"({"sum":{"end":2,"seconds":1,"bytes":1000,"bits_per_second":8000,"omitted":false}}],)"
            R"("end":{"streams":[{"sender":{"min_rtt":60000,"sender":true}},{"sender":{"min_rtt":59000,"sender":true}}],)"
            R"("sum_sent":{"bytes":2000,"seconds":1,"bits_per_second":16000},)"
            R"("sum_received":{"bytes":1000,"seconds":1,"bits_per_second":8000},"cpu_utilization_percent":{"host_total":99.5}}})");
        QCOMPARE(r.benchmarks.size(), std::size_t(1));
        QCOMPARE(r.benchmarks[0].streams, 8);
        QCOMPARE(r.benchmarks[0].bytesPerSecond, 1000.0);
        QVERIFY(isNear(r.benchmarks[0].rttSeconds, 0.059));
        QCOMPARE(droppedOf(r, "intervals that the test leaves out (-O)"), std::int64_t(1));
        QCOMPARE(valueOf(r, "network_out", "a-b"), 1000.0);
        QCOMPARE(r.zero, std::int64_t(1700000002000000000));
        QVERIFY(hasNote(r, "A processor was busy"));
    }

    /// 1 GBytes of iperf3 are 2^30; of several streams the line of their sum counts.
    void whatIsPrintedIsRead()
    {
        const std::string heading =
            "Connecting to host 10.0.0.2, port 5201\n[ ID] Interval           Transfer     Bitrate   "
            "      Retr  Cwnd\n";
        const Recording one = read("iperf.txt",
            heading + "[  5]   0.00-1.00   sec  1.10 GBytes  9.42 Gbits/sec    0   1.56 MBytes\n- - - -\n"
                + "[  5]   0.00-10.00  sec  11.0 GBytes  9.45 Gbits/sec    0             sender\n"
                + "[  5]   0.00-10.04  sec  10.9 GBytes  9.41 Gbits/sec                  receiver\n");
        QCOMPARE(one.benchmarks.size(), std::size_t(1));
        QVERIFY(isNear(one.benchmarks[0].bytesPerSecond, 9.41e9 / 8));
        QCOMPARE(one.benchmarks[0].what, std::string("tcp"));
        const Recording four = read("iperf.txt",
            heading + "Reverse mode, remote host 10.0.0.2 is sending\n"
                + "[  5]   0.00-10.00  sec  5.00 GBytes  4.30 Gbits/sec                  receiver\n"
                + "[  7]   0.00-10.00  sec  5.00 GBytes  4.30 Gbits/sec                  receiver\n"
                + "[SUM]   0.00-10.00  sec  10.0 GBytes  8.59 Gbits/sec                  receiver\n");
        QCOMPARE(four.benchmarks.size(), std::size_t(1));
        QVERIFY(isNear(four.benchmarks[0].bytesPerSecond, 8.59e9 / 8));
        QVERIFY(four.benchmarks[0].streams == 2 && four.benchmarks[0].what == "tcp_reverse");
        const Recording cut = read("iperf.txt",
            heading + "[  5]   0.00-1.00   sec  1.00 GBytes  8.59 Gbits/sec    0\n"
                + "[  5]   1.00-2.00   sec  1.00 GBytes  8.59 Gbits/sec    0\n");
        QVERIFY(isNear(cut.benchmarks.at(0).bytesPerSecond, double(1 << 30)) && hasNote(cut, "no results at its end"));
        const Recording older = read("iperf.txt",
            "[ ID] Interval       Transfer     Bandwidth\n[  3]  0.0- 1.0 sec  1.00 GBytes  8.59 Gbits/sec\n"
            "[  3]  1.0- 2.0 sec  1.00 GBytes  8.59 Gbits/sec\n[  3]  0.0- 2.0 sec  2.00 GBytes  8.59 Gbits/sec\n");
        QVERIFY(older.benchmarks.size() == 1 && isNear(older.benchmarks[0].bytesPerSecond, 8.59e9 / 8));
    }

    void aTestThatMovedNothingIsRefused()
    {
        const Recording printed = read("iperf.txt",
            "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
            "[  5]   0.00-1.00   sec  0.00 Bytes  0.00 bits/sec    0   1.41 KBytes\n"
            "[  5]   0.00-10.00  sec  0.00 Bytes  0.00 bits/sec    0             sender\n"
            "[  5]   0.00-10.00  sec  0.00 Bytes  0.00 bits/sec                  receiver\n");
        QVERIFY2(
            printed.sources[0].refused.find("moved nothing") != std::string::npos, printed.sources[0].refused.c_str());
        const Recording json = read("iperf.json",
            R"({"start": {"version": "iperf 3.16", "test_start": {"protocol": "TCP", "num_streams": 1}},
                "intervals": [{"sum": {"start": 0, "end": 1, "seconds": 1, "bytes": 0, "bits_per_second": 0}}],
                "end": {"sum_received": {"seconds": 10, "bytes": 0, "bits_per_second": 0}}})");
        QVERIFY2(json.sources[0].refused.find("moved nothing") != std::string::npos, json.sources[0].refused.c_str());
    }

    void aStreamOfEventsIsATestAndAReverseOneSaysSo()
    {
        const Recording r = read("stream.jsonl",
            R"({"event":"start","data":{"version":"iperf 3.17","test_start":{"protocol":"TCP","num_streams":2,"reverse":1}}})"
            "\n"
            R"({"event":"interval","data":{"sum":{"end":1,"seconds":1,"bytes":500,"bits_per_second":4000,"omitted":false}}})"
            "\n"
            R"({"event":"interval","data":{"sum":{"end":2,"seconds":1,"bytes":700,"bits_per_second":5600,"omitted":false}}})"
            "\n");
        QCOMPARE(r.benchmarks.size(), std::size_t(1)); // the end is missing: intervals are added up
        QCOMPARE(r.benchmarks[0].what, std::string("tcp_reverse"));
        QCOMPARE(r.benchmarks[0].bytesPerSecond, 600.0);
        QVERIFY(r.sources[0].isTruncated);
    }

    void lossIsTakenOffTheBandwidthOfOlderUdpTests()
    {
        const Recording r = read("udp.json",
            R"({"start":{"version":"iperf 3.1","test_start":{"protocol":"UDP","num_streams":1}},"intervals":[],"end":{"sum":)"
            R"({"seconds":2,"bytes":2000,"bits_per_second":8000,"jitter_ms":0.25,"lost_packets":1,"packets":4,"lost_percent":25}}})");
        QCOMPARE(r.benchmarks.at(0).what, std::string("udp"));
        QCOMPARE(r.benchmarks[0].bytesPerSecond, 750.0);
        QVERIFY(hasNote(r, "UDP: 25"));
    }

    void jobsOfAGroupAddUpAndWarningsMayStandBefore()
    {
        const Recording r = read("fio.out",
            "fio: note: something\n"
            R"({"fio version":"fio-3.36","global options":{"rw":"randwrite","bs":"128k","direct":"1"},"jobs":[)"
            R"({"jobname":"a","groupid":0,"error":0,"write":{"io_bytes":6000,"bw_bytes":1000,"bw":0,"runtime":6000}},)"
            R"({"jobname":"a","groupid":0,"error":0,"write":{"io_bytes":12000,"bw_bytes":2000,"bw":1,"runtime":6000}},)"
            R"({"jobname":"b","groupid":1,"error":5,"write":{"io_bytes":12000,"bw_bytes":2000,"bw":1,"runtime":6000}}]})");
        QCOMPARE(r.benchmarks.size(), std::size_t(1));
        QCOMPARE(r.benchmarks[0].what, std::string("random_write"));
        QCOMPARE(r.benchmarks[0].bytesPerSecond, 3000.0);
        QCOMPARE(r.benchmarks[0].bytes, 131072.0);
        QCOMPARE(r.benchmarks[0].streams, 2);
        QVERIFY(r.sources[0].notes.empty());
        QCOMPARE(droppedOf(r, "jobs that failed"), std::int64_t(1));
        const Recording old = read("old.json",
            R"({"fio version" : "fio-2.2.10","jobs":[{"jobname":"a","groupid":0,"read":{"io_bytes":1024,"bw":10,"runtime":9000}}]})");
        QCOMPARE(old.benchmarks.at(0).bytesPerSecond, 10240.0);
    }

    void capturedFilesGiveTheNumbersThatStandInThem()
    {
        Recording r = readOwn("misc/iperf3_tcp.json");
        QVERIFY(isNear(r.benchmarks.at(0).bytesPerSecond, 9.92e9 / 8));
        QVERIFY(isNear(r.benchmarks[0].rttSeconds, 250e-6) && r.benchmarks[0].streams == 4);
        r = readOwn("misc/iperf3_udp.json");
        QVERIFY(isNear(r.benchmarks.at(0).bytesPerSecond, 3.84e8 / 8));
        QVERIFY(r.benchmarks[0].bytes == 96000000 && r.benchmarks[0].what == "udp");
        r = readOwn("misc/iperf3_bidir.json");
        QCOMPARE(r.benchmarks.size(), std::size_t(2));
        QVERIFY(isNear(r.benchmarks[0].bytesPerSecond, 3.96e9 / 8));
        QVERIFY(isNear(r.benchmarks[1].bytesPerSecond, 2.36e9 / 8));
        QVERIFY(isNear(r.benchmarks[0].rttSeconds, 600e-6));
        r = readOwn("misc/iperf3_error.json");
        QCOMPARE(r.sources.at(0).refused,
            std::string("It is an iperf3 test that failed: unable to connect to server: No route to host"));
        r = readOwn("misc/fio_read.json");
        QVERIFY(r.benchmarks.at(0).bytesPerSecond == 4194304000 && isNear(r.benchmarks[0].seconds, 2.5));
        QVERIFY(hasNote(r, "direct=1 was not set") && hasNote(r, "below 5 s"));
        r = readOwn("misc/fio_write.json");
        QVERIFY(r.benchmarks.at(0).bytesPerSecond == 536870912 && isNear(r.benchmarks[0].seconds, 0.5));
        if (!isThere("misc/iperf3_udp.json"))
            return;
        r = readShared("misc/iperf3_tcp_P4.json");
        QVERIFY(isNear(r.benchmarks.at(0).bytesPerSecond, 19866398382.6295 / 8));
        QVERIFY(isNear(r.benchmarks[0].rttSeconds, 31e-6) && r.benchmarks[0].streams == 4);
        r = readShared("misc/iperf3_udp.json");
        QVERIFY(isNear(r.benchmarks.at(0).bytesPerSecond, 437532898.17362767 / 8));
        QVERIFY(r.benchmarks[0].bytes == 109510656 && r.benchmarks[0].what == "udp");
        r = readShared("misc/iperf3_bidir.json");
        QCOMPARE(r.benchmarks.size(), std::size_t(2));
        QVERIFY(isNear(r.benchmarks[0].bytesPerSecond, 11084611639.001104 / 8));
        QVERIFY(isNear(r.benchmarks[1].bytesPerSecond, 8072453721.2002153 / 8));
        QVERIFY(isNear(r.benchmarks[0].rttSeconds, 602e-6));
        r = readShared("misc/iperf3_error.json");
        QCOMPARE(r.sources.at(0).refused,
            std::string("It is an iperf3 test that failed: unable to connect to server: Connection refused"));
        r = readShared("misc/fio_read.json");
        QVERIFY(r.benchmarks.at(0).bytesPerSecond == 4879615829 && isNear(r.benchmarks[0].seconds, 3.002));
        QVERIFY(hasNote(r, "direct=1 was not set") && hasNote(r, "below 5 s"));
        r = readShared("misc/fio_write_jsonplus.json");
        QVERIFY(r.benchmarks.at(0).bytesPerSecond == 541200516 && isNear(r.benchmarks[0].seconds, 0.248));
    }
};

TRAINYARD_APPLESS_TEST(TestLinkBenchmarks)
#include "tst_link_benchmarks.moc"

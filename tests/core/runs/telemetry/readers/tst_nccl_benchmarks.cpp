// SPDX-License-Identifier: GPL-3.0-or-later
// nccl-tests, NCCL Inspector, flight recorder and NCCL's debug log: own fixtures in the shapes of the tools, and the
// captured files with numbers taken off them by hand.
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::trial;

namespace {

const std::string kRanks = "# nThread 1 nGpus 1 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 5 iters: 20\n"
                           "# Using devices\n"
                           "#  Rank  0 Group  0 Pid     16 on      node-a device  0 [0x19] NVIDIA H100\n"
                           "#  Rank  1 Group  0 Pid     17 on      node-a device  1 [0x3a] NVIDIA H100\n"
                           "#  Rank  2 Group  0 Pid     16 on      node-b device  0 [0x19] NVIDIA H100\n"
                           "#  Rank  3 Group  0 Pid     17 on      node-b device  1 [0x3a] NVIDIA H100\n";
const std::string kHeader =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n";
const std::string kFooter = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 15.1\n";

} // namespace

class TestNcclBenchmarks : public QObject {
    Q_OBJECT

private slots:
    void aTableGivesAPointOutOfPlaceAndOneInPlaceForEachRow()
    {
        const Recording r = read("run.txt",
            "# Collective test starting: all_gather_perf\n" + kRanks + kHeader
                + "  1048576  65536  float  none  -1  104.9  10.00  7.50  0  1.0e+02  10.49  7.86  N/A\n" + kFooter);
        QCOMPARE(r.sources[0].refused, std::string());
        QCOMPARE(r.benchmarks.size(), std::size_t(2));
        const BenchmarkPoint &out = r.benchmarks[0], &in = r.benchmarks[1];
        QCOMPARE(out.what, std::string("all_gather"));
        QCOMPARE(out.ranks, 4);
        QCOMPARE(out.nodes, 2);
        QCOMPARE(out.bytes, 1048576.0);
        QVERIFY(isNear(out.seconds, 104.9e-6));
        QVERIFY(isNear(out.bytesPerSecond, 10e9) && isNear(out.busBytesPerSecond, 7.5e9));
        QVERIFY(!out.isInPlace && in.isInPlace);
        QVERIFY(isNear(in.seconds, 100e-6));
        QVERIFY(!r.sources[0].isTruncated);
    }

    void columnsAreThoseOfTheHeader()
    {
        const std::string old = "#       size         count    type   redop     time   algbw   busbw  error     time   "
                                "algbw   busbw  error\n";
        Recording r = read("all_reduce.log",
            kRanks + old + "1048576 262144 float sum 200.0 5.24 7.86 1e-06 210.0 4.99 7.49 1e-06\n" + kFooter);
        QCOMPARE(r.benchmarks.size(), std::size_t(0)); // an error above zero is a wrong result
        r = read("all_reduce.log",
            kRanks + old + "1048576 262144 float sum 200.0 5.24 7.86 0e+00 210.0 4.99 7.49 0e+00\n" + kFooter);
        QCOMPARE(r.benchmarks.size(), std::size_t(2));
        QVERIFY(isNear(r.benchmarks[1].busBytesPerSecond, 7.49e9));
        const std::string wide =
            "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw busbw "
            "#wrong i_min i_max i_p99 i_cv% timestamp\n";
        r = read("all_reduce.log",
            kRanks + wide
                + "1048576 262144 float sum -1 200.0 5.24 7.86 0 190 210 209 1.5 210.0 4.99 7.49 0 200 220 219 1.5 "
                + "2026-01-01 10:00:00\n" + kFooter);
        QCOMPARE(r.benchmarks.size(), std::size_t(2));
        QVERIFY(isNear(r.benchmarks[1].bytesPerSecond, 4.99e9));
    }

    void launchersAndOtherLinesDoNotDisturb()
    {
        std::string text;
        for (const std::string &line : { std::string("# Collective test starting: all_reduce_perf") })
            text += "[1,0]<stdout>:" + line + "\r\n";
        text += "node-a:16:20 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] via P2P/IPC\r\n";
        for (const std::string &part : { kRanks, kHeader,
                 std::string("1048576 262144 float sum -1 200.0 5.24 7.86 0 210.0 4.99 7.49 0\n"), kFooter })
            for (std::size_t at = 0; at < part.size();) {
                const std::size_t end = part.find('\n', at);
                text += "\x1b[32m[1,0]<stdout>: " + part.substr(at, end - at) + "\x1b[0m\r\n";
                at = end + 1;
            }
        const Recording r = read("log", text);
        QCOMPARE(r.sources[0].kind, SourceKind::NcclTests);
        QCOMPARE(r.benchmarks.size(), std::size_t(2));
        QCOMPARE(r.benchmarks[0].ranks, 4);
    }

    void processesThatRanAloneAreRefused()
    {
        const Recording r = read("run.txt",
            "# Collective test starting: all_reduce_perf\n# Using devices\n"
            "#  Rank  0 Group  0 Pid 1 on node-a device 0 [0x19] NVIDIA H100\n"
                + kHeader
                + "1048576 262144 float sum -1 20.0 52.4 0.00 0 21.0 49.9 0.00 0\n# Avg bus bandwidth    : 0\n");
        QVERIFY(r.benchmarks.empty());
        QVERIFY(r.sources[0].refused.starts_with("It is a run of nccl-tests in which each process ran alone"));
    }

    void severalTestsInOneLogKeepTheirNames()
    {
        const std::string row = "1048576 262144 float sum -1 200.0 5.24 7.86 0 210.0 4.99 7.49 0\n";
        const Recording r = read("log",
            "# Collective test starting: all_reduce_perf\n" + kRanks + kHeader + row + kFooter
                + "# Collective test starting: reduce_scatter_perf\n" + kRanks + kHeader
                + "1048576 262144 float sum -1 200.0 5.24 3.93 0 210.0 4.99 3.74 0\n");
        QCOMPARE(r.benchmarks.size(), std::size_t(4));
        QCOMPARE(r.benchmarks[0].what, std::string("all_reduce"));
        QCOMPARE(r.benchmarks[2].what, std::string("reduce_scatter"));
        QVERIFY(r.sources[0].isTruncated); // the second has no footer
    }

    void theJsonIsReadWithItsStringsAndNullsAndWithoutItsEnvironment()
    {
        const std::string text =
            R"({"version":3,"start_time":"x","args":["/opt/alltoall_perf","-J","x"],"env":["TOKEN=secret"],"nccl_version":22907,)"
            R"("config":{"nthreads":1,"ngpus":4,"minimum_bytes":8,"blocking_collectives":"false","devices":[{"rank":0,"group":0,)"
            R"("hostname":"a","device":0},{"rank":4,"group":0,"hostname":"b","device":0}]},"results":[{"size":4096,"count":128,)"
            R"("redop":"none","root":"    -1","out_of_place":{"time":10.0,"alg_bw":0.4096,"bus_bw":0.3584,"nwrong":"nan"},)"
            R"("in_place":null},{"size":8192,"root":"    -1","redop":"none","out_of_place":null,"in_place":{"time":10.0,)"
            R"("alg_bw":0.8192,"bus_bw":0.7168,"nwrong":null}},{"size":16384,"out_of_place":{"time":1)";
        const Recording r = read("out.json", text); // aborted: it does not end
        QCOMPARE(r.sources[0].kind, SourceKind::NcclTestsJson);
        QVERIFY(r.sources[0].isTruncated);
        QCOMPARE(r.benchmarks.size(), std::size_t(2));
        QCOMPARE(r.benchmarks[0].what, std::string("all_to_all"));
        QCOMPARE(r.benchmarks[0].ranks, 8);
        QCOMPARE(r.benchmarks[0].nodes, 2);
        QVERIFY(isNear(r.benchmarks[1].busBytesPerSecond, 0.7168e9) && r.benchmarks[1].isInPlace);
        QVERIFY(r.arguments.empty());
    }

    void inspectorKeepsTheFastestOfEachSizeAndAllAsCollectives()
    {
        std::string text;
        for (const int us : { 300, 100, 200 })
            text +=
                R"({"header":{"id":"0x1","rank":3,"n_ranks":8,"nnodes":2},"metadata":{"dump_timestamp_us":1700000000000000,)"
                R"("hostname":"h","pid":7},"coll_perf":{"coll":"AllReduce","coll_sn":)"
                + std::to_string(us) + R"(,"coll_msg_size_bytes":1000000,"coll_exec_time_us":)" + std::to_string(us)
                + R"(,"coll_algobw_gbs":)" + std::to_string(1000.0 / us) + R"(,"coll_busbw_gbs":1}})" + "\n";
        text +=
            R"({"header":{"id":"0x2","rank":0,"n_ranks":2,"nnodes":1},"metadata":{"hostname":"h","pid":7},"p2p_perf":{"p2p":)"
            R"("Send","p2p_sn":1,"p2p_peer":1,"p2p_msg_size_bytes":5,"p2p_exec_time_us":2}})"
            "\n{\"header\":{\"id\":\n";
        const Recording r = read("h-pid7.log", text);
        QCOMPARE(r.sources[0].kind, SourceKind::NcclInspector);
        QCOMPARE(r.ranks.size(), std::size_t(1));
        QCOMPARE(r.ranks[0].rank, 3); // of its largest communicator
        QCOMPARE(r.ranks[0].collectives.size(), std::size_t(4));
        QCOMPARE(r.benchmarks.size(), std::size_t(2));
        QVERIFY(isNear(r.benchmarks[0].seconds, 100e-6) && isNear(r.benchmarks[0].bytesPerSecond, 10e9));
        QCOMPARE(r.benchmarks[1].what, std::string("send"));
        QVERIFY(r.sources[0].isTruncated);
    }

    void anOperationOfNoTimeIsNoPointOfABenchmark()
    {
        const auto record = [](const std::string &us) {
            return R"({"header":{"id":"0x1","rank":0,"n_ranks":8,"nnodes":2},"metadata":{"hostname":"h","pid":7},)"
                   R"("coll_perf":{"coll":"AllReduce","coll_sn":1,"coll_msg_size_bytes":1000000,"coll_exec_time_us":)"
                + us + "}}\n";
        };
        const Recording r = read("h-pid7.log", record("1e-300") + record("0.0009") + record("100"));
        QCOMPARE(r.ranks[0].collectives.size(), std::size_t(1));
        QCOMPARE(r.benchmarks.size(), std::size_t(1));
        QVERIFY(isNear(r.benchmarks[0].bytesPerSecond, 10e9)); // of what was told: 1 MB in 100 us
    }

    void theFlightRecorderTellsWhatIsNotDone()
    {
        const Recording r = read("nccl_trace_rank_5.json",
            R"({"version":"2.5","pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[0, 1, 2]"}},"pg_status":{"0":)"
            R"({"last_enqueued_collective":"9","last_completed_collective":7}},"entries":[{"process_group":["0","default_pg"],)"
            R"("collective_seq_id":8,"profiling_name":"nccl:_all_gather_base","time_created_ns":1700000000000000001,)"
            R"("input_sizes":[[2]],"input_dtypes":["BFloat16"],"output_sizes":[[6]],"output_dtypes":["BFloat16"],)"
            R"("duration_ms":1.5,"state":"started","is_p2p":false}]})");
        QCOMPARE(r.ranks.at(0).rank, 5);
        QCOMPARE(r.ranks[0].worldSize, 3);
        QCOMPARE(r.ranks[0].collectives.at(0).bytes, 12.0);
        QCOMPARE(r.ranks[0].collectives[0].duration, std::int64_t(1500000));
        QCOMPARE(r.zero, std::int64_t(1700000000000000001));
        QVERIFY(hasNote(r, "all_gather 8 of group 0 is started"));
        QVERIFY(hasNote(r, "enqueued collective 9 and completed no more than 7"));
        const Recording pickle =
            read("nccl_trace_rank_0", std::string_view("\x80\x02}q\x00(X\x07\x00\x00\x00version", 19));
        QVERIFY(pickle.sources[0].refused.starts_with("It is a flight recorder dump in Python's pickle format"));
    }

    void theDebugLogTellsRanksHostsAndTransports()
    {
        const auto init = [](const char *who, int device, int rank, int ranks) {
            return std::string(who) + " [" + std::to_string(device) + "] NCCL INFO ncclCommInitRank comm 0x1 rank "
                + std::to_string(rank) + " nranks " + std::to_string(ranks) + " cudaDev " + std::to_string(device)
                + " nvmlDev 0 busId c8000 commId 0x2 - Init COMPLETE\n";
        };
        const Recording r = read("job.out",
            "1: NCCL version 2.20.5+cuda12.4\n" + init("1: b-1:7:8", 0, 1, 2) + init("[1,0]<stdout>:a-1:5:6", 3, 0, 2)
                + init("[1,0]<stdout>:a-1:5:9", 3, 0, 1)
                + "a-1:5:6 [3] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via "
                + "NET/Socket/0\n[2026-05-05 06:16:47] a-1:5:6 [3] net.cc:33 NCCL WARN no plugin\n");
        QCOMPARE(r.sources[0].kind, SourceKind::NcclDebugLog);
        QCOMPARE(r.ranks.size(), std::size_t(2));
        QVERIFY(
            r.ranks[0].rank == 0 && r.ranks[0].host == "a-1" && r.ranks[0].gpu == "gpu3" && r.ranks[0].worldSize == 2);
        QVERIFY(r.ranks[1].rank == 1 && r.ranks[1].host == "b-1" && r.ranks[1].gpu == "gpu0");
        QVERIFY(hasNote(r, "via NET/Socket: TCP instead of InfiniBand"));
        QVERIFY(hasNote(r, "NCCL version 2.20.5+cuda12.4") && hasNote(r, "NCCL warns on a-1: no plugin"));
    }

    void capturedFilesGiveTheNumbersThatStandInThem()
    {
        ownFilesGiveTheNumbersThatStandInThem();
        if (isThere("nccl/nccl_tests_gb200_nvl72.txt"))
            sharedFilesGiveTheNumbersThatStandInThem();
    }

private:
    static void ownFilesGiveTheNumbersThatStandInThem()
    {
        Recording r = readOwn("nccl/all_reduce_two_nodes.txt");
        QCOMPARE(r.benchmarks.size(), std::size_t(10));
        QVERIFY(r.benchmarks[0].ranks == 16 && r.benchmarks[0].nodes == 2);
        QCOMPARE(r.benchmarks[0].what, std::string("all_reduce"));
        // the times were made of 80 µs and 100 GB/s, and printed with three digits at least
        const auto &first = r.benchmarks[0], &last = r.benchmarks[8];
        const double slope = (last.bytes - first.bytes) / (last.seconds - first.seconds);
        QVERIFY2(std::abs(slope - 100e9) < 0.01e9, qPrintable(QString::number(slope)));
        QVERIFY(std::abs(first.seconds - first.bytes / 100e9 - 80e-6) < 0.1e-6);
        r = readOwn("nccl/all_reduce_rack.txt");
        QCOMPARE(r.benchmarks.size(), std::size_t(6));
        QCOMPARE(r.benchmarks[5].ranks, 72);
        QVERIFY(isNear(r.benchmarks[5].busBytesPerSecond, 769.84e9) && isNear(r.benchmarks[0].seconds, 721.09e-6));
        QCOMPARE(r.benchmarks[0].what, std::string("all_reduce")); // 734.19 / 372.26 = 2 · 71 / 72
        r = readOwn("nccl/tagged.txt");
        QCOMPARE(r.benchmarks.size(), std::size_t(4));
        QVERIFY(isNear(r.benchmarks[0].seconds, 2e-3) && isNear(r.benchmarks[3].bytesPerSecond, 1.68e9));
        QCOMPARE(r.benchmarks[0].ranks, 2); // one is listed, but bandwidths of one rank have no bus
        r = readOwn("nccl/inspector.jsonl");
        QCOMPARE(r.benchmarks.size(), std::size_t(2));
        QVERIFY(isNear(r.benchmarks[0].busBytesPerSecond, 469.762048e9) && isNear(r.benchmarks[1].seconds, 8e-3));
        QCOMPARE(r.ranks.at(0).collectives.at(0).sequence, std::int64_t(250));
        r = readOwn("nccl/inspector.prom");
        QVERIFY(isNear(r.benchmarks.at(0).busBytesPerSecond, 512.25e9) && r.benchmarks[0].ranks == 4);
        QVERIFY(isNear(r.benchmarks.at(1).bytesPerSecond, 300.5e9));
        r = readOwn("nccl/flight_recorder.json");
        QCOMPARE(r.zero, std::int64_t(1770000002000000007));
        QCOMPARE(r.ranks.at(0).collectives.at(0).bytes, 128.0);
        r = readOwn("nccl/debug.log");
        QVERIFY(r.ranks.at(0).rank == 2 && r.ranks[0].worldSize == 24);
        QCOMPARE(r.ranks[0].host, std::string("lab-a"));
        QVERIFY(hasNote(r, "3 via NET/IB/GDRDMA, 1 via NET/Socket, 1 via P2P/IPC/read"));
        r = readOwn("nccl/profiler_example.txt");
        QVERIFY(r.sources.at(0).refused.starts_with("It is a dump of NCCL's example profiler plugin"));
    }

    static void sharedFilesGiveTheNumbersThatStandInThem()
    {
        Recording r = readShared("nccl/nccl_tests_all_reduce_h100_2node.txt");
        QCOMPARE(r.benchmarks.size(), std::size_t(10));
        QCOMPARE(r.benchmarks[0].ranks, 16);
        QCOMPARE(r.benchmarks[0].nodes, 2);
        QCOMPARE(r.benchmarks[0].what, std::string("all_reduce"));
        // slope of the out-of-place times from 536 MB to 8.6 GB: 104.9 GB/s
        const auto &first = r.benchmarks[0], &last = r.benchmarks[8];
        const double slope = (last.bytes - first.bytes) / (last.seconds - first.seconds);
        QVERIFY2(std::abs(slope - 104.9e9) < 0.05e9, qPrintable(QString::number(slope)));
        r = readShared("nccl/nccl_tests_gb200_nvl72.txt");
        QCOMPARE(r.benchmarks.size(), std::size_t(10));
        QCOMPARE(r.benchmarks[9].ranks, 72);
        QVERIFY(isNear(r.benchmarks[9].busBytesPerSecond, 846.82e9) && isNear(r.benchmarks[0].seconds, 1806.7e-6));
        QCOMPARE(r.benchmarks[0].what, std::string("all_reduce")); // 586.06 / 297.16 = 2 · 71 / 72
        r = readShared("nccl/nccl_tests_new_2.18_mpirun_tagged.txt");
        QCOMPARE(r.benchmarks.size(), std::size_t(6));
        QVERIFY(isNear(r.benchmarks[0].seconds, 4390.92e-6) && isNear(r.benchmarks[5].bytesPerSecond, 2.26e9));
        QCOMPARE(r.benchmarks[0].ranks, 2); // one is listed, but bandwidths of one rank have no bus
        r = readShared("nccl/nccl_inspector.jsonl");
        QCOMPARE(r.benchmarks.size(), std::size_t(2));
        QVERIFY(isNear(r.benchmarks[0].busBytesPerSecond, 485.119099e9) && isNear(r.benchmarks[1].seconds, 41057e-6));
        QCOMPARE(r.ranks.at(0).collectives.at(0).sequence, std::int64_t(1407));
        r = readShared("nccl/nccl_inspector.prom");
        QVERIFY(isNear(r.benchmarks.at(0).busBytesPerSecond, 678.263e9) && r.benchmarks[0].ranks == 4);
        QVERIFY(isNear(r.benchmarks.at(1).bytesPerSecond, 464.9e9));
        r = readShared("nccl/flight_recorder_v2.5.json");
        QCOMPARE(r.zero, std::int64_t(1724779239936775119));
        QCOMPARE(r.ranks.at(0).collectives.at(0).bytes, 48.0);
        r = readShared("nccl/nccl_debug_info.log");
        QCOMPARE(r.ranks.at(0).rank, 6);
        QCOMPARE(r.ranks[0].worldSize, 16);
        QCOMPARE(r.ranks[0].host, std::string("swat1-04"));
        QVERIFY(hasNote(r, "2 via NET/IBext_v8/GDRDMA, 1 via NET/Socket, 1 via P2P/IPC/read"));
        r = readShared("nccl/nccl_profiler_example_INVALID_JSON.txt");
        QVERIFY(r.sources.at(0).refused.starts_with("It is a dump of NCCL's example profiler plugin"));
    }
};

TRAINYARD_APPLESS_TEST(TestNcclBenchmarks)
#include "tst_nccl_benchmarks.moc"

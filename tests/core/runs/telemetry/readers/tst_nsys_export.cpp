// SPDX-License-Identifier: GPL-3.0-or-later
// Exports of Nsight Systems: a database of a few rows, made here, and what is read of it by hand.
#include "core/runs/telemetry/summarize.h"
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <sqlite3.h>

using namespace trainyard;
using namespace trainyard::trial;

namespace {

/// The bytes of a database that these statements make.
std::string databaseOf(const std::string &statements)
{
    sqlite3 *database = nullptr;
    sqlite3_open(":memory:", &database);
    char *error = nullptr;
    if (sqlite3_exec(database, statements.c_str(), nullptr, nullptr, &error) != SQLITE_OK)
        qFatal("%s", error);
    sqlite3_int64 size = 0;
    unsigned char *bytes = sqlite3_serialize(database, "main", &size, 0);
    std::string made(reinterpret_cast<const char *>(bytes), std::size_t(size));
    sqlite3_free(bytes);
    sqlite3_close(database);
    return made;
}

constexpr std::int64_t kProcess = std::int64_t(7) << 24, kBegan = 1'700'000'000'000'000'000;

std::string tables()
{
    const std::string process = std::to_string(kProcess), thread = std::to_string(kProcess + 11);
    return "CREATE TABLE StringIds (id INTEGER, value TEXT);"
           "INSERT INTO StringIds VALUES (1, 'ampere_bf16_gemm'), (2, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'), (3, "
           "'step 5');"
           "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
           "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES ("
        + std::to_string(kBegan)
        + ");"
          "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT); INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA "
          "A100-SXM4-80GB');"
          "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId "
          "INTEGER);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (500, 600, "
        + thread
        + ", 1);"
          "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, "
          "correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 5000, 0, 7, 1, "
        + process + ", 1), (4000, 8000, 0, 9, 2, " + process
        + ", 2);"
          "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, "
          "correlationId INTEGER, globalPid INTEGER);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (100, 400, 0, 7, 3, "
        + process
        + ");"
          "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, text TEXT, textId INTEGER, globalTid INTEGER);"
          "INSERT INTO NVTX_EVENTS VALUES (50, 8500, NULL, 3, "
        + thread + "), (60, 70, 'forward', NULL, " + thread + ");";
}

} // namespace

class TestNsysExport : public QObject {
    Q_OBJECT

private slots:
    void kernelsCopiesLaunchesAndStepsAreRead()
    {
        const Recording r = read("report.sqlite", databaseOf(tables()));
        QVERIFY2(r.sources[0].refused.empty(), r.sources[0].refused.c_str());
        QVERIFY(r.sources[0].kind == SourceKind::NsysExport);
        QCOMPARE(r.ranks.size(), std::size_t(1));
        const RankRecording &rank = r.ranks[0];
        QCOMPARE(rank.gpu, std::string("NVIDIA A100-SXM4-80GB"));
        QCOMPARE(rank.streams.size(), std::size_t(2));
        const RecordedSpans &own = rank.streams[0].spans; // of stream 7: the copy stands before the kernel
        QCOMPARE(own.size(), std::size_t(2));
        QVERIFY(own.work[0] == RecordedWork::Copy && own.work[1] == RecordedWork::Compute);
        QCOMPARE(own.duration[1], std::int64_t(4000));
        QCOMPARE(own.start[1] - own.launchedAt[1], std::int64_t(500));
        QVERIFY(rank.streams[1].spans.work[0] == RecordedWork::Communication);
        QCOMPARE(rank.steps.size(), std::size_t(1));
        QCOMPARE(rank.steps[0].number, std::int64_t(5));
        QCOMPARE(r.zero + own.start[1], kBegan + 1000);
        // 100 to 400 and 1000 to 8000: of 7900 ns 600 idle, 4000 computing
        const RankSummary summary = summarizeRank(r, rank);
        QVERIFY(summary.breakdown == (TemporalBreakdown { 7.9, 4, 3.3, 0.6 }));
        QCOMPARE(summary.communicationOverlap.value_or(0), 0.25);
    }

    void otherDatabasesAndDamagedOnesAreRefused()
    {
        const auto refusedOf = [](const std::string &bytes) { return read("a.db", bytes).sources.at(0).refused; };
        QVERIFY(refusedOf(databaseOf("CREATE TABLE a (b INTEGER);")).find("not one that Nsight Systems")
            != std::string::npos);
        const std::string whole = databaseOf(tables());
        for (std::size_t size = 16; size < whole.size(); size += 997) {
            const Recording r = read("a.db", whole.substr(0, size)); // refused, or with what could be read
            QVERIFY(!r.sources.at(0).refused.empty() || r.ranks.size() <= 1);
        }
    }

    void filesOfOtherProfilersSayHowToConvertThem()
    {
        for (const char *name : { "run.nsys-rep", "host.xplane.pb", "a.pftrace", "b.perfetto-trace", "c.rpd" }) {
            const Recording r = read(name,
                std::string("\x0a\x01\x02"
                            "binary",
                    9));
            QVERIFY2(!r.sources.at(0).refused.empty() && r.sources[0].kind == SourceKind::OtherProfiler, name);
        }
        QVERIFY(
            read("run.nsys-rep", "NSYS").sources.at(0).refused.find("nsys export --type sqlite") != std::string::npos);
    }
};

TRAINYARD_GUILESS_TEST(TestNsysExport)
#include "tst_nsys_export.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// The breakdown of real traces against what Meta's Holistic Trace Analysis printed of them, figure by figure, and of
// two small ones of ours against what was worked out by hand.

#include "core/runs/telemetry/read_sources.h"
#include "core/runs/telemetry/summarize.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QTest>

#include <cmath>
#include <map>

using namespace trainyard;

namespace {

const QString kTraces = QStringLiteral(TRAINYARD_SHARED_DIR "/traces"),
              kOwnTraces = QStringLiteral(TRAINYARD_SOURCE_DIR "/tests/data/traces");

struct Golden {
    double idle = 0, compute = 0, nonCompute = 0, kernelTime = 0, overlapPercent = NAN;
    double idlePercent = 0, computePercent = 0, nonComputePercent = 0;
};
using GoldenRanks = std::map<int, Golden>;

/// Sections "##### name", in them the tables "== temporal breakdown" and "== overlap".
std::map<QString, GoldenRanks> readGolden(const QString &path)
{
    std::map<QString, GoldenRanks> golden;
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return golden;
    QString section, table;
    while (!file.atEnd()) {
        const QString line = QString::fromUtf8(file.readLine()).trimmed();
        if (line.startsWith(QStringLiteral("#####")))
            section = line.mid(5).trimmed();
        else if (line.startsWith(QStringLiteral("==")))
            table = line.mid(2).trimmed();
        const QStringList cells = line.split(u' ', Qt::SkipEmptyParts);
        bool isRow = false;
        if (!cells.isEmpty())
            cells.front().toInt(&isRow);
        if (isRow && table == QStringLiteral("temporal breakdown") && cells.size() == 9) {
            Golden &row = golden[section][cells[1].toInt()];
            row.idle = cells[2].toDouble();
            row.compute = cells[3].toDouble();
            row.nonCompute = cells[4].toDouble();
            row.kernelTime = cells[5].toDouble();
            row.idlePercent = cells[6].toDouble();
            row.computePercent = cells[7].toDouble();
            row.nonComputePercent = cells[8].toDouble();
        } else if (isRow && table == QStringLiteral("overlap") && cells.size() == 3) {
            golden[section][cells[1].toInt()].overlapPercent =
                cells[2] == QStringLiteral("NaN") ? NAN : cells[2].toDouble();
        }
    }
    return golden;
}

/// The folder of a section, or the file whose name begins like it.
QString sourceOf(const QString &traces, const QString &section)
{
    const QString path = traces + u'/' + section;
    if (QDir(path).exists())
        return path;
    const QDir folder(path.left(path.lastIndexOf(u'/')));
    const QStringList files = folder.entryList({ path.mid(path.lastIndexOf(u'/') + 1) + u'*' }, QDir::Files);
    return files.size() == 1 ? folder.filePath(files.front()) : QString();
}

double rounded(double value)
{
    return std::nearbyint(value * 100) / 100;
}

bool isEqual(const RankSummary &rank, const Golden &row)
{
    if (!rank.breakdown || rank.communicationOverlap.has_value() == std::isnan(row.overlapPercent))
        return false;
    const TemporalBreakdown &own = *rank.breakdown;
    const auto isShare = [&](std::int64_t part, double printed) {
        return std::abs(rounded(100.0 * double(part) / double(own.kernelTime)) - printed) < 0.011;
    };
    return double(own.kernelTime) == row.kernelTime && double(own.compute) == row.compute
        && double(own.nonCompute) == row.nonCompute && double(own.idle) == row.idle
        && isShare(own.idle, row.idlePercent) && isShare(own.compute, row.computePercent)
        && isShare(own.nonCompute, row.nonComputePercent)
        && (!rank.communicationOverlap || std::abs(*rank.communicationOverlap * 100 - row.overlapPercent) < 1e-9);
}

/// How many there are; -1 with a warning where one is not.
int ranksThatAreEqual(const QString &traces, const std::map<QString, GoldenRanks> &golden)
{
    int ranks = 0;
    for (const auto &[section, expected] : golden) {
        const auto recording = readSources({ sourceOf(traces, section).toStdString() }, {}, 2);
        const std::vector<RankSummary> summary =
            recording ? summarize(*recording, SummaryRule::Hta) : std::vector<RankSummary>();
        if (summary.empty() || summary.size() != expected.size()) {
            qWarning("%s: %zu ranks", qPrintable(section), summary.size());
            return -1;
        }
        for (const RankSummary &rank : summary) {
            const auto row = expected.find(rank.rank);
            if (row == expected.end() || !isEqual(rank, row->second)) {
                qWarning("%s: rank %d differs", qPrintable(section), rank.rank);
                return -1;
            }
            ++ranks;
        }
    }
    return ranks;
}

} // namespace

class TestHtaGolden : public QObject {
    Q_OBJECT
private slots:
    void everyRankOfEveryTraceEqualsHta()
    {
        QCOMPARE(ranksThatAreEqual(kOwnTraces, readGolden(kOwnTraces + QStringLiteral("/breakdown.txt"))), 2);
        const auto golden = readGolden(kTraces + QStringLiteral("/hta_golden.txt"));
        if (golden.empty())
            return; // the folder of real traces is not beside the repository
        QVERIFY(golden.size() >= 8);
        QVERIFY(ranksThatAreEqual(kTraces, golden) >= 23);
    }

    void unionsTouchAndOverlapsAreCountedOnce()
    {
        const auto all = unionOf({ { 10, 20 }, { 0, 5 }, { 20, 30 }, { 12, 14 }, { 40, 39 } });
        QVERIFY((all == std::vector<Interval> { { 0, 5 }, { 10, 30 }, { 40, 39 } }));
        QCOMPARE(lengthOf(all), 24);
        const auto other = unionOf({ { 4, 11 }, { 29, 50 } });
        QCOMPARE(overlapOf(all, other), 1 + 1 + 1);
        QCOMPARE(overlapOf(other, all), overlapOf(all, other));
    }

    void kernelsAreClassedByHtasPatterns()
    {
        QCOMPARE(htaClassOf("ncclDevKernel_AllReduce_Sum_f16_RING_LL(x)"), HtaClass::Communication);
        QCOMPARE(htaClassOf("void ncclKernel_x"), HtaClass::Communication);
        QCOMPARE(htaClassOf("void dpsk::ep::internode::dispatch<8>"), HtaClass::Computation); // as HTA has it
        QCOMPARE(htaClassOf("Memcpy HtoD (Pinned -> Device)"), HtaClass::Memory);
        QCOMPARE(htaClassOf("CopyMemcpy"), HtaClass::Other);
        QCOMPARE(htaClassOf("Event Sync"), HtaClass::Other);
        QCOMPARE(htaClassOf("sm80_xmma_gemm"), HtaClass::Computation);
    }

    void whatHtaDoesNotKnowIsWhatTheRecordingSays()
    {
        QCOMPARE(htaClassOf("exchange", RecordedWork::Communication), HtaClass::Communication);
        QCOMPARE(htaClassOf("load", RecordedWork::Copy), HtaClass::Memory);
        QCOMPARE(htaClassOf("forward", RecordedWork::Compute), HtaClass::Computation);
        QCOMPARE(htaClassOf("ncclDevKernel_x", RecordedWork::Compute), HtaClass::Communication);
        Recording recording;
        NameTable name(recording.names);
        RankRecording &rank = recording.ranks.emplace_back();
        rank.source = 0;
        recording.sources.emplace_back().kind = SourceKind::Recording;
        RecordedStream gpu;
        gpu.spans.start = { 0, 60'000 };
        gpu.spans.duration = { 60'000, 40'000 };
        gpu.spans.name = { name("forward"), name("exchange") };
        gpu.spans.work = { RecordedWork::Compute, RecordedWork::Communication };
        rank.streams = { gpu };
        QVERIFY(summarizeRank(recording, rank, SummaryRule::Hta).breakdown == (TemporalBreakdown { 100, 60, 40, 0 }));
        // In a trace of the profiler names of kernels decide, as in HTA, which knows no dispatch of experts
        recording.sources[0].kind = SourceKind::KinetoTrace;
        QVERIFY(summarizeRank(recording, rank, SummaryRule::Hta).breakdown == (TemporalBreakdown { 100, 60, 40, 0 }));
        recording.ranks[0].streams[0].spans.name[1] = name("void dpsk::ep::internode::dispatch<8>");
        QVERIFY(summarizeRank(recording, rank, SummaryRule::Hta).breakdown == (TemporalBreakdown { 100, 100, 0, 0 }));
    }

    void withTwoStepsTheLastDoesNotCount()
    {
        Recording recording;
        NameTable name(recording.names);
        RankRecording &rank = recording.ranks.emplace_back();
        RecordedStream host, gpu;
        host.isGpu = false;
        const auto add = [](RecordedSpans &spans, Moment start, std::int64_t duration, std::uint32_t called,
                             RecordedWork work) {
            spans.start.push_back(start * 1000);
            spans.duration.push_back(duration * 1000);
            spans.name.push_back(called);
            spans.work.push_back(work);
        };
        add(host.spans, 0, 100, name("ProfilerStep#1"), RecordedWork::Annotation);
        add(host.spans, 100, 100, name("ProfilerStep#2"), RecordedWork::Annotation);
        add(gpu.spans, 50, 10, name("gemm"), RecordedWork::Compute);
        add(gpu.spans, 120, 30, name("gemm"), RecordedWork::Compute); // runs in the last step, launched before it
        add(gpu.spans, 160, 30, name("gemm"), RecordedWork::Compute);
        gpu.spans.launch = { 1, 2, 3 };
        gpu.spans.launchedAt = { 40'000, 99'999, 101'000 };
        rank.streams = { gpu, host };
        const RankSummary both = summarizeRank(recording, rank, SummaryRule::Hta);
        // the second was launched at 99.999 µs, which HTA rounds up into the last step
        QVERIFY(both.breakdown == (TemporalBreakdown { 10, 10, 0, 0 }));
        QVERIFY((both.steps == std::vector<std::int64_t> { 1, 2 }));
        rank.streams[0].spans.launchedAt[1] = 99'000;
        QVERIFY(summarizeRank(recording, rank, SummaryRule::Hta).breakdown == (TemporalBreakdown { 100, 40, 0, 60 }));
    }
};

TRAINYARD_GUILESS_TEST(TestHtaGolden)
#include "tst_hta_golden.moc"

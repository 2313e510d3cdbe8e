// SPDX-License-Identifier: GPL-3.0-or-later
// The breakdown of real traces against what Meta's Holistic Trace Analysis printed of them, figure by figure.

#include "core/telemetry/read_sources.h"
#include "core/telemetry/summarize.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QTest>

#include <cmath>
#include <map>

using namespace trainyard;

namespace {

const QString kTraces = QStringLiteral(TRAINYARD_SHARED_DIR "/traces");

struct Golden {
    double idle = 0, compute = 0, nonCompute = 0, kernelTime = 0, overlapPercent = NAN;
    double idlePercent = 0, computePercent = 0, nonComputePercent = 0;
};
using GoldenRanks = std::map<int, Golden>;

/// Sections "##### name", in them the tables "== temporal breakdown" and "== overlap".
std::map<QString, GoldenRanks> readGolden()
{
    std::map<QString, GoldenRanks> golden;
    QFile file(kTraces + QStringLiteral("/hta_golden.txt"));
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
QString sourceOf(const QString &section)
{
    const QString path = kTraces + u'/' + section;
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

} // namespace

class TestHtaGolden : public QObject {
    Q_OBJECT
private slots:
    void everyRankOfEveryTraceEqualsHta()
    {
        const auto golden = readGolden();
        if (golden.empty())
            QSKIP("The folder of real traces is not beside the repository");
        QVERIFY(golden.size() >= 8);
        int ranks = 0;
        for (const auto &[section, expected] : golden) {
            const QString source = sourceOf(section);
            QVERIFY2(!source.isEmpty(), qPrintable(section));
            const auto recording = readSources({ source.toStdString() }, {}, 2);
            QVERIFY(recording.has_value());
            const std::vector<RankSummary> summary = summarize(*recording);
            QCOMPARE(summary.size(), expected.size());
            for (const RankSummary &rank : summary) {
                const QByteArray what = (section + QStringLiteral(" rank %1").arg(rank.rank)).toUtf8();
                const auto row = expected.find(rank.rank);
                QVERIFY2(row != expected.end() && rank.breakdown, what);
                const TemporalBreakdown &own = *rank.breakdown;
                const auto percent = [&](std::int64_t part) {
                    return rounded(100.0 * double(part) / double(own.kernelTime));
                };
                QVERIFY2(double(own.kernelTime) == row->second.kernelTime, what);
                QVERIFY2(double(own.compute) == row->second.compute, what);
                QVERIFY2(double(own.nonCompute) == row->second.nonCompute, what);
                QVERIFY2(double(own.idle) == row->second.idle, what);
                QVERIFY2(std::abs(percent(own.idle) - row->second.idlePercent) < 0.011, what);
                QVERIFY2(std::abs(percent(own.compute) - row->second.computePercent) < 0.011, what);
                QVERIFY2(std::abs(percent(own.nonCompute) - row->second.nonComputePercent) < 0.011, what);
                QCOMPARE(rank.communicationOverlap.has_value(), !std::isnan(row->second.overlapPercent));
                if (rank.communicationOverlap)
                    QVERIFY2(std::abs(*rank.communicationOverlap * 100 - row->second.overlapPercent) < 1e-9, what);
                ++ranks;
            }
        }
        QVERIFY(ranks >= 23);
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
        QVERIFY(summarizeRank(recording, rank).breakdown == (TemporalBreakdown { 100, 60, 40, 0 }));
        // In a trace of the profiler names of kernels decide, as in HTA, which knows no dispatch of experts
        recording.sources[0].kind = SourceKind::KinetoTrace;
        QVERIFY(summarizeRank(recording, rank).breakdown == (TemporalBreakdown { 100, 60, 40, 0 }));
        recording.ranks[0].streams[0].spans.name[1] = name("void dpsk::ep::internode::dispatch<8>");
        QVERIFY(summarizeRank(recording, rank).breakdown == (TemporalBreakdown { 100, 100, 0, 0 }));
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
        const RankSummary both = summarizeRank(recording, rank);
        // the second was launched at 99.999 µs, which HTA rounds up into the last step
        QVERIFY(both.breakdown == (TemporalBreakdown { 10, 10, 0, 0 }));
        QVERIFY((both.steps == std::vector<std::int64_t> { 1, 2 }));
        rank.streams[0].spans.launchedAt[1] = 99'000;
        QVERIFY(summarizeRank(recording, rank).breakdown == (TemporalBreakdown { 100, 40, 0, 60 }));
    }
};

TRAINYARD_GUILESS_TEST(TestHtaGolden)
#include "tst_hta_golden.moc"

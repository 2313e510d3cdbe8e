// SPDX-License-Identifier: GPL-3.0-or-later
// Files of benchmarks and samples as killed jobs, torn writes and bad disks leave them: cut at each percent, changed at
// random, empty. Nothing crashes, each is read or refused, and what is read is whole.
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QDirIterator>
#include <QTest>

using namespace trainyard;
using namespace trainyard::trial;

namespace {

/// What every recording keeps, however its file came.
bool isWhole(const Recording &recording)
{
    if (recording.sources.size() != 1)
        return false;
    for (const SampleSeries &series : recording.series)
        if (series.at.size() != series.value.size() || series.at.empty() || !std::ranges::is_sorted(series.at))
            return false;
    for (const BenchmarkPoint &point : recording.benchmarks)
        if (!(point.bytes >= 0) || !(point.seconds >= 0) || !(point.bytesPerSecond >= 0) || point.ranks < 0)
            return false;
    for (const RankRecording &rank : recording.ranks) {
        for (const RecordedCollective &one : rank.collectives)
            if (one.operation >= recording.names.size() || one.duration < 0
                || (one.group != kNoIndex && one.group >= recording.groups.size()))
                return false;
        for (const RecordedStream &stream : rank.streams)
            if (stream.spans.name.size() != stream.spans.size() || stream.spans.work.size() != stream.spans.size())
                return false;
    }
    return true;
}

/// Names and bytes of ours, and of the captured ones where they are.
std::vector<std::pair<std::string, std::string>> files()
{
    std::vector<std::pair<std::string, std::string>> all;
    const auto add = [&](const std::string &folder, const std::string &file) {
        if (const std::string path = folder + "/" + file; std::filesystem::exists(path))
            all.emplace_back(file, bytesOf(path));
    };
    for (const std::string &root : { ours(""), shared("") }) {
        for (const char *folder : { "nccl", "dcgm", "otlp", "prometheus" })
            for (QDirIterator at(QString::fromStdString(root + folder), QDir::Files); at.hasNext();)
                add(root, std::string(folder) + "/" + QFileInfo(at.next()).fileName().toStdString());
        for (const char *file : { "smi/dmon.txt", "misc/iperf3_tcp.json", "smi/dmon_pcut.txt",
                 "misc/iperf3_tcp_P4.json", "misc/iperf3_udp.json", "misc/iperf3_bidir.json", "misc/fio_read.json",
                 "misc/fio_write.json", "misc/fio_write_jsonplus.json" })
            add(root, file);
    }
    return all;
}

/// A table of nccl-tests, by its name here and there.
bool isTable(const std::string &file)
{
    return file.starts_with("nccl/nccl_tests") || file.starts_with("nccl/all_reduce");
}

} // namespace

class TestDamagedMeasurements : public QObject {
    Q_OBJECT

private slots:
    void filesCutAtEachPercentGiveWhatTheyHave()
    {
        const auto all = files();
        QVERIFY(all.size() > 30);
        for (const auto &[file, bytes] : all) {
            std::size_t before = 0;
            for (std::size_t percent = 0; percent <= 100; ++percent) {
                const Recording r = read(file, bytes.substr(0, bytes.size() * percent / 100));
                QVERIFY2(isWhole(r), file.c_str());
                // a longer piece never gives fewer collectives or points of a table
                if (isTable(file)) {
                    QVERIFY2(r.benchmarks.size() >= before, file.c_str());
                    before = r.benchmarks.size();
                }
            }
            QVERIFY2(!isTable(file) || before >= 6, file.c_str());
        }
    }

    void changedFilesAreReadOrRefused()
    {
        std::mt19937 random(19);
        for (const auto &[file, bytes] : files())
            for (int i = 0; i < (bytes.size() > 20000 ? 30 : 150); ++i)
                QVERIFY2(isWhole(read(file, mutated(bytes, random))), file.c_str());
    }

    void otherLineEndsChangeNothing()
    {
        for (const auto &[file, bytes] : files()) {
            if (file.ends_with(".pb"))
                continue;
            std::string windows;
            for (const char byte : bytes)
                windows += byte == '\n' ? std::string("\r\n") : std::string(1, byte);
            const Recording a = read(file, bytes), b = read(file, windows);
            QCOMPARE(a.benchmarks, b.benchmarks);
            QCOMPARE(a.series.size(), b.series.size());
            QCOMPARE(a.sources[0].taken, b.sources[0].taken);
            QVERIFY2(a.sources[0].refused.empty() == b.sources[0].refused.empty(), file.c_str());
        }
    }
};

TRAINYARD_APPLESS_TEST(TestDamagedMeasurements)
#include "tst_damaged_measurements.moc"

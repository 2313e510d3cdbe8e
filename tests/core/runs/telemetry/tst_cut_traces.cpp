// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of our own, and every real one where they are, cut at each percent of the file as a full disk or a killed job
// leaves it: it opens with what it has. Of larger ones at each eleventh percent, unless TRAINYARD_ALL_CUTS is set, as
// scripts/trials does.

#include "core/runs/telemetry/file/check_recording.h"
#include "core/runs/telemetry/read_sources.h"
#include "tests/support/test_program.h"

#include "tests/core/runs/telemetry/kineto_job.h"

#include <QTemporaryDir>
#include <QTest>
#include <zlib.h>

#include <algorithm>
#include <filesystem>

using namespace trainyard;

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLarge = 300'000, kLargePacked = 30'000; // bytes of a file

constexpr std::size_t kTooLittle = 512; // bytes that may tell nothing yet
constexpr std::int64_t kFew = 100; // events, which one block of gzip holds
constexpr std::int64_t kEnd = 30; // of a hundred: how unevenly bytes of a compressed file hold events

/// All that its reader came by.
std::int64_t eventsOf(const RecordedSource &source)
{
    std::int64_t events = source.taken;
    for (const Dropped &dropped : source.dropped)
        events += dropped.count;
    return events;
}

std::vector<std::string> filesIn(const fs::path &folder)
{
    std::vector<std::string> files;
    if (fs::is_directory(folder))
        for (const auto &entry : fs::recursive_directory_iterator(folder))
            if (entry.is_regular_file() && entry.path().parent_path() != folder)
                files.push_back(entry.path().string());
    std::ranges::sort(files);
    return files;
}

/// A job of three ranks, plain and packed, uneven enough that it does not pack to almost nothing.
void writeOwn(const std::string &folder)
{
    testing::KinetoJob job { .ranks = 3, .layers = 60, .beneath = 4 };
    job.compute = [](int rank, int layer) { return 300 + (rank * 7919 + layer * 104'729) % 9973; };
    job.late = [](int rank, int layer) { return (rank * 6151 + layer * 12'289) % 997; };
    testing::writeKineto(job, folder);
    for (int rank = 0; rank < job.ranks; ++rank) {
        const std::string text = testing::kinetoText(job, rank);
        const gzFile file = gzopen((folder + "/packed_rank" + std::to_string(rank) + ".json.gz").c_str(), "wb");
        QCOMPARE(gzwrite(file, text.data(), unsigned(text.size())), int(text.size()));
        QCOMPARE(gzclose(file), Z_OK);
    }
}

} // namespace

class TestCutTraces : public QObject {
    Q_OBJECT

private slots:
    void everyTraceOpensHoweverMuchOfItIsThere_data()
    {
        QTest::addColumn<QString>("file");
        const std::string own = m_folder.filePath("own/job").toStdString();
        fs::create_directories(own);
        writeOwn(own);
        for (const fs::path &folder : { fs::path(own).parent_path(),
                 fs::path(TRAINYARD_SOURCE_DIR "/tests/data/traces"), fs::path(TRAINYARD_SHARED_DIR "/traces") })
            for (const std::string &file : filesIn(folder))
                QTest::newRow(fs::path(file).filename().c_str()) << QString::fromStdString(file);
    }

    // spans of a part <= those of a longer part; events of p % of the bytes >= about p % of the events
    void everyTraceOpensHoweverMuchOfItIsThere()
    {
        QFETCH(QString, file);
        const fs::path original = file.toStdString();
        const fs::path copy = m_folder.filePath(QString::fromStdString(original.filename().string())).toStdString();
        fs::copy_file(original, copy);
        fs::permissions(copy, fs::perms::owner_write, fs::perm_options::add);
        const auto bytes = fs::file_size(copy);
        const auto whole = readSource(copy.string(), {});
        QVERIFY(whole.has_value());
        const RecordedSource &told = whole->sources[0];
        QVERIFY(!told.isTruncated);
        const bool isLarge = bytes > (copy.extension() == ".gz" ? kLargePacked : kLarge);
        const int step = isLarge && qEnvironmentVariableIsEmpty("TRAINYARD_ALL_CUTS") ? 11 : 1;
        std::size_t spans = whole->spanCount();
        for (int percent = 99; percent > 0; percent -= step) {
            fs::resize_file(copy, bytes * std::uintmax_t(percent) / 100);
            const auto part = readSource(copy.string(), {});
            const QByteArray at = QByteArray::number(percent) + " %";
            QVERIFY2(part.has_value(), at);
            const RecordedSource &source = part->sources[0];
            if (!source.refused.empty() && told.refused.empty()) { // nothing in it tells what it is
                const auto text = openSource(copy.string(), {});
                QVERIFY2(text && text->text.text.size() < kTooLittle, (at + ": " + source.refused.c_str()));
                continue;
            }
            if (!told.refused.empty()) {
                QVERIFY2(!source.refused.empty(), at);
                continue;
            }
            if (fs::file_size(copy) < 16) // of 88 bytes
                continue;
            QVERIFY2(source.kind == told.kind && source.isTruncated, at);
            QVERIFY2(recording_file::checkRecording(*part).has_value(), at);
            QVERIFY2(part->spanCount() <= spans, at);
            spans = part->spanCount();
            if (eventsOf(told) > kFew)
                QVERIFY2(eventsOf(source) * 100 >= eventsOf(told) * (percent - kEnd), at);
        }
        fs::remove(copy);
    }

private:
    QTemporaryDir m_folder;
};

TRAINYARD_GUILESS_TEST(TestCutTraces)
#include "tst_cut_traces.moc"

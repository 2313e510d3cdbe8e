// SPDX-License-Identifier: GPL-3.0-or-later
// Every real trace, cut at each percent of its file as a full disk or a killed job leaves it: it opens with what it
// has. Of the largest each seventh percent, unless TRAINYARD_ALL_CUTS is set.

#include "core/telemetry/file/check_recording.h"
#include "core/telemetry/read_sources.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>

using namespace trainyard;

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLarge = 500'000; // bytes of a compressed file

std::vector<std::string> traces()
{
    std::vector<std::string> files;
    if (const fs::path folder = TRAINYARD_SHARED_DIR "/traces"; fs::is_directory(folder))
        for (const auto &entry : fs::recursive_directory_iterator(folder))
            if (entry.is_regular_file() && entry.path().parent_path() != folder)
                files.push_back(entry.path().string());
    std::ranges::sort(files);
    return files;
}

} // namespace

class TestCutTraces : public QObject {
    Q_OBJECT

private slots:
    void everyTraceOpensHoweverMuchOfItIsThere_data()
    {
        const auto files = traces();
        if (files.empty())
            QSKIP("The folder of real traces is not beside the repository");
        QTest::addColumn<QString>("file");
        for (const std::string &file : files)
            QTest::newRow(fs::path(file).filename().c_str()) << QString::fromStdString(file);
    }

    // spans and dropped events of a part <= those of a longer part
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
        const bool isLarge = copy.extension() == ".gz" && bytes > kLarge;
        const int step = isLarge && qEnvironmentVariableIsEmpty("TRAINYARD_ALL_CUTS") ? 7 : 1;
        std::size_t spans = whole->spanCount();
        for (int percent = 99; percent > 0; percent -= step) {
            fs::resize_file(copy, bytes * std::uintmax_t(percent) / 100);
            const auto part = readSource(copy.string(), {});
            const QByteArray at = QByteArray::number(percent) + " %";
            QVERIFY2(part.has_value(), at);
            const RecordedSource &source = part->sources[0];
            if (!told.refused.empty() || bytes * std::uintmax_t(percent) / 100 < 20) { // too little to tell what it is
                QVERIFY2(!source.refused.empty() || source.isTruncated, at);
                continue;
            }
            QVERIFY2(source.refused.empty(), (at + ": " + source.refused.c_str()));
            QVERIFY2(source.kind == told.kind && source.isTruncated, at);
            QVERIFY2(recording_file::checkRecording(*part).has_value(), at);
            QVERIFY2(part->spanCount() <= spans, at);
            spans = part->spanCount();
            if (percent >= 90) // events are spread over the file
                QVERIFY2(spans * 2 >= whole->spanCount(), at);
        }
        fs::remove(copy);
    }

private:
    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestCutTraces)
#include "tst_cut_traces.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings as files: what is written comes back equal, whatever it is; what is broken is told with its place.
#include "core/runs/telemetry/recording_file.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"

#include "tests/core/runs/telemetry/random_recording.h"
#include "tests/core/runs/telemetry/recording_text.h"
#include "tests/core/runs/telemetry/trace_texts.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include <sys/resource.h>

using namespace trainyard;
using nlohmann::json;
using testing::isSame;
using testing::RandomRecording;
using testing::textOf;
using testing::unpacked;

namespace {

Recording small()
{
    Recording r;
    r.sources = { { "a.json", SourceKind::KinetoTrace, 100, 3 } };
    r.names = { "gemm", "all_reduce" };
    r.groups = { { "dp", "data parallel", { 0, 1 } } };
    RankRecording &rank = r.ranks.emplace_back();
    rank.rank = 0;
    rank.source = 0;
    rank.steps = { { 4, 0, 900 } };
    RecordedStream &stream = rank.streams.emplace_back();
    stream.spans = { { 10, 30, 700 }, { 5, 600, 100 }, { 0, 1, 0 },
        { RecordedWork::Compute, RecordedWork::Communication, RecordedWork::Compute }, { 1, 2, 0 },
        { 1, 29, kNoMoment } };
    rank.collectives = { { 0, 1, 7, 4096, 30, 600, 0, 1 } };
    r.series = { { "step_time", "s", 0, "", true, { 4, 5 }, { 0.25, std::nan("") }, 0 } };
    return r;
}

/// What the reader says of the small recording's document after a change.
std::string faultOf(const std::function<void(json &)> &change)
{
    json document = json::parse(textOf(small()));
    change(document);
    // The format comes first, as nlohmann's sorted objects do not have it.
    json rest = document;
    rest.erase("format");
    rest.erase("version");
    const std::string head = "{\"format\":" + document.value("format", json()).dump()
        + ",\"version\":" + document.value("version", json()).dump() + ",";
    const auto read = testing::readText("a.trainyard-recording", head + rest.dump().substr(1));
    return read ? "" : toString(read.error());
}

std::vector<std::string> filesIn(const std::string &folder)
{
    std::vector<std::string> files;
    if (std::filesystem::is_directory(folder))
        for (const auto &entry : std::filesystem::recursive_directory_iterator(folder))
            if (entry.is_regular_file())
                files.push_back(entry.path().string());
    std::ranges::sort(files);
    return files;
}

} // namespace

class TestRecordingFile : public QObject {
    Q_OBJECT

private slots:
    void whateverIsWrittenComesBackEqual()
    {
        for (int seed = 0; seed < test::trials(60); ++seed) {
            const Recording recording = RandomRecording(std::uint64_t(seed))();
            const std::string text = textOf(recording);
            QVERIFY2(!text.empty(), qPrintable(QString::number(seed)));
            QVERIFY2(json::accept(text), qPrintable(QString::number(seed)));
            const auto read = testing::readText("a.trainyard-recording", text);
            QVERIFY2(read, read ? "" : toString(read.error()).c_str());
            QVERIFY2(isSame(*read, recording), qPrintable(QString::number(seed)));
            QCOMPARE(textOf(*read), text);
        }
    }

    /// Traces and files of all other formats of ours, and real traces where they are.
    void everyTraceComesBackEqual()
    {
        const std::vector<std::string> own = filesIn(TRAINYARD_SOURCE_DIR "/tests/data/traces"),
                                       formats = filesIn(TRAINYARD_SOURCE_DIR "/tests/data/formats"),
                                       shared = filesIn(TRAINYARD_SHARED_DIR "/traces");
        QVERIFY(formats.size() > 55);
        QCOMPARE(withSpansThatComeBack(own), 2);
        QVERIFY(withSpansThatComeBack(formats) >= 2);
        if (const int compared = withSpansThatComeBack(shared); !shared.empty())
            QVERIFY2(compared >= 25, qPrintable(QString::number(compared)));
    }

    void aFolderOfRanksIsOneFileAndOneSourceMore()
    {
        Recording first = small(), second = small();
        first.zero = 5'000'000'000;
        second.zero = 6'000'000'000;
        second.ranks.front().rank = 1;
        second.models = { { "llama", "{}", 0 } };
        second.nodes = { { { "n0" }, 1, "h100", 8, 8, 5e10, 4.5e11, true, 0, 0 } };
        second.switches = { { "leaf", { "n0" }, 5e10, false, 0 } };
        second.prices = { { "p5", "H100", "us-east-1", "a", 8, 98, 40, 0 } };
        const Recording both = mergeRecordings({ first, second });
        const QString a = m_folder.filePath("a.trainyard-recording"), b = m_folder.filePath("b.trainyard-recording");
        QVERIFY(writeRecording(first, a.toStdString()) && writeRecording(second, b.toStdString()));
        const auto read = readSources({ a.toStdString(), b.toStdString() }, {}, 2);
        QVERIFY(read && isSame(*read, both));
        // The second's moments count from the first's zero; its sources stand behind the first's
        QCOMPARE(both.ranks[1].streams[0].spans.start[0], Moment(1'000'000'010));
        QCOMPARE(both.models.at(0).source, 1u);
        QCOMPARE(both.nodes.at(0).source, 1u);
        QCOMPARE(both.switches.at(0).source, 1u);
        QCOMPARE(both.prices.at(0).source, 1u);
    }

    void driftsOfPartsAreToldAboutOneMoment()
    {
        Recording first = small(), second = small();
        first.alignedAt = 100;
        first.ranks.front().clockOffset = 7;
        second.alignedAt = 1100;
        second.ranks.front().rank = 1;
        second.ranks.front().clockOffset = 5;
        second.ranks.front().clockDrift = 0.01;
        const Recording both = mergeRecordings({ first, second });
        QCOMPARE(both.alignedAt, Moment(100));
        // offset' + d (m - 100) = offset + d (m - 1100): offset' = 5 - 0.01 × 1000
        QCOMPARE(both.ranks[1].clockOffset, -5.0);
        QCOMPARE(both.ranks[0].clockOffset, 7.0);
    }

    void equalRecordingsAreEqualBytes()
    {
        QCOMPARE(*formatRecording(RandomRecording(3)()), *formatRecording(RandomRecording(3)()));
        QVERIFY(*formatRecording(RandomRecording(3)()) != *formatRecording(RandomRecording(4)()));
    }

    void whatPacksTooWellIsStillRead()
    {
        // A million equal spans pack at over 200 : 1, beyond which files are refused as bombs
        Recording recording = small();
        RecordedSpans &spans = recording.ranks.front().streams.front().spans;
        for (int i = 0; i < 1'000'000; ++i) {
            spans.start.push_back(1000 + i * 100);
            spans.duration.push_back(50);
            spans.name.push_back(0);
            spans.work.push_back(RecordedWork::Compute);
            spans.launch.push_back(0);
            spans.launchedAt.push_back(spans.start.back() - 10);
        }
        const std::string path = m_folder.filePath("even.trainyard-recording").toStdString();
        QVERIFY(writeRecording(recording, path));
        const auto read = readSource(path, {});
        QVERIFY(read && isSame(*read, recording));
        QVERIFY(std::filesystem::file_size(path) < 4'000'000);
    }

    void aFaultNamesItsPlace()
    {
        QCOMPARE(faultOf([](json &) {}), std::string());
        const auto says = [](const std::function<void(json &)> &change, const char *what) {
            const std::string fault = faultOf(change);
            const bool isTold = fault.find(what) != std::string::npos;
            if (!isTold)
                qWarning("%s", fault.c_str());
            return isTold;
        };
        const auto spans = [](json &d) -> json & { return d["ranks"][0]["streams"][0]["spans"]; };
        QVERIFY(says([](json &d) { d["version"] = 2; }, "/version: is 2, of a recording that a later version"));
        QVERIFY(says([&](json &d) { spans(d)["name"][2] = 2; }, "/ranks/0/streams/0/spans/name/2: is 2"));
        QVERIFY(says([&](json &d) { spans(d)["name"][1] = "x"; }, "/ranks/0/streams/0/spans/name/1"));
        QVERIFY(says([&](json &d) { spans(d)["work"][1] = 8; },
            "/ranks/0/streams/0/spans"
            "/"
            "work/1: 8 is no kind of work"));
        QVERIFY(says([&](json &d) { spans(d)["duration_ns"].push_back(1); },
            "/ranks/0/streams/0/spans/duration_ns: has 4 values; expected 3"));
        QVERIFY(says([&](json &d) { spans(d).erase("work"); }, "/ranks/0/streams/0/spans/work: has 0 values"));
        QVERIFY(says([&](json &d) { spans(d)["start_ns"][2] = -1; }, "/ranks/0/streams/0/spans/start_ns/2"));
        QVERIFY(says([&](json &d) { spans(d)["duration_ns"][0] = -1; }, "/ranks/0/streams/0/spans/duration_ns/0"));
        QVERIFY(says(
            [&](json &d) { spans(d)["start_ns"][0] = std::int64_t(1) << 62; }, "/ranks/0/streams/0/spans/start_ns/0"));
        QVERIFY(
            says([](json &d) { d["ranks"][0]["collectives"]["span"][0] = 3; }, "/ranks/0/collectives/span/0: is 3"));
        QVERIFY(
            says([](json &d) { d["ranks"][0]["collectives"].erase("span"); }, "/ranks/0/collectives: lacks columns"));
        QVERIFY(says([](json &d) { d["ranks"][0]["collectives"]["bytes"].push_back(1); }, "/ranks/0/collectives/"));
        QVERIFY(says([](json &d) { d["ranks"][0]["source"] = 1; }, "/ranks/0/source: is 1"));
        QVERIFY(says([](json &d) { d["ranks"][0]["rank"] = 1e30; }, "/ranks/0/rank"));
        QVERIFY(says([](json &d) { d["ranks"][0]["rank"] = 2147483647; }, "/ranks/0/rank: is 2147483647"));
        QVERIFY(says([](json &d) { d["ranks"][0]["clock_offset_ns"] = 1e19; }, "/ranks/0/clock_offset_ns"));
        QVERIFY(says([](json &d) { d["ranks"][0]["clock_drift"] = 1.5; }, "/ranks/0/clock_drift"));
        QVERIFY(says([&](json &d) { spans(d)["start_ns"][0] = -(std::int64_t(1) << 61); },
            "/ranks/0/streams/0/spans/start_ns/0"));
        QVERIFY(says(
            [](json &d) {
                d["ranks"][0]["steps"] = { { "number", { std::int64_t(1) << 53 } }, { "start_ns", { 0 } },
                    { "end_ns", { 1 } } };
            },
            "/ranks/0/steps/number/0"));
        QVERIFY(says([](json &d) { d["series"][0]["at"][1] = -5; }, "/series/0/at/1: is"));
        QVERIFY(says([](json &d) { d["series"][0]["value"].erase(0); }, "/series/0/value: has 1 values; expected 2"));
    }

    void keysOfOtherVersionsAreLeftOutAndNamed()
    {
        json document = json::parse(textOf(small()));
        document["ranks"][0]["mood"] = { { "deep", { 1, 2, "}" } } };
        const std::string text = R"({"format":"trainyard.recording","version":1,)" + document.dump().substr(1);
        const auto read = testing::readText("a.trainyard-recording", text);
        QVERIFY(read);
        QCOMPARE(read->sources.size(), std::size_t(2));
        QCOMPARE(read->sources[1].kind, SourceKind::Recording);
        QVERIFY(read->sources[1].notes.at(0).find("/ranks/0/mood") != std::string::npos);
        Recording known = *read;
        known.sources.pop_back();
        QVERIFY(isSame(known, small()));
    }

    void aFileThatEndsEarlyOpensWithWhatItHas()
    {
        const Recording whole = RandomRecording(11)();
        const std::string packed = *formatRecording(whole), text = unpacked(packed);
        std::size_t before = 0;
        const std::string path = m_folder.filePath("cut.trainyard-recording").toStdString();
        for (int percent = 1; percent < 100; ++percent) {
            std::ofstream(path, std::ios::binary) << packed.substr(0, packed.size() * std::size_t(percent) / 100);
            const auto read = readSource(path, {});
            QVERIFY(read);
            if (read->sources.empty() || !read->sources.back().refused.empty())
                QVERIFY2(percent < 10, qPrintable(QString::number(percent))); // a gzip header, and nothing
        }
        for (std::size_t size = 50; size < text.size(); size += text.size() / 400) {
            const auto read = testing::readText("a.trainyard-recording", text.substr(0, size));
            QVERIFY2(read, (std::to_string(size) + (read ? "" : toString(read.error()))).c_str());
            QVERIFY(read->sources.back().isTruncated);
            const std::size_t spans = read->spanCount();
            QVERIFY(spans >= before && spans <= whole.spanCount());
            before = spans;
            QVERIFY(formatRecording(*read));
        }
        QVERIFY(before > 0);
    }

    void mutatedFilesAreReadOrRefusedAndNothingElse()
    {
        std::mt19937_64 random(5);
        int readAll = 0;
        std::vector<std::string> whole;
        for (std::uint64_t seed = 0; seed < 20; ++seed)
            whole.push_back(textOf(RandomRecording(seed)()));
        for (std::size_t i = 0; i < std::size_t(test::trials(400)); ++i) {
            std::string text = whole[i % whole.size()];
            for (std::uint64_t edits = random() % 6 + 1; edits > 0 && text.size() > 60; --edits) {
                const std::size_t at = 45 + random() % (text.size() - 45);
                switch (random() % 4) {
                case 0:
                    text[at] = static_cast<char>(random());
                    break;
                case 1:
                    text.erase(at, random() % 30);
                    break;
                case 2:
                    text.insert(at, text.substr(random() % text.size(), random() % 30));
                    break;
                default:
                    text[at] = "0123456789-,[]{}\":null"[random() % 22];
                }
            }
            const auto read = testing::readText("a.trainyard-recording", text);
            readAll += read ? 1 : 0;
            if (read)
                QVERIFY(formatRecording(*read)); // what is read is sound
            else
                QVERIFY(!read.error().what.empty());
        }
        QVERIFY(readAll > 0);
    }

    void aFileThatClaimsMoreThanItHasTakesNoMemory()
    {
        std::string text = R"({"format":"trainyard.recording","version":1,"ranks":[{"collectives":{"group":[)";
        for (int i = 0; i < 100000; ++i)
            text += "0,";
        const auto read = testing::readText("a.trainyard-recording", text + "0]}}]}");
        QVERIFY(!read);
        QVERIFY(toString(read.error()).find("/ranks/0/collectives/group") != std::string::npos);
        const auto deep = testing::readText("a.trainyard-recording",
            R"({"format":"trainyard.recording","version":1,"x":)" + std::string(1 << 20, '[')
                + std::string(1 << 20, ']') + "}");
        QVERIFY(deep);
    }

    void aStoppedWriterLeavesNothing()
    {
        std::stop_source stop;
        stop.request_stop();
        SourceOptions options;
        options.stop = stop.get_token();
        const QString path = m_folder.filePath("none.trainyard-recording");
        const auto written = writeRecording(small(), path.toStdString(), options);
        QVERIFY(!written);
        QCOMPARE(written.error().code, ErrorCode::Cancelled);
        QVERIFY(!QFile::exists(path));
        QCOMPARE(formatRecording(small(), options).error().code, ErrorCode::Cancelled);
        const auto nowhere = writeRecording(small(), m_folder.filePath("no/folder/a").toStdString());
        QCOMPARE(nowhere.error().code, ErrorCode::CannotWrite);
    }

    void aRecordingThatIsNoneIsNotWritten()
    {
        Recording recording = small();
        recording.ranks.front().streams.front().spans.name[1] = 2;
        const auto written = formatRecording(recording);
        QVERIFY(!written);
        QCOMPARE(QString::fromStdString(written.error().where), QStringLiteral("/ranks/0/streams/0/spans/name/1"));
    }

    /// RLIMIT_FSIZE stands for a full disk: the system refuses the bytes beyond it as it does there.
    void aFullDiskKeepsWhatFitsAndSaysWhatIsMissing()
    {
        Recording whole = small();
        RankRecording &rank = whole.ranks.front();
        RecordedSpans &spans = rank.streams.front().spans;
        spans = {};
        rank.collectives.clear();
        std::mt19937_64 random(3);
        constexpr int kSpans = 60'000;
        for (int i = 0; i < kSpans; ++i) {
            spans.start.push_back(i * 1'000);
            spans.duration.push_back(std::int64_t(random() % 1'000'000'000));
            spans.name.push_back(0);
            spans.work.push_back(RecordedWork::Compute);
        }
        const auto all = formatRecording(whole);
        QVERIFY(all.has_value());
        const std::string path = m_folder.filePath("full.trainyard-recording").toStdString();
        const auto limited = [&](rlim_t bytes) {
            rlimit before {};
            getrlimit(RLIMIT_FSIZE, &before);
            const rlimit small { bytes, before.rlim_max };
            const auto handler = std::signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &small);
            auto written = writeWhatFits(whole, path);
            setrlimit(RLIMIT_FSIZE, &before);
            std::signal(SIGXFSZ, handler);
            return written;
        };
        const auto kept = limited(all->size() / 2);
        QVERIFY(kept.has_value());
        QVERIFY(kept->starts_with("There was no room on the disk"));
        const auto read = readSource(path, {});
        QVERIFY(read.has_value());
        const RecordedSpans &left = read->ranks.at(0).streams.at(0).spans;
        QVERIFY(left.size() > kSpans / 2 * 0.6 && left.size() < kSpans / 2 * 1.1);
        QVERIFY(std::equal(left.duration.rbegin(), left.duration.rend(), spans.duration.rbegin())); // the latest
        QCOMPARE(read->ranks.at(0).steps, rank.steps);
        QCOMPARE(read->sources.at(0).notes.back(), *kept);
        QCOMPARE(read->sources.at(0).dropped.back().count, std::int64_t(kSpans - left.size()));
        const auto fits = limited(RLIM_INFINITY);
        QVERIFY(fits && fits->empty());
        QVERIFY(isSame(readSource(path, {}).value(), whole));
        QVERIFY(!limited(0)); // nothing fits: what was there stays
        QVERIFY(isSame(readSource(path, {}).value(), whole));
    }

private:
    /// Of the files that are equal after writing and reading those with spans; -1 with a warning where one is not.
    [[nodiscard]] int withSpansThatComeBack(const std::vector<std::string> &files) const
    {
        SourceOptions options;
        options.keepsHostSpans = true;
        int compared = 0;
        for (const std::string &file : files) {
            auto recording = readSource(file, options);
            if (recording)
                for (RecordedSource &source : recording->sources)
                    source.mayTakeLinePattern = false; // a hint for whoever opens the file: kept in none
            const std::string path = m_folder.filePath("trace.trainyard-recording").toStdString();
            const auto written = recording ? writeRecording(*recording, path) : std::unexpected(recording.error());
            const auto read = readSource(path, {});
            if (!written || !read || !isSame(*read, *recording)) {
                qWarning("%s: %s", file.c_str(), written ? "differs" : toString(written.error()).c_str());
                return -1;
            }
            compared += recording->spanCount() > 0 ? 1 : 0;
        }
        return compared;
    }

    QTemporaryDir m_folder;
};

TRAINYARD_APPLESS_TEST(TestRecordingFile)
#include "tst_recording_file.moc"

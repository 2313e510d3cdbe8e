// SPDX-License-Identifier: GPL-3.0-or-later
// Traces that were cut off or whose bytes were changed: read as far as they go, never further than they are.

#include "core/runs/telemetry/collectives.h"
#include "core/runs/telemetry/summarize.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"

#include "tests/core/runs/telemetry/trace_texts.h"

#include <QDirIterator>
#include <QElapsedTimer>
#include <QTest>

#include <random>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

constexpr int kEvents = 400;

std::string ownTrace(const char *lineEnd = "\n")
{
    std::vector<std::string> events { span("user_annotation", "ProfilerStep#3", "100", "9000", {}, "1"),
        R"({"name": "thread_name", "ph": "M", "ts": 1, "pid": 0, "tid": 1, "args": {"name": "thread 1 python"}})" };
    for (int i = 0; i < kEvents; ++i) {
        const std::string at = std::to_string(100 + 20 * i) + ".25", id = std::to_string(i + 1);
        events.push_back(call(at, id));
        events.push_back(i % 5 == 0 ? kernel("ncclDevKernel_AllReduce_Sum_f16_RING_LL(x)", at, "9.5", id,
                             R"("Collective name": "allreduce", "In msg nelems": 64, "dtype": "Half", )"
                             R"("Process Group Name": "0", "Process Group Ranks": "[0, 1]")")
                                    : kernel("gemm_" + std::to_string(i % 7), at, "11.125", id));
    }
    const std::string text =
        trace(events, R"("distributedInfo": {"rank": 0, "world_size": 2},)", R"(, "traceName": "x")");
    std::string result;
    for (const char c : text)
        result += c == '\n' ? std::string(lineEnd) : std::string(1, c);
    return result;
}

/// What holds of every recording, however its file was damaged.
bool isSound(const Recording &recording)
{
    for (const RankRecording &rank : recording.ranks) {
        for (const RecordedStream &stream : rank.streams) {
            const RecordedSpans &spans = stream.spans;
            if (spans.duration.size() != spans.size() || spans.name.size() != spans.size()
                || spans.work.size() != spans.size() || (!spans.launch.empty() && spans.launch.size() != spans.size())
                || (!spans.launchedAt.empty() && spans.launchedAt.size() != spans.size())
                || !std::ranges::is_sorted(spans.start))
                return false;
            for (const std::uint32_t name : spans.name)
                if (name >= recording.names.size())
                    return false;
        }
        for (const RecordedCollective &one : rank.collectives)
            if (one.stream >= rank.streams.size() || one.span >= rank.streams[one.stream].spans.size()
                || rank.streams[one.stream].spans.start[one.span] != one.start
                || one.operation >= recording.names.size()
                || (one.group != kNoIndex && one.group >= recording.groups.size()))
                return false;
    }
    return summarize(recording).size() == recording.ranks.size()
        && collectiveBandwidths(recording, matchCollectives(recording)).size() <= recording.names.size() * 100;
}

} // namespace

class TestKinetoDamage : public QObject {
    Q_OBJECT
private slots:
    void aTraceCutAnywhereHasItsWholeEvents()
    {
        const std::string text = ownTrace();
        std::size_t spans = 0;
        for (int percent = 1; percent <= 100; ++percent) {
            const auto recording = readText("a.json", text.substr(0, text.size() * std::size_t(percent) / 100));
            QVERIFY2(recording.has_value(), QByteArray::number(percent));
            QCOMPARE(recording->sources[0].isTruncated, percent < 100);
            QVERIFY(isSound(*recording));
            const std::size_t now = recording->spanCount();
            QVERIFY(now >= spans && now + 5 >= std::size_t(kEvents * percent / 100));
            QCOMPARE(droppedOf(*recording, "no JSON"), 0);
            spans = now;
        }
        QCOMPARE(spans, std::size_t(kEvents + 1));
    }

    void realTracesCutAtEachPercentOpen()
    {
        std::vector<std::string> files { TRAINYARD_SOURCE_DIR "/tests/data/traces/two_ranks/rank0.json",
            TRAINYARD_SOURCE_DIR "/tests/data/traces/two_ranks/rank1.json" };
        if (hasShared())
            for (const char *name :
                { "hta_sampled_2of128/sampled_rank-0.json.gz", "edge/mi250_minitoy_train_ROCm6_2_kineto.json.gz",
                    "edge/triton_example.json.gz", "edge/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz",
                    "edge/event_sync_trace.json.gz", "dlrm_a100_8rank/worker0_step_12.1694128201545.pt.trace.json" })
                files.push_back(std::string(TRAINYARD_SHARED_DIR "/traces/") + name);
        for (const std::string &path : files) {
            const auto file = openSource(path, {});
            QVERIFY(file.has_value());
            const std::string name = path.substr(path.find("/traces/") + 8);
            const auto whole = readText(name, std::string(file->text.text));
            QVERIFY(whole && !whole->sources[0].isTruncated && whole->sources[0].notes.size() <= 1);
            QCOMPARE(droppedOf(*whole, "no JSON"), 0);
            std::size_t spans = 0;
            for (std::size_t percent = 1; percent < 100; ++percent) {
                const auto part =
                    readText(name, std::string(file->text.text.substr(0, file->text.text.size() * percent / 100)));
                QVERIFY2(part && part->sources[0].isTruncated && isSound(*part), name.c_str());
                QVERIFY(part->spanCount() >= spans);
                spans = part->spanCount();
            }
            QVERIFY(spans > 0 || whole->spanCount() < 10);
            QVERIFY(spans <= whole->spanCount());
        }
    }

    void linesMayEndInCarriageReturns()
    {
        const auto plain = readText("a.json", ownTrace()), windows = readText("a.json", ownTrace("\r\n"));
        QCOMPARE(windows->ranks, plain->ranks);
        QVERIFY(!windows->sources[0].isTruncated);
    }

    void emptyTextsAreNobodys()
    {
        QVERIFY(!readText("a.json", ""));
        QVERIFY(!readText("rank0_trace.json", "   \n"));
        QVERIFY(!readText("a.json", R"({"schemaVersion": 1, "deviceProperties": []})")); // no events
        const auto none = readText("a.json", trace({}));
        QVERIFY(none && none->spanCount() == 0 && !none->sources[0].isTruncated);
    }

    void changedBytesCostNoMoreThanTheEventsTheyAreIn()
    {
        const std::string text = ownTrace();
        std::mt19937 random(7);
        std::size_t least = kEvents;
        for (int run = 0; run < test::trials(400); ++run) {
            std::string changed = text;
            const int changes = 1 + int(random() % 3);
            for (int i = 0; i < changes; ++i) {
                const std::size_t at = random() % changed.size();
                switch (random() % 4) {
                case 0:
                    changed[at] = static_cast<char>(random());
                    break;
                case 1:
                    changed[at] = "{}[]\",:\\0e-"[random() % 11];
                    break;
                case 2:
                    changed.erase(at, 1 + random() % 9);
                    break;
                default:
                    changed.insert(at, changed.substr(random() % changed.size(), random() % 40));
                }
            }
            const auto recording = readText("rank0_trace.json", changed);
            if (!recording)
                continue;
            QVERIFY(isSound(*recording));
            least = std::min(least, recording->spanCount());
        }
        QVERIFY2(least > kEvents * 9 / 10, QByteArray::number(qulonglong(least)));
    }

    void whatOnlyLooksLikeEventsEndsSoon()
    {
        std::string strings = "{\"traceEvents\": [", nested = strings, open = strings;
        while (strings.size() < (1u << 20)) {
            strings += "{\"ph\":\"a {\"ph\" \"a ";
            nested += "{\"ph\":[";
            open += "{\"ph\":\"X\",\"args\":[{\"a\":1},";
        }
        for (const std::string &text :
            { strings, nested, open, std::string(1 << 20, '['), std::string(1 << 20, '"') }) {
            QElapsedTimer timer;
            timer.start();
            const auto recording = readText("rank0_trace.json", text);
            QVERIFY(!recording || isSound(*recording));
            QVERIFY2(timer.elapsed() < 20000, QByteArray::number(timer.elapsed()));
        }
    }
};

TRAINYARD_GUILESS_TEST(TestKinetoDamage)
#include "tst_kineto_damage.moc"

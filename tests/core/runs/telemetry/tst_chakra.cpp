// SPDX-License-Identifier: GPL-3.0-or-later
// Chakra execution traces, and its neighbours that are refused by name.

#include "tests/core/runs/telemetry/trace_texts.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <random>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

std::string varint(std::uint64_t value)
{
    std::string bytes;
    for (; value >= 0x80; value >>= 7)
        bytes += static_cast<char>(0x80 | (value & 0x7f));
    return bytes + static_cast<char>(value);
}
std::string number(int field, std::uint64_t value)
{
    return varint(std::uint64_t(field) << 3) + varint(value);
}
std::string bytes(int field, const std::string &text)
{
    return varint(std::uint64_t(field) << 3 | 2) + varint(text.size()) + text;
}
std::string message(const std::string &text)
{
    return varint(text.size()) + text;
}
std::string attribute(const std::string &name, int kind, std::uint64_t value)
{
    return bytes(10, bytes(1, name) + number(kind, value));
}
std::string node(std::uint64_t id, const std::string &name, std::uint64_t type, const std::string &rest)
{
    return message(number(1, id) + bytes(2, name) + number(3, type) + rest);
}

std::string ownTrace()
{
    return message(bytes(1, "0.0.4"))
        + node(7, "gemm", 4, number(6, 100) + number(7, 40) + attribute("is_cpu_op", 27, 0))
        + node(9, "ncclKernel_AllReduce", 7,
            number(6, 50) + number(7, 30) + attribute("comm_type", 9, 0) + attribute("comm_size", 9, 4096))
        + node(11, "aten::mm", 4, number(6, 10) + number(7, 5) + attribute("is_cpu_op", 27, 1));
}

} // namespace

class TestChakra : public QObject {
    Q_OBJECT
private slots:
    void nodesWithTimesAreSpans()
    {
        const auto recording = readText("run.3.et", ownTrace());
        QVERIFY(recording.has_value());
        QCOMPARE(recording->sources[0].kind, SourceKind::ChakraTrace);
        QCOMPARE(recording->ranks[0].rank, 3);
        const RecordedSpans &spans = recording->ranks[0].streams[0].spans;
        QCOMPARE(spans.size(), std::size_t(2));
        QCOMPARE(spans.start[0], 50'000);
        QCOMPARE(spans.duration[1], 40'000);
        QCOMPARE(recording->ranks[0].collectives[0].bytes, 4096.0);
        QCOMPARE(recording->ranks[0].collectives[0].span, 0u);
        QCOMPARE(recording->names[recording->ranks[0].collectives[0].operation], std::string("all_reduce"));
        QCOMPARE(droppedOf(*recording, "host"), 1);
        SourceOptions all;
        all.keepsHostSpans = true;
        QCOMPARE(readText("run.3.et", ownTrace(), all)->spanCount(), std::size_t(3));
    }

    void cutOrChangedOnesAreReadAsFarAsTheyGo()
    {
        const std::string text = ownTrace();
        for (std::size_t size = 0; size < text.size(); ++size)
            if (const auto part = readText("run.3.et", text.substr(0, size)); part)
                QVERIFY(part->spanCount() <= 2);
        std::mt19937 random(11);
        for (int run = 0; run < 5000; ++run) {
            std::string changed = text;
            for (int i = 0; i < 3; ++i)
                changed[random() % changed.size()] = static_cast<char>(random());
            readText("run.3.et", changed);
        }
    }

    void theRealOnesAreRead()
    {
        // Of a file whose name tells the rank, and of one without times, as simulators are fed: durations, one behind
        // the other
        QTemporaryDir folder;
        const auto write = [&](const char *name, const std::string &content) {
            const std::string path = folder.filePath(name).toStdString();
            std::ofstream(path, std::ios::binary) << content;
            return path;
        };
        const auto own = readSource(
            write("lab_reduce_scatter.9.et",
                message(bytes(1, "0.0.4"))
                    + node(1, "REDUCE_SCATTER", 7, attribute("comm_type", 9, 7) + attribute("comm_size", 9, 262144))),
            {});
        QVERIFY(own && own->ranks.size() == 1 && own->ranks[0].rank == 9);
        QCOMPARE(own->ranks[0].collectives.size(), std::size_t(1));
        QCOMPARE(own->ranks[0].collectives[0].bytes, 262144.0);
        QCOMPARE(own->names[own->ranks[0].collectives[0].operation], std::string("reduce_scatter"));
        std::string nodes = message(bytes(1, "0.0.4"));
        for (std::uint64_t i = 0; i < 150; ++i)
            nodes += node(i, "gemm", 4, number(7, 10 + i) + attribute("is_cpu_op", 27, 0));
        const auto untimed = readSource(write("lab.0.et", nodes), {});
        QVERIFY(untimed && untimed->ranks[0].rank == 0 && !untimed->sources[0].isTruncated);
        QCOMPARE(untimed->spanCount(), std::size_t(150));
        QCOMPARE(untimed->sources[0].notes.size(), std::size_t(1)); // durations alone
        std::int64_t busy = 0;
        for (const std::int64_t duration : untimed->ranks[0].streams[0].spans.duration)
            busy += duration;
        QCOMPARE(busy, (150 * 10 + 149 * 150 / 2) * 1000);
        if (!hasShared())
            return;
        const auto astra = readSource(TRAINYARD_SHARED_DIR "/traces/chakra/astra_reduce_scatter_16npus_1MB.9.et", {});
        QVERIFY(astra && astra->ranks[0].rank == 9);
        QCOMPARE(astra->ranks[0].collectives.size(), std::size_t(1));
        QCOMPARE(astra->ranks[0].collectives[0].bytes, 1048576.0);
        QCOMPARE(astra->names[astra->ranks[0].collectives[0].operation], std::string("reduce_scatter"));
        const auto real = readSource(TRAINYARD_SHARED_DIR "/traces/chakra/chakra.0.et.gz", {});
        QVERIFY(real && real->ranks[0].rank == 0);
        QVERIFY(real->spanCount() > 100);
        QVERIFY(!real->sources[0].isTruncated);
        QCOMPARE(real->sources[0].notes.size(), std::size_t(1)); // durations alone
    }

    void jsonFormsAreRefusedByName()
    {
        const auto chakra = readText("a.json", R"({"workload_graph": [{"Id": 1, "Name": "x", "NodeType": 4}]})");
        QVERIFY(!chakra && chakra.error().what.find("Chakra execution trace as JSON") != std::string::npos);
        const auto pytorch =
            readText("a.json", R"({"schema": "1.0.1", "pid": 5, "time": "x", "start_ts": 1, "nodes": []})");
        QVERIFY(!pytorch && pytorch.error().what.find("PyTorch execution trace") != std::string::npos);
    }
};

TRAINYARD_GUILESS_TEST(TestChakra)
#include "tst_chakra.moc"

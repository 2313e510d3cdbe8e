// SPDX-License-Identifier: GPL-3.0-or-later
// How much memory reading a profiler trace takes: as much as what is kept of it, however long the file is. A child
// reads, and the system tells the most that it ever held.

#include "core/runs/telemetry/read_sources.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>
#include <zlib.h>

#include <cstdio>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace trainyard;

namespace {

constexpr std::size_t kFileBytes = 96'000'000;
constexpr long kConstant = 8 << 10; // KiB: windows of the file and of the packed file, marks of one window
constexpr long kKeptBytes = 130; // of a kernel and its launch: five arrays that doubled and were sorted, rows of links

struct Answer {
    long grownKib = 0; // the most that was held, above what was there before
    std::size_t spans = 0, dropped = 0;
};

long mostKib()
{
    rusage usage {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

Answer readInChild(const std::string &file)
{
    int ends[2];
    if (pipe(ends) != 0)
        return {};
    const pid_t child = fork();
    if (child == 0) {
        Answer answer;
        const long before = mostKib();
        const auto recording = readSource(file, {});
        answer.grownKib = mostKib() - before;
        if (recording && recording->sources[0].refused.empty()) {
            answer.spans = recording->spanCount();
            for (const Dropped &dropped : recording->sources[0].dropped)
                answer.dropped += dropped.reason == "Python functions" ? static_cast<std::size_t>(dropped.count) : 0;
        }
        _exit(write(ends[1], &answer, sizeof answer) == sizeof answer ? 0 : 1);
    }
    ::close(ends[1]);
    Answer answer;
    if (read(ends[0], &answer, sizeof answer) != sizeof answer)
        answer = {};
    ::close(ends[0]);
    waitpid(child, nullptr, 0);
    return answer;
}

struct Written {
    std::size_t functions = 0, kernels = 0;
};

/// Python functions with a kernel and its launch at every `every`-th.
template <class Write> Written writeTrace(std::size_t bytes, std::size_t every, const Write &write)
{
    Written written;
    std::string text = "{\"schemaVersion\": 1, \"traceEvents\": [";
    const auto add = [&](const char *format, auto... values) {
        char line[400];
        const int size = std::snprintf(line, sizeof line, format, values...);
        text.append(line, static_cast<std::size_t>(size));
    };
    unsigned random = 12345;
    for (std::size_t i = 0, size = 0; size < bytes; ++i) {
        random = random * 1664525 + 1013904223;
        add("%s\n{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"torch/nn/modules/module.py(%u): "
            "_call_impl\", "
            "\"pid\": 77, \"tid\": 77, \"ts\": %zu.%u, \"dur\": %u.5, \"args\": {\"Python id\": %zu, \"Python parent "
            "id\": %u}}",
            i > 0 ? "," : "", random % 4000, 1000 + 3 * i, random % 1000, random >> 20, i, random >> 8);
        ++written.functions;
        if (i % every == 0) {
            add(",\n{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 77, \"tid\": "
                "77, "
                "\"ts\": %zu, \"dur\": 4, \"args\": {\"correlation\": %zu}}",
                1000 + 3 * i, i + 1);
            add(",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm_%u\", \"pid\": 0, \"tid\": 7, \"ts\": %zu, "
                "\"dur\": 2, \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": %zu}}",
                random % 50, 1010 + 3 * i, i + 1);
            ++written.kernels;
        }
        if (text.size() > 1 << 20) {
            size += text.size();
            write(text);
            text.clear();
        }
    }
    write(text + "]}");
    return written;
}

} // namespace

class TestTraceMemory : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
#ifdef __SANITIZE_ADDRESS__
        QSKIP("Sanitizers keep memory of their own");
#endif
    }

    void memoryIsThatOfKeptEventsHoweverLongTheFileIs_data()
    {
        QTest::addColumn<bool>("isPacked");
        QTest::addColumn<quint64>("every");
        QTest::newRow("hardly any is kept") << false << quint64(1000);
        QTest::newRow("hardly any is kept, gzip") << true << quint64(1000);
        QTest::newRow("a third is kept") << false << quint64(1);
    }

    // most held <= a constant + bytes of what is kept, where the file is 96 MB
    void memoryIsThatOfKeptEventsHoweverLongTheFileIs()
    {
        QFETCH(bool, isPacked);
        QFETCH(quint64, every);
        const std::string file = m_folder.filePath(QStringLiteral("rank0_trace.json")).toStdString();
        const gzFile out = gzopen(file.c_str(), isPacked ? "wb1" : "wbT");
        QVERIFY(out);
        const Written written = writeTrace(kFileBytes, every,
            [&](const std::string &text) { gzwrite(out, text.data(), static_cast<unsigned>(text.size())); });
        QCOMPARE(gzclose(out), Z_OK);
        const Answer answer = readInChild(file);
        QFile::remove(QString::fromStdString(file));
        QCOMPARE(answer.spans, written.kernels);
        QCOMPARE(answer.dropped, written.functions);
        const long most = kConstant + static_cast<long>(written.kernels) * kKeptBytes / 1024;
        qInfo("%ld KiB held for %zu kernels, at most %ld may be", answer.grownKib, written.kernels, most);
        QVERIFY(answer.grownKib <= most);
        QVERIFY(every < 100 || most < 10 << 10);
    }

private:
    QTemporaryDir m_folder;
};

TRAINYARD_APPLESS_TEST(TestTraceMemory)
#include "tst_trace_memory.moc"

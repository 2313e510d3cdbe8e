// SPDX-License-Identifier: GPL-3.0-or-later
// Patterns of a user for logs of other tools: against std::regex, figures with their units by hand, and logs read by
// them.
#include "core/runs/telemetry/line_pattern.h"
#include "core/runs/telemetry/recording_file.h"
#include "core/runs/telemetry/sample_names.h"
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <random>
#include <regex>

using namespace trainyard;

namespace {

LinePattern patternOf(const std::string &text)
{
    auto pattern = LinePattern::parse(text);
    if (!pattern)
        qFatal("%s", toString(pattern.error()).c_str());
    return *std::move(pattern);
}

/// "step 12, time 0.25", in the order of the pattern.
std::string figures(const std::string &pattern, const std::string &line)
{
    std::string text;
    for (const LinePattern::Value &one : patternOf(pattern).valuesOf(line))
        text += (text.empty() ? "" : ", ") + std::string(kLineGroups[std::size_t(one.group)]) + " "
            + QString::number(one.value).toStdString();
    return text;
}

std::string errorOf(const std::string &pattern)
{
    const auto made = LinePattern::parse(pattern);
    return made ? std::string() : made.error().what;
}

const std::string kLog = "hello\n"
                         "epoch 0 it 10: 250.5 ms/it, 11.5K tok/s, crit=3.25 vram 12.5GiB\n"
                         "something else 12\n"
                         "epoch 0 it 20: 240.5 ms/it, 12.0K tok/s, crit=3.00 vram 12.5GiB\n"
                         "epoch 0 it 30: 245.5 ms/it, 11.8K tok/s, crit=2.75 vram 13GiB\n";
const std::string kPattern =
    R"(it (?<step>\d+): (?<time>[\d.]+) ms/it, (?<tokens>\S+) tok/s, crit=(?<loss>\S+) vram (?<memory>[\d.]+))";

Expected<Recording> readBy(const std::string &pattern, const std::string &text)
{
    QTemporaryDir folder;
    const std::string path = folder.filePath(QStringLiteral("own.log")).toStdString();
    QFile file(QString::fromStdString(path));
    if (!file.open(QIODevice::WriteOnly))
        qFatal("no file");
    file.write(text.data(), qint64(text.size()));
    file.close();
    SourceOptions options;
    if (!pattern.empty())
        options.linePattern = std::make_shared<const LinePattern>(patternOf(pattern));
    return readSource(path, options);
}

const SampleSeries *seriesNamed(const Recording &recording, const char *name)
{
    const auto found = std::ranges::find_if(
        recording.series, [&](const SampleSeries &one) { return one.name == name && one.isByStep; });
    return found == recording.series.end() ? nullptr : &*found;
}

} // namespace

class TestLinePattern : public QObject {
    Q_OBJECT

private slots:
    void itHoldsWhereTheStandardsDoes()
    {
        // of 16 parts that mean something alike in both, at random, on lines of three letters
        static constexpr std::array kParts { "a", "b", "[ab]", "(?:a|b)", "(?:ab|a)", ".", "a*", "b+", "a?", "(?:ab)*",
            "(?:a|bb){1,2}", "a{2}", "b*?", "(?:a*)*", "[^a]", "(?:a+|b)?", "\\b", "^", "$" };
        std::mt19937 random(5);
        int held = 0;
        for (int i = 0; i < 4000; ++i) {
            std::string pattern, line;
            for (int j = 0, count = 1 + int(random() % 4); j < count; ++j)
                pattern += std::string(j > 0 && random() % 6 == 0 ? "|" : "") + kParts[random() % kParts.size()];
            for (int j = 0, count = int(random() % 8); j < count; ++j)
                line += "ab1"[random() % 3];
            const bool expected = std::regex_search(line, std::regex("(?:" + pattern + ")1"));
            const bool holds = !patternOf("(?:" + pattern + ")(?<loss>1)").valuesOf(line).empty();
            QVERIFY2(holds == expected, ("(?:" + pattern + ")1 on " + line).c_str());
            held += holds;
        }
        QVERIFY2(held > 500 && held < 3500, qPrintable(QString::number(held)));
    }

    void figuresHaveTheUnitsThatStandBehindThemOrInTheirNames()
    {
        QCOMPARE(
            figures(R"(step (?<step>\d+).*time (?<time>[\d.]+))", "step 12 time 250.5 ms"), "step 12, time 0.2505");
        QCOMPARE(figures(R"((?P<time_ms>[\d.]+) (?<loss>\S+))", "20 3.5"), "time 0.02, loss 3.5");
        QCOMPARE(figures(R"(in (?<time>\S+))", "in 11.5K ms"), "time 11.5"); // nanotron's thousands
        QCOMPARE(figures(R"(in (?<time>\S+) )", "in 3 and"), "time 3");
        QCOMPARE(figures(R"((?<tokens>[\d.,K]+) tok)", "11.5K tok"), "tokens 11500");
        QCOMPARE(figures(R"((?<tokens>[\d.,K]+) tok)", "1,234 tok"), "tokens 1234");
        QCOMPARE(figures(R"((?<tokens_per_gpu>\d+))", "77"), "tokens_per_gpu 77");
        QCOMPARE(figures(R"(mem (?<memory>\d+))", "mem 2 MiB"), "memory 2.09715e+06");
        QCOMPARE(figures(R"(mem (?<memory_gb>\d+))", "mem 2 MiB"), "memory 2e+09");
        QCOMPARE(figures(R"(mem (?<memory>\d+))", "mem 2"), "memory 2.14748e+09"); // GiB
        QCOMPARE(figures(R"(loss=(?<loss>\S+)(?: in (?<time>\d+)s)?)", "loss=-1e-3"), "loss -0.001");
        QCOMPARE(figures(R"(loss=(?<loss>\S+))", "loss=nan"), "");
    }

    /// 1e308 GB are more bytes than a number counts.
    void aFigureThatNoNumberHoldsIsNone()
    {
        QVERIFY(patternOf("(?<memory_gb>.*)").valuesOf("1e308").empty());
        QCOMPARE(patternOf("(?<memory_gb>.*)").valuesOf("1e3").size(), std::size_t(1));
    }

    void whatIsNoPatternSaysWhere()
    {
        QCOMPARE(errorOf(R"((?<zebra>\d+))"), "at byte 4: names a group zebra");
        QVERIFY(errorOf(R"((?<step>\d+))").ends_with("has no group that tells a figure"));
        QVERIFY(errorOf("(?<loss>\\d+").ends_with("has a ( without its )"));
        QVERIFY(errorOf("(?<loss>\\d+))").ends_with("has a ) without its ("));
        QVERIFY(errorOf("[a").ends_with("has a [ without its ]"));
        QVERIFY(errorOf("*").ends_with("repeats nothing"));
        QVERIFY(errorOf("(?=a)(?<loss>1)").ends_with("looks around or sets options, which is not supported"));
        QVERIFY(errorOf(R"((?<loss>\d)+)").ends_with("repeats a group with a name"));
        QVERIFY(errorOf(R"((?<loss>\d) (?<loss>\d))").ends_with("names loss twice"));
        QVERIFY(errorOf(R"(a{300}(?<loss>\d))").ends_with("has a { that counts nothing, or too much"));
        QVERIFY(errorOf(std::string(3000, 'a')).ends_with("is longer than 2000 bytes"));
        QVERIFY(errorOf("(((((){200}){200}){200}){200}){200}(?<loss>1)").ends_with("repeats too much"));
        QVERIFY(!errorOf(std::string(900, '(') + ")").empty());
    }

    void noPatternTakesLongOfALine()
    {
        QElapsedTimer timer;
        timer.start();
        QVERIFY(patternOf("(?:a*)*(?:a+)+b(?<loss>1)").valuesOf(std::string(100'000, 'a')).empty());
        QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed())));
    }

    void aLogOfAnotherToolIsReadByItsPattern()
    {
        const auto unread = readBy({}, kLog);
        QVERIFY(unread && !unread->sources.front().refused.empty());
        const auto made = readBy(kPattern, kLog);
        QVERIFY(made && made->sources.front().refused.empty());
        const auto values = [&](const char *name) {
            const SampleSeries *series = seriesNamed(*made, name);
            return series ? series->value : std::vector<double>();
        };
        const SampleSeries *times = seriesNamed(*made, samples::kStepTime);
        QVERIFY(times);
        QCOMPARE(times->at, (std::vector<Moment> { 10, 20, 30 }));
        QCOMPARE(times->value, (std::vector<double> { 250.5 * 1e-3, 240.5 * 1e-3, 245.5 * 1e-3 }));
        QCOMPARE(values(samples::kLoss), (std::vector<double> { 3.25, 3, 2.75 }));
        QCOMPARE(values("log.tokens per second"), (std::vector<double> { 11500, 12000, 11800 }));
        QCOMPARE(values(samples::kMemoryAllocated).back(), 13.0 * (1 << 30));
        QCOMPARE(made->sources.front().taken, std::int64_t(3));
    }

    void thePatternStaysWithTheRun()
    {
        auto made = readBy(kPattern, kLog);
        QVERIFY(made);
        QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("run.trainyard-recording")).toStdString();
        QVERIFY(writeRecording(*made, path, {}).has_value());
        const auto again = readSource(path, {});
        QVERIFY(again && again->arguments.at("line_pattern") == kPattern);
        const auto &notes = again->sources.front().notes;
        QVERIFY(std::ranges::any_of(
            notes, [](const std::string &note) { return note.find("line pattern it (?<step>") != note.npos; }));
    }

    void stepsAreCountedWhereThePatternHasNone()
    {
        const auto made = readBy(R"(crit=(?<loss>\S+))", kLog);
        QVERIFY(made);
        const SampleSeries *loss = seriesNamed(*made, samples::kLoss);
        QVERIFY(loss && loss->at == (std::vector<Moment> { 1, 2, 3 }));
    }

    void timeStampsAreTheTimesWhereThePatternHasNone()
    {
        const auto made = readBy(R"(it (?<step>\d+) crit=(?<loss>\S+))",
            "2026-01-05 10:00:00 it 1 crit=3\n2026-01-05 10:00:04 it 2 crit=2\n2026-01-05 10:00:08 it 3 crit=1\n");
        QVERIFY(made);
        const SampleSeries *times = seriesNamed(*made, samples::kStepTime);
        QVERIFY(times && times->value == (std::vector<double> { 4, 4 }));
    }

    void aPatternThatHoldsNowhereSaysSo()
    {
        const auto made = readBy(R"(zebra=(?<loss>\S+))", kLog);
        QVERIFY(made);
        QVERIFY2(made->sources.front().refused.ends_with("; the line pattern holds in none of its lines"),
            made->sources.front().refused.c_str());
    }
};

TRAINYARD_APPLESS_TEST(TestLinePattern)
#include "tst_line_pattern.moc"

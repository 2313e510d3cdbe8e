// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a trace without a plan: no two spans of a row overlap, and what ran in a stretch of time is exact.
#include "core/runs/profile/trace_rows.h"
#include "tests/core/runs/overlay/small_runs.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>

using namespace trainyard;
using trainyard::test::SmallRecording;
using enum RecordedWork;

namespace {

constexpr std::int64_t kMicro = 1000;

std::shared_ptr<const Recording> held(const SmallRecording &small)
{
    return std::make_shared<const Recording>(small.m_recording);
}

std::int64_t sumOf(const WorkTimes &times)
{
    return std::accumulate(times.begin(), times.end(), std::int64_t(0));
}

} // namespace

class TestTraceRows : public QObject {
    Q_OBJECT
private slots:
    void nestedSpansLieBelowEachOther()
    {
        SmallRecording small;
        const auto rank = small.rank(0);
        rank.span(HostOperator, 0, 100, -1, 1)
            .span(HostOperator, 10, 40, -1, 1)
            .span(HostCall, 12, 20, -1, 1)
            .span(HostOperator, 40, 90, -1, 1)
            .span(HostOperator, 120, 130, -1, 1);
        const TraceRows rows(held(small));
        QCOMPARE(rows.rows().size(), std::size_t(3));
        QCOMPARE(rows.sizeOf(0), std::size_t(2));
        QCOMPARE(rows.sizeOf(1), std::size_t(2));
        QCOMPARE(rows.sizeOf(2), std::size_t(1));
        QCOMPARE(rows.rows()[2].level, 2);
        QCOMPARE(rows.spanOf(1, 1), 3u);
        QCOMPARE(rows.begin(), Moment(0));
        QCOMPARE(rows.end(), 130 * kMicro);
        QCOMPARE(rows.at(1, 35 * kMicro), std::optional<std::size_t>(0));
        QCOMPARE(rows.at(1, 40 * kMicro), std::optional<std::size_t>(1));
        QCOMPARE(rows.at(0, 110 * kMicro), std::nullopt);
    }

    void aStreamWithoutOverlapsIsOneRowThatCopiesNothing()
    {
        SmallRecording small;
        small.rank(4).span(Compute, 5, 10).span(Communication, 10, 30).span(Compute, 40, 50);
        const TraceRows rows(held(small), { 7 });
        QCOMPARE(rows.rows().size(), std::size_t(1));
        QVERIFY(rows.rows()[0].spans.empty());
        QCOMPARE(rows.begin(), 5 * kMicro + 7); // on the job's clock
        const WorkTimes times = rows.timesOf(0, 8 * kMicro + 7, 45 * kMicro + 7, 1).front();
        QCOMPARE(times[std::size_t(Compute)], 7 * kMicro);
        QCOMPARE(times[std::size_t(Communication)], 20 * kMicro);
    }

    void whatIsNestedTooDeepIsLeftOutAndCounted()
    {
        SmallRecording small;
        const auto rank = small.rank(0);
        for (int i = 0; i < TraceRows::kMostLevels + 5; ++i)
            rank.span(HostOperator, i, 200 - i, -1, 1);
        const TraceRows rows(held(small));
        QCOMPARE(rows.rows().size(), std::size_t(TraceRows::kMostLevels));
        QCOMPARE(rows.leftOut(), std::int64_t(5));
    }

    /// Against every span of the stream, for stretches that begin and end anywhere.
    void timesOfRandomStretchesAreExact()
    {
        std::mt19937 random(17);
        for (int trial = 0; trial < 60; ++trial) {
            SmallRecording small;
            const auto rank = small.rank(0);
            Moment at = 0;
            for (int i = 0; i < 300; ++i) {
                at += Moment(random() % 5);
                rank.span(RecordedWork(random() % kWorkKinds), at, at + Moment(random() % 9), -1, 1);
            }
            const RecordedSpans &spans = small.m_recording.ranks[0].streams[0].spans;
            const TraceRows rows(held(small));
            std::size_t kept = 0;
            for (std::size_t row = 0; row < rows.rows().size(); ++row) {
                kept += rows.sizeOf(row);
                for (std::size_t i = 1; i < rows.sizeOf(row); ++i)
                    QVERIFY(rows.startOf(row, i) >= rows.endOf(row, i - 1));
            }
            QCOMPARE(kept, spans.size());
            for (int draw = 0; draw < 40; ++draw) {
                const Moment from = Moment(random() % (at * kMicro + 9000)), to = from + 1 + Moment(random() % 200'000);
                WorkTimes expected {}, told {};
                for (std::size_t i = 0; i < spans.size(); ++i)
                    expected[std::size_t(spans.work[i])] += std::max<Moment>(
                        0, std::min(spans.start[i] + spans.duration[i], to) - std::max(spans.start[i], from));
                std::int64_t inParts = 0;
                for (std::size_t row = 0; row < rows.rows().size(); ++row) {
                    const WorkTimes own = rows.timesOf(row, from, to, 1).front();
                    for (std::size_t kind = 0; kind < kWorkKinds; ++kind)
                        told[kind] += own[kind];
                    for (const WorkTimes &part : rows.timesOf(row, from, to, 1 + int(random() % 50)))
                        inParts += sumOf(part);
                }
                for (std::size_t kind = 0; kind < kWorkKinds; ++kind)
                    QCOMPARE(told[kind], expected[kind]);
                QCOMPARE(inParts, sumOf(expected));
            }
        }
    }

    /// Beside the recording itself a byte a span; and a picture of all costs about what one of a thousandth costs.
    void tenMillionSpansAreDrawnFromAByteEach()
    {
        const auto secondsOf = [](std::size_t count) {
            auto made = std::make_shared<Recording>();
            made->names = { "kernel" };
            RecordedSpans &spans = made->ranks.emplace_back().streams.emplace_back().spans;
            spans.duration.assign(count, 7);
            spans.name.assign(count, 0);
            spans.work.assign(count, Compute);
            spans.start.resize(count);
            for (std::size_t i = 0; i < count; ++i)
                spans.start[i] = Moment(i) * 10;
            const TraceRows rows(made);
            [&] {
                QCOMPARE(rows.rows().size(), std::size_t(1));
                QVERIFY(rows.rows()[0].spans.empty());
                QVERIFY(rows.rows()[0].sums.size() * sizeof(WorkTimes) <= count + 128);
                QCOMPARE(rows.timesOf(0, 0, rows.end(), 1).front()[std::size_t(Compute)], std::int64_t(count) * 7);
            }();
            double least = 1e9;
            for (int i = 0; i < 5; ++i) {
                const auto began = std::chrono::steady_clock::now();
                const auto columns = rows.timesOf(0, 0, rows.end(), 2000);
                least =
                    std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
                [&] { QCOMPARE(columns.size(), std::size_t(2000)); }();
            }
            return least;
        };
        const double few = secondsOf(10'000), many = secondsOf(10'000'000);
        QVERIFY2(many < 20 * few, qPrintable(QStringLiteral("%1 s of 10 M, %2 s of 10,000").arg(many).arg(few)));
        qInfo("2,000 columns: %.2f ms of 10 M spans, %.2f ms of 10,000", many * 1e3, few * 1e3);
    }

    void nothingIsNoRow()
    {
        const TraceRows rows(std::make_shared<const Recording>());
        QVERIFY(rows.rows().empty());
        QCOMPARE(rows.end() - rows.begin(), Moment(0));
    }
};

TRAINYARD_APPLESS_TEST(TestTraceRows)
#include "tst_trace_rows.moc"

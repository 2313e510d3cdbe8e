// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/sample_timelines.h"
#include "tests/support/test_program.h"
#include "views/timeline/column_walk.h"
#include "views/timeline/span_blocks.h"

#include <QTest>

#include <array>

using namespace trainyard;

namespace {

Timeline timelineOf(const std::vector<std::tuple<Nanoseconds, Nanoseconds, WorkKind>> &spans)
{
    Timeline timeline;
    for (const auto &[start, end, kind] : spans) {
        timeline.start.push_back(start);
        timeline.end.push_back(end);
        timeline.kind.push_back(kind);
        timeline.microBatch.push_back(0);
    }
    return timeline;
}

WorkPalette palette()
{
    WorkPalette colors;
    colors.fill(toLanes(QColor(90, 90, 90)));
    colors[std::size_t(WorkKind::Forward)] = toLanes(QColor(200, 0, 0));
    colors[std::size_t(WorkKind::Backward)] = toLanes(QColor(0, 0, 200));
    return colors;
}

std::vector<QRgb> rowOf(const Timeline &timeline, TimeInterval range, int columns)
{
    ColumnWalk walk;
    walk.begin(range, columns);
    walk.add(timeline, 0, std::uint32_t(timeline.spanCount()), palette());
    std::vector<QRgb> row(std::size_t(columns), qRgb(0, 100, 0));
    walk.resolve(row);
    return row;
}

/// Straight from the definition: for each column and span, the overlap.
std::vector<QRgb> naiveRow(const Timeline &timeline, TimeInterval range, int columns)
{
    std::vector<QRgb> row;
    for (int c = 0; c < columns; ++c) {
        const double from = double(range.begin) + double(range.length()) * c / columns,
                     to = double(range.begin) + double(range.length()) * (c + 1) / columns;
        double sum[3] = {}, busy = 0;
        for (std::size_t i = 0; i < timeline.spanCount(); ++i) {
            const double overlap =
                std::max(0.0, std::min(to, double(timeline.end[i])) - std::max(from, double(timeline.start[i])));
            const ColorLanes color = palette()[std::size_t(timeline.kind[i])];
            for (int channel = 0; channel < 3; ++channel)
                sum[channel] += overlap * double(color[channel]);
            busy += overlap;
        }
        const double idle[3] = { 0, 100, 0 };
        const double share = busy > 0 ? std::max(0.3, busy / (to - from)) : 0;
        int mixed[3];
        for (int channel = 0; channel < 3; ++channel)
            mixed[channel] = int((busy > 0 ? sum[channel] / busy * share : 0) + idle[channel] * (1 - share) + 0.5);
        row.push_back(qRgb(mixed[0], mixed[1], mixed[2]));
    }
    return row;
}

bool isNear(QRgb a, QRgb b, int tolerance)
{
    return std::abs(qRed(a) - qRed(b)) <= tolerance && std::abs(qGreen(a) - qGreen(b)) <= tolerance
        && std::abs(qBlue(a) - qBlue(b)) <= tolerance;
}

} // namespace

class ColumnWalkTest : public QObject {
    Q_OBJECT
private slots:
    void aColumnThatIsFullyBusyHasTheColourOfItsWork()
    {
        const auto row = rowOf(timelineOf({ { 100, 300, WorkKind::Forward } }), { 0, 400 }, 4);
        QCOMPARE(row, (std::vector<QRgb> { qRgb(0, 100, 0), qRgb(200, 0, 0), qRgb(200, 0, 0), qRgb(0, 100, 0) }));
    }

    void aSharedColumnMixesByTime()
    {
        // 30 ns forward and 70 ns backward: 0.3 · (200,0,0) + 0.7 · (0,0,200)
        const auto row =
            rowOf(timelineOf({ { 0, 30, WorkKind::Forward }, { 30, 100, WorkKind::Backward } }), { 0, 100 }, 1);
        QCOMPARE(row.front(), qRgb(60, 0, 140));
    }

    void aTinySpanInAnIdleTrackStaysVisible()
    {
        const auto row = rowOf(timelineOf({ { 500, 501, WorkKind::Forward } }), { 0, 10'000 }, 10);
        QVERIFY(row[0] != qRgb(0, 100, 0));
        QCOMPARE(row[1], qRgb(0, 100, 0));
    }

    void theStreamingWalkEqualsTheDefinition_data()
    {
        QTest::addColumn<int>("columns");
        QTest::addColumn<qint64>("begin");
        QTest::addColumn<qint64>("end");
        const qint64 end = test::sampleEvaluation()->timeline.duration;
        QTest::newRow("dense") << 37 << qint64(0) << end;
        QTest::newRow("sparse") << 1400 << qint64(0) << end;
        QTest::newRow("in the middle") << 211 << end / 3 << end / 2;
        QTest::newRow("before the first") << 50 << qint64(0) << qint64(1000);
    }
    void theStreamingWalkEqualsTheDefinition()
    {
        QFETCH(int, columns);
        QFETCH(qint64, begin);
        QFETCH(qint64, end);
        const EvaluationPtr sample = test::sampleEvaluation({ .recompute = false });
        const Track &track = sample->timeline.tracks[5];
        std::vector<std::tuple<Nanoseconds, Nanoseconds, WorkKind>> spans;
        for (std::uint32_t i = track.first; i < track.last; ++i)
            spans.emplace_back(sample->timeline.start[i], sample->timeline.end[i], sample->timeline.kind[i]);
        const Timeline timeline = timelineOf(spans);
        const auto fast = rowOf(timeline, { begin, end }, columns), exact = naiveRow(timeline, { begin, end }, columns);
        for (int c = 0; c < columns; ++c)
            QVERIFY2(isNear(fast[std::size_t(c)], exact[std::size_t(c)], 1), qPrintable(QString::number(c)));
    }

    /// From the second picture on blocks of eight spans stand for them where there are 32 a column and more: one that
    /// lies in two columns is shared out by its length, so that at most four spans of either column are of another
    /// kind.
    void blocksOfSpansGiveTheColoursOfTheSpans()
    {
        const EvaluationPtr sample = test::sampleOfSize(200'000);
        const Timeline &timeline = sample->timeline;
        SpanBlocks blocks;
        for (const bool isRepeated : { false, true }) {
            blocks.prepare(sample, palette(), palette());
            for (std::size_t t = 0; t < timeline.tracks.size(); t += 7) {
                const Track &track = timeline.tracks[t];
                for (const int columns : { 13, 90 }) {
                    const BlockSums *sums = blocks.of(t, true, columns);
                    QCOMPARE(sums != nullptr, isRepeated && track.last - track.first >= 32 * std::uint32_t(columns));
                    const TimeInterval range { timeline.duration / 9, timeline.duration * 7 / 9 };
                    ColumnWalk plain, byBlocks;
                    plain.begin(range, columns);
                    plain.add(timeline, track.first, track.last, palette());
                    byBlocks.begin(range, columns);
                    if (sums)
                        byBlocks.add(timeline, track.first, track.last, palette(), *sums);
                    else
                        byBlocks.add(timeline, track.first, track.last, palette());
                    std::vector<QRgb> expected(std::size_t(columns), qRgb(0, 100, 0)), row = expected;
                    plain.resolve(expected);
                    byBlocks.resolve(row);
                    for (std::size_t c = 0; c < row.size(); ++c)
                        QVERIFY2(isNear(row[c], expected[c], sums ? 200 * 4 / (columns == 13 ? 240 : 32) : 0),
                            qPrintable(QString::number(c)));
                }
            }
        }
        // other colours, and another evaluation, are a first picture again
        WorkPalette other = palette();
        other[std::size_t(WorkKind::Forward)] = toLanes(QColor(1, 2, 3));
        blocks.prepare(sample, other, palette());
        QVERIFY(!blocks.of(0, true, 1));
        blocks.prepare(sample, other, palette());
        QVERIFY(blocks.of(0, true, 1));
        blocks.prepare(test::sampleOfSize(200'000), other, palette());
        QVERIFY(!blocks.of(0, true, 1));
    }

    void visibleSpansAreThoseThatOverlap()
    {
        const Timeline timeline =
            timelineOf({ { 0, 10, WorkKind::Forward }, { 10, 20, WorkKind::Forward }, { 30, 40, WorkKind::Forward } });
        QCOMPARE(visibleSpans(timeline, 0, 3, { 10, 30 }), (std::pair<std::uint32_t, std::uint32_t>(1, 2)));
        QCOMPARE(visibleSpans(timeline, 0, 3, { 20, 30 }), (std::pair<std::uint32_t, std::uint32_t>(2, 2)));
        QCOMPARE(visibleSpans(timeline, 0, 3, { 0, 100 }), (std::pair<std::uint32_t, std::uint32_t>(0, 3)));
    }
};

TRAINYARD_APPLESS_TEST(ColumnWalkTest)
#include "tst_column_walk.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// What the table of a selected area counts, against sums over the spans by hand.
#include "tests/support/sample_timelines.h"
#include "tests/support/test_program.h"
#include "views/timeline/area_rows.h"
#include "views/timeline/track_layout.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;

namespace {

/// One stage with prefill behind its bars and a channel; 10 ns a letter:
///   compute  F F . . B B . .      F [0,20)  B [40,60)
///   prefill  . P P P P . . P      P [10,50) [70,80), behind
///   channel  . . W . . . . .      W [20,30)
Timeline smallTimeline()
{
    Timeline t;
    const auto track = [&](Stream stream) {
        Track made;
        made.stream = stream;
        made.toStage = stream == Stream::Wan ? 1 : -1;
        made.first = made.last = std::uint32_t(t.start.size());
        t.tracks.push_back(made);
    };
    const auto span = [&](WorkKind kind, Nanoseconds from, Nanoseconds to) {
        t.kind.push_back(kind);
        t.start.push_back(from);
        t.end.push_back(to);
        t.microBatch.push_back(int(t.start.size()));
        t.chunk.push_back(0);
        t.cause.push_back(kNoSpan);
        t.trackOf.push_back(std::uint32_t(t.tracks.size()) - 1);
        t.tracks.back().last = std::uint32_t(t.start.size());
    };
    track(Stream::Compute);
    span(WorkKind::Forward, 0, 20);
    span(WorkKind::Backward, 40, 60);
    track(Stream::Prefill);
    span(WorkKind::Prefill, 10, 50);
    span(WorkKind::Prefill, 70, 80);
    track(Stream::Wan);
    span(WorkKind::WanTransfer, 20, 30);
    t.duration = 80;
    return t;
}

Nanoseconds timeOf(const std::vector<AreaRow> &rows, const char *name)
{
    const auto row = std::ranges::find(rows, QLatin1String(name), &AreaRow::name);
    return row == rows.end() ? -1 : row->total.total;
}

Nanoseconds sumOf(const std::vector<AreaRow> &rows)
{
    Nanoseconds sum = 0;
    for (const AreaRow &row : rows)
        sum += row.total.total;
    return sum;
}

} // namespace

class AreaRowsTest : public QObject {
    Q_OBJECT
private slots:
    void whatLiesBehindCountsWhereItShows()
    {
        const Timeline t = smallTimeline();
        const auto rows = areaRows(t, { 0, 80 }, { { { 0, 1 } } });
        QCOMPARE(timeOf(rows, "forward"), 20);
        QCOMPARE(timeOf(rows, "backward"), 20);
        // of [10, 50) the bars in front leave [20, 40), and [70, 80) is free
        QCOMPARE(timeOf(rows, "prefill"), 30);
        QCOMPARE(timeOf(rows, "idle"), 10); // [60, 70)
        QCOMPARE(sumOf(rows), 80); // kinds + idle = 1 line × 80
    }

    void linesOfStagesAndChannelsIdleApart()
    {
        const Timeline t = smallTimeline();
        const auto rows = areaRows(t, { 20, 60 }, { { { 0, 1 } }, { { 2 } } });
        QCOMPARE(timeOf(rows, "WAN transfer"), 10);
        QCOMPARE(timeOf(rows, "idle channel"), 30);
        QCOMPARE(timeOf(rows, "idle"), 0);
        QCOMPARE(sumOf(rows), 2 * 40); // kinds + idle = 2 lines × 40
    }

    void hiddenKindsAreNotCountedAsWorkNorAsIdle()
    {
        const Timeline t = smallTimeline();
        SpanFilter filter;
        filter.kinds = kAllKinds & ~(1u << int(WorkKind::Backward));
        const auto rows = areaRows(t, { 0, 80 }, { { { 0, 1 } } }, filter);
        QCOMPARE(timeOf(rows, "backward"), -1);
        QCOMPARE(timeOf(rows, "not shown"), 20);
        QCOMPARE(timeOf(rows, "idle"), 10);
        QCOMPARE(sumOf(rows), 80); // kinds + idle + not shown = 1 line × 80
    }

    void onASampleEveryFilterAddsUpToTheArea()
    {
        const EvaluationPtr e = test::sampleEvaluation();
        const TrackLayout layout = layOutTracks(*e, {});
        for (const char *text : { "", "backward", "stage 3", "7", "> 40 ms", "wan" }) {
            const auto filter = parseSpanFilter(QString::fromLatin1(text));
            QVERIFY(filter);
            const TimeInterval part { e->timeline.duration / 7, e->timeline.duration / 2 + 3 };
            const auto lines = areaLines(layout, 0, int(layout.rows.size()) - 1);
            const auto rows = areaRows(e->timeline, part, lines, *filter);
            // kinds + idle + not shown = lines × length
            QCOMPARE(sumOf(rows), Nanoseconds(lines.size()) * part.length());
            double shares = 0;
            for (const AreaRow &row : rows)
                shares += row.share;
            QVERIFY(std::abs(shares - 1) < 1e-9);
        }
    }

    void aFoldedDatacenterIsItsStagesAndAPinnedRowItsTwin()
    {
        const EvaluationPtr e = test::sampleEvaluation();
        TrackLayoutOptions options;
        options.folded = { QStringLiteral("dc1") };
        const TrackLayout folded = layOutTracks(*e, options);
        const auto summary = std::ranges::find(folded.rows, TrackRow::Kind::Summary, &TrackRow::kind);
        QVERIFY(summary != folded.rows.end());
        const int r = int(summary - folded.rows.begin());
        QCOMPARE(areaLines(folded, r, r).size(), summary->tracks.size());
        options = {};
        options.pinned = { layOutTracks(*e, {}).rows[2].key };
        const TrackLayout pinned = layOutTracks(*e, options);
        QCOMPARE(pinned.pinnedCount, 1);
        QCOMPARE(areaLines(pinned, 0, 3).size(), std::size_t(3)); // the pinned row is one of the three below it
    }

    void theTableCopiesPlainSeconds()
    {
        const QString text = toTsv(areaRows(smallTimeline(), { 0, 80 }, { { { 0, 1 } } }));
        QCOMPARE(text.split(u'\n').at(0).split(u'\t').size(), 7);
        // [20, 40) of the first and [70, 80): two parts, 30 of 80 ns
        QVERIFY2(text.contains(QStringLiteral("prefill\t2\t3e-08\t0.375\t1.5e-08\t1e-08\t2e-08\n")), qPrintable(text));
    }
};

TRAINYARD_GUILESS_TEST(AreaRowsTest)
#include "tst_area_rows.moc"

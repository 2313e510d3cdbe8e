// SPDX-License-Identifier: GPL-3.0-or-later
// Pipelines that differ fold into a row of their own in each datacenter: of themselves where they are many, by a click
// and by a key; what folds and unfolds comes back with the next start.
#include "tests/support/sample_timelines.h"
#include "tests/support/test_program.h"
#include "views/timeline/other_pipelines.h"
#include "views/timeline/timeline_view.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;
using test::SampleShape;

namespace {

/// Five kinds of two pipelines each, of eight stages: 40 rows, of which eight are of the first kind.
constexpr SampleShape kMany { .datacenters = 1, .stages = 8, .microBatches = 8, .classes = 5, .pipelines = 2 };
/// Three kinds of one pipeline, of two stages in two datacenters: six rows.
constexpr SampleShape kFew { .datacenters = 2, .stages = 2, .microBatches = 4, .classes = 3, .pipelines = 1 };

std::size_t stageRows(const TrackLayout &layout)
{
    return std::size_t(std::ranges::count(layout.rows, TrackRow::Kind::Stage, &TrackRow::kind));
}

const TrackRow *summaryIn(const TrackLayout &layout)
{
    const auto found = std::ranges::find(layout.rows, TrackRow::Kind::Summary, &TrackRow::kind);
    return found == layout.rows.end() ? nullptr : &*found;
}

} // namespace

class OtherPipelinesTest : public QObject {
    Q_OBJECT
private slots:
    void manyFoldOfThemselvesIntoARowOfTheirNumberAndRange()
    {
        const EvaluationPtr evaluation = test::sampleEvaluation(kMany);
        const TrackLayout layout = layOutTracks(*evaluation, {});
        QCOMPARE(stageRows(layout), std::size_t(8));
        const TrackRow *row = summaryIn(layout);
        QVERIFY(row);
        QCOMPARE(row->label, QStringLiteral("8 others"));
        QCOMPARE(row->detail, QStringLiteral("pipelines 3–10"));
        QCOMPARE(row->tracks.size(), std::size_t(4 * 8)); // of each stage of each of them
        for (const std::uint32_t track : row->tracks)
            QCOMPARE(&layout.rows[std::size_t(layout.rowOfTrack[track])], row);
        QCOMPARE(layout.others.size(), std::size_t(1));
        QVERIFY(layout.others.front().isFolded && layout.others.front().y == row->y);
    }

    void fewStayAndFoldOnDemandInEachDatacenter()
    {
        const EvaluationPtr evaluation = test::sampleEvaluation(kFew);
        TrackLayoutOptions options;
        const TrackLayout before = layOutTracks(*evaluation, options);
        QCOMPARE(stageRows(before), std::size_t(6));
        QVERIFY(!summaryIn(before));
        QCOMPARE(before.others.size(), std::size_t(2));
        QVERIFY(std::ranges::none_of(before.others, &RowGroup::isFolded));
        toggleFold(options, before.others.back());
        const TrackLayout after = layOutTracks(*evaluation, options);
        QCOMPARE(stageRows(after), std::size_t(4));
        QCOMPARE(summaryIn(after)->datacenter, before.others.back().datacenter);
        QCOMPARE(summaryIn(after)->detail, QStringLiteral("pipelines 2–3"));
        toggleFold(options, after.others.back());
        QCOMPARE(layOutTracks(*evaluation, options), before);
    }

    /// One kind in each datacenter, or all alike: nothing is folded, and nothing may be.
    void pipelinesThatAreAlikeHaveNoSuchRow()
    {
        const EvaluationPtr evaluation = test::sampleEvaluation({ .datacenters = 3, .stages = 48, .classes = 1 });
        const TrackLayout layout = layOutTracks(*evaluation, {});
        QCOMPARE(stageRows(layout), std::size_t(48));
        QVERIFY(layout.others.empty());
    }

    void aClickAndAKeyUnfoldAndFoldThem()
    {
        TimelineView view;
        view.resize(1280, 600);
        view.setEvaluation(test::sampleEvaluation(kMany));
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        const TrackLayout &layout = view.state().layout;
        const auto clickMark = [&] {
            const RowGroup group = layout.others.front();
            QTest::mouseClick(view.canvas(), Qt::LeftButton, {},
                QPoint(12, kRulerHeight + group.y - view.state().scroll + std::min(group.nameHeight, 16) / 2));
        };
        QVERIFY(layout.others.front().isFolded);
        clickMark();
        QCOMPARE(stageRows(layout), std::size_t(40));
        clickMark();
        QCOMPARE(stageRows(layout), std::size_t(8));
        view.setFocus();
        QTest::keyClick(&view, Qt::Key_G);
        QCOMPARE(stageRows(layout), std::size_t(40));
        const QByteArray kept = view.rowsState();
        TimelineView next; // the next start
        next.resize(view.size());
        next.setEvaluation(test::sampleEvaluation(kMany));
        QCOMPARE(stageRows(next.state().layout), std::size_t(8));
        next.restoreRows(kept);
        QCOMPARE(stageRows(next.state().layout), std::size_t(40));
        QTest::keyClick(&view, Qt::Key_G);
        QCOMPARE(stageRows(layout), std::size_t(8));
    }
};

TRAINYARD_TEST(OtherPipelinesTest)
#include "tst_other_pipelines.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// What the details panel says: computed from the evaluation, adding up to what the evaluation says, and reached by real
// clicks and keys; it stays while the pointer wanders and follows its thing through an edit.
#include "tests/support/test_program.h"
#include "tests/views/window/window_fixture.h"

#include "core/engine/timeline/analysis.h"
#include "models/text/format.h"
#include "views/details/details_panel.h"
#include "views/panels/evidence_table.h"
#include "views/timeline/same_span.h"
#include "views/timeline/span_text.h"
#include "views/timeline/timeline_view.h"

#include <QWindow>

#include <cmath>

using namespace trainyard;

namespace {

struct DetailsFixture : WindowFixture {
    DetailsPanel &details() { return *window.workbench().details; }
    TimelineView &timeline() { return *window.workbench().timeline; }
    const Evaluation &shown() { return *timeline().evaluation(); }
    std::uint32_t some(const std::function<bool(std::uint32_t)> &is)
    {
        for (std::uint32_t s = 0; s < shown().timeline.spanCount(); ++s)
            if (is(s))
                return s;
        return kNoSpan;
    }
    /// A WAN transfer in the middle of the iteration.
    std::uint32_t transfer()
    {
        const Timeline &t = shown().timeline;
        return some([&](std::uint32_t s) { return t.kind[s] == WorkKind::WanTransfer && t.start[s] > t.duration / 2; });
    }
    QString fact(const QString &name)
    {
        for (const QString &line : details().toTsv().split(u'\n'))
            if (line.section(u'\t', 0, 0) == name)
                return line.section(u'\t', 1);
        return {};
    }
};

} // namespace

class DetailsTest : public QObject {
    Q_OBJECT
private slots:
    void aSelectedSpanIsTold()
    {
        DetailsFixture f;
        const std::uint32_t span = f.transfer();
        f.timeline().selectSpan(span);
        QVERIFY(f.details().isVisible());
        QCOMPARE(f.details().title(), spanTitle(f.shown(), span));
        QVERIFY(!f.fact("Length").isEmpty() && !f.fact("Bound by").isEmpty() && !f.fact("Bytes").isEmpty());
    }
    void aTransferCarriesTheActivationsOfAStageBoundary()
    {
        // sequence · hidden · micro-batch · 2 bytes, and every transfer of the sample is one of these
        DetailsFixture f;
        const Plan &plan = *f.document.plan();
        const double boundary = 2.0 * plan.workload.sequenceLength * plan.workload.microBatch * f.shown().model.hidden;
        QVERIFY(std::abs(f.shown().timeline.bytesMoved(f.transfer()) / boundary - 1) < 1e-9);
        f.timeline().selectSpan(f.transfer());
        QCOMPARE(f.fact("Bytes").section(u'\t', 0, 0), formatBytes(boundary));
    }
    /// compute + tensor parallel = the length of an operation of the sample, which exchanges nothing else inside.
    void anOperationTellsWhatItExchangesInside()
    {
        DetailsFixture f;
        const Timeline &t = f.shown().timeline;
        const std::uint32_t span = f.some([&](std::uint32_t s) { return t.kind[s] == WorkKind::Backward; });
        const double length = double(t.end[span] - t.start[span]) * 1e-9, tensor = t.classOf(span).exposed.tensor;
        QVERIFY(tensor > 0 && std::abs(t.classOf(span).exposed.total() - tensor) < 1e-12);
        f.timeline().selectSpan(span);
        QCOMPARE(f.fact("Of it compute").section(u'\t', 0, 0),
            formatSeconds(length - tensor) + ", " + formatPercent(1 - tensor / length));
        QCOMPARE(f.fact("Of it tensor parallel").section(u'\t', 0, 0),
            formatSeconds(tensor) + ", " + formatPercent(tensor / length));
    }
    void theChainOfCausesGoesBackToTheBeginning()
    {
        DetailsFixture f;
        const Timeline &t = f.shown().timeline;
        const std::vector<std::uint32_t> path = criticalPath(t);
        const std::vector<CauseStep> chain = causeChain(t, path.back(), path.size() + 1);
        QCOMPARE(chain.size(), path.size());
        for (std::size_t i = 0; i < chain.size(); ++i)
            QCOMPARE(chain[i].span, path[path.size() - 1 - i]);
        QCOMPARE(t.cause[chain.back().span], kNoSpan);
    }
    void bracketsAndClicksWalkTheChain()
    {
        DetailsFixture f;
        f.window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&f.window));
        const std::uint32_t span = f.transfer();
        f.timeline().selectSpan(span);
        QTest::keyClick(f.window.windowHandle(), Qt::Key_BracketLeft);
        const std::uint32_t cause = f.shown().timeline.cause[span];
        QCOMPARE(f.timeline().selectedSpan(), cause);
        QCOMPARE(f.details().title(), spanTitle(f.shown(), cause));
        QAbstractItemView *chain = f.details().chain();
        QTest::mouseClick(
            chain->viewport(), Qt::LeftButton, {}, chain->visualRect(chain->model()->index(1, 0)).center());
        QCOMPARE(f.timeline().selectedSpan(), f.shown().timeline.cause[cause]);
        QTest::keyClick(f.window.windowHandle(), Qt::Key_BracketRight);
        QVERIFY(f.timeline().selectedSpan() != f.shown().timeline.cause[cause]);
    }
    void detailsFollowTheirSpanThroughAnEdit()
    {
        DetailsFixture f;
        const std::uint32_t span = f.transfer();
        f.timeline().selectSpan(span);
        const QString title = f.details().title(), length = f.fact("Length");
        Plan next = *f.document.plan();
        for (WanLink &link : next.cluster.wanLinks)
            link.nodePairGbps *= 0.9;
        f.document.apply(std::make_shared<const Plan>(next), "Half");
        f.settle();
        QCOMPARE(f.details().title(), title);
        QVERIFY(f.fact("Length") != length);
        QCOMPARE(f.timeline().selectedSpan(), f.details().span());
    }
    void theSameWorkIsFoundInAnotherTimeline()
    {
        DetailsFixture f;
        const EvaluationPtr before = f.timeline().evaluation();
        Plan next = *f.document.plan();
        next.schedule = ScheduleKind::GPipe; // the same work in another order
        f.document.apply(std::make_shared<const Plan>(next), "GPipe");
        f.settle();
        const Timeline &a = before->timeline, &b = f.shown().timeline;
        for (std::uint32_t s = 0; s < a.spanCount(); s += 7) {
            const std::uint32_t same = sameSpan(a, s, b);
            QVERIFY2(same != kNoSpan, qPrintable(spanTitle(*before, s)));
            QVERIFY(a.kind[s] == b.kind[same] && a.microBatch[s] == b.microBatch[same] && a.chunk[s] == b.chunk[same]);
            QCOMPARE(a.tracks[a.trackOf[s]].stage, b.tracks[b.trackOf[same]].stage);
        }
    }
    void aClickedLinkIsTold()
    {
        DetailsFixture f;
        const LinkLayout &link = f.map()->mapLayout().links[0];
        QTest::mouseClick(f.map(), Qt::LeftButton, {}, link.card.center().toPoint());
        QVERIFY(f.details().isVisible());
        const WanLink &wan = f.document.plan()->cluster.wanLinks[0];
        const Cluster &cluster = f.document.plan()->cluster;
        for (const std::string &end : wan.between)
            QVERIFY2(f.details().title().contains(
                         QString::fromStdString(cluster.datacenters[std::size_t(cluster.indexOf(end))].label())),
                qPrintable(f.details().title()));
        QVERIFY(!f.fact("Round trip").isEmpty() && !f.fact("Per node pair").isEmpty());
    }
    void aClickedNodeIsToldWithItsStage()
    {
        DetailsFixture f;
        QTest::mouseClick(f.map(), Qt::LeftButton, {}, f.nodeAt(0, 0));
        QVERIFY(f.details().isVisible());
        QVERIFY2(f.fact("Serves").startsWith(QStringLiteral("stage")), qPrintable(f.details().toTsv()));
        QVERIFY(!f.fact("Memory").isEmpty());
    }
    void aClickedStageLabelIsToldWithItsTimesAndMemory()
    {
        DetailsFixture f;
        const QRect tracks = f.timeline().trackArea();
        const QPoint label(tracks.left() - 20, tracks.top() + 8); // of the first row
        QWidget *canvas = f.timeline().canvas();
        QTest::mouseClick(canvas, Qt::LeftButton, {}, canvas->mapFrom(&f.timeline(), label));
        QVERIFY(f.details().isVisible());
        QVERIFY2(f.details().title().startsWith(QStringLiteral("Stage ")), qPrintable(f.details().title()));
        QVERIFY(!f.fact("Computes").isEmpty() && !f.fact("Memory").isEmpty() && !f.fact("Holds").isEmpty());
    }
    void theTimesOfAStageAddUpToTheIteration()
    {
        DetailsFixture f;
        double share = 0;
        for (const DetailFact &fact : stageDetails(f.shown(), 2).facts)
            if (fact.value.contains(QStringLiteral(" · ")) && fact.value.endsWith(u'%'))
                share += fact.value.section(QStringLiteral(" · "), 1).section(u' ', 0, 0).toDouble();
        QVERIFY2(std::abs(share - 100) < 0.2, qPrintable(QString::number(share)));
    }
};

TRAINYARD_TEST(DetailsTest)
#include "tst_details.moc"

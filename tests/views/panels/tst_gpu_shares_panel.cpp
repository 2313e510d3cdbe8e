// SPDX-License-Identifier: GPL-3.0-or-later
// The panel of GPU shares on a document with the hands of a user: bars dragged and moved by keys become pins of the
// plan, the other GPUs follow while they are held, and each drag is one step to undo.
#include "core/evaluation/advice/evaluate.h"
#include "models/plan_document.h"
#include "tests/support/mixed_plans.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"
#include "tests/support/told.h"
#include "views/panels/gpu_shares_panel.h"
#include "views/panels/hover_button.h"
#include "views/panels/share_bar.h"
#include "views/panels/sharing_comparison.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QTemporaryDir>
#include <QTest>

#include <memory>

using namespace trainyard;
using test::samplePlan;

namespace {

} // namespace

class GpuSharesPanelTest : public QObject {
    Q_OBJECT
    QTemporaryDir m_state;
    EvaluationWorkspace m_workspace;
    std::unique_ptr<PlanDocument> m_document;
    std::unique_ptr<GpuSharesPanel> m_panel;

    void start(Plan plan)
    {
        m_panel.reset();
        m_document = std::make_unique<PlanDocument>(std::make_shared<const Plan>(std::move(plan)), m_state.path());
        m_panel = std::make_unique<GpuSharesPanel>();
        PlanDocument *document = m_document.get();
        GpuSharesPanel *panel = m_panel.get();
        const auto show = [this, document, panel] {
            panel->setShown(shownOf(document->plan()));
            panel->setShown(
                test::told(document->plan(), *evaluate(document->shownPlan(), builtinCatalogue(), m_workspace)));
        };
        connect(document, &PlanDocument::shownPlanChanged, panel, show);
        connect(panel, &GpuSharesPanel::editCommitted, document,
            [document](const PlanPtr &next, const QString &text) { document->apply(next, text); });
        connect(panel, &GpuSharesPanel::editPreviewed, document, &PlanDocument::preview);
        connect(panel, &GpuSharesPanel::editCancelled, document, &PlanDocument::endPreview);
        connect(panel, &GpuSharesPanel::editNudged, document,
            [document](
                const PlanPtr &next, const QString &text, const QString &key) { document->apply(next, text, key); });
        panel->resize(440, 700);
        show();
        panel->show();
        QVERIFY(QTest::qWaitForWindowExposed(panel));
    }
    [[nodiscard]] GpuShareRow *row(const QString &gpu) const
    {
        for (GpuShareRow *each : m_panel->rows())
            if (each->isVisible() && each->share().name == gpu)
                return each;
        return nullptr;
    }
    [[nodiscard]] std::vector<int> samples() const
    {
        std::vector<int> all;
        for (const GpuShareRow *each : m_panel->rows())
            if (each->isVisible())
                all.push_back(each->share().samples());
        return all;
    }
    [[nodiscard]] QString undoText() const { return m_document->undoStack().undoText(); }
    [[nodiscard]] static QPoint handleOf(const ShareBar *bar) { return { bar->handleX(), bar->height() / 2 }; }
    /// The pixel at which the bar's end stands for that value.
    [[nodiscard]] static QPoint placeOf(const ShareBar *bar, double value)
    {
        const ShareHandle &handle = *bar->handle();
        return { int(std::lround(handleOf(bar).x() * value / handle.value)), bar->height() / 2 };
    }
    static void move(ShareBar *bar, QPoint to)
    {
        QMouseEvent event(QEvent::MouseMove, to, bar->mapToGlobal(to), Qt::NoButton, Qt::LeftButton, {});
        QApplication::sendEvent(bar, &event);
    }

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }
    void init() { start(samplePlan("cephalo-lab")); }
    void cleanup()
    {
        m_panel.reset();
        m_document.reset();
    }

    void aRowTellsWhatItsGpuGetsAndWhy()
    {
        QCOMPARE(samples(), (std::vector<int> { 13, 12, 34, 5 })); // 64 together
        const GpuShareRow *p40 = row(QStringLiteral("Tesla P40"));
        QVERIFY(p40);
        QVERIFY(p40->workLine()->text().startsWith(QStringLiteral("5 of 64 samples")));
        QVERIFY(p40->stateLine()->text().contains(QStringLiteral("25.8 % of the states")));
        QCOMPARE(p40->sentenceLine()->text(), QStringLiteral("Slow, but its memory is free"));
        QVERIFY(m_panel->rows().front()->markLine()->isVisible()); // all wait for the first L4
        QVERIFY(!p40->markLine()->isVisible());
        QVERIFY(!m_panel->balanceButton()->isVisible() && !m_panel->unpinAllButton()->isVisible());
        QVERIFY(m_panel->toTsv().contains(QStringLiteral("Tesla P40\tLab\tlab-p40\t1\t1\t1\t5\t")));
    }

    void theEndOfTheWorkIsDraggedAndTheOthersFollowInTheAir()
    {
        ShareBar *bar = row(QStringLiteral("Tesla P40"))->workBar();
        const PlanPtr before = m_document->plan();
        QTest::mousePress(bar, Qt::LeftButton, {}, handleOf(bar));
        move(bar, placeOf(bar, 7));
        move(bar, placeOf(bar, 8));
        QVERIFY(m_document->isPreviewing());
        QCOMPARE(m_document->previewText(), QStringLiteral("Pin 8 of 64 samples on Tesla P40"));
        QVERIFY(row(QStringLiteral("Tesla P40"))->workLine()->text().startsWith(QStringLiteral("8 of 64")));
        int others = 0; // share the 56 that are left
        for (const GpuShareRow *each : m_panel->rows())
            if (each->isVisible() && each->share().name != QStringLiteral("Tesla P40"))
                others += each->share().samples();
        QCOMPARE(others, 56);
        QCOMPARE(m_document->plan(), before);
        QTest::mouseRelease(bar, Qt::LeftButton, {}, placeOf(bar, 8));
        QVERIFY(!m_document->isPreviewing());
        QCOMPARE(undoText(), QStringLiteral("Pin 8 of 64 samples on Tesla P40"));
        QCOMPARE(m_document->undoStack().count(), 1);
        const GpuShareRow *p40 = row(QStringLiteral("Tesla P40"));
        QCOMPARE(p40->share().samples(), 8);
        QVERIFY(p40->share().isWorkPinned && p40->workBar()->isPinned() && !p40->stateBar()->isPinned());
        int sum = 0;
        for (const GpuShareRow *each : m_panel->rows())
            sum += each->isVisible() ? each->share().samples() * each->share().replicas : 0;
        QCOMPARE(sum, 64); // of all replicas
        m_document->undoStack().undo();
        QCOMPARE(samples(), (std::vector<int> { 13, 12, 34, 5 }));
        m_document->undoStack().redo();
        QCOMPARE(row(QStringLiteral("Tesla P40"))->share().samples(), 8);
    }

    void escapePutsADraggedBarBack()
    {
        ShareBar *bar = row(QStringLiteral("Tesla P40"))->workBar();
        QTest::mousePress(bar, Qt::LeftButton, {}, handleOf(bar));
        move(bar, placeOf(bar, 9));
        QVERIFY(m_document->isPreviewing());
        QTest::keyClick(bar, Qt::Key_Escape);
        QVERIFY(!m_document->isPreviewing() && m_document->undoStack().count() == 0);
        QTest::mouseRelease(bar, Qt::LeftButton, {}, placeOf(bar, 9));
        QCOMPARE(m_document->undoStack().count(), 0);
        QCOMPARE(row(QStringLiteral("Tesla P40"))->share().samples(), 5);
    }

    void theEndOfTheStatesIsDraggedAndTheOthersHoldTheRest()
    {
        ShareBar *bar = row(QStringLiteral("RTX A6000"))->stateBar();
        const double before = bar->handle()->value;
        QTest::mousePress(bar, Qt::LeftButton, {}, handleOf(bar));
        move(bar, placeOf(bar, before / 2));
        move(bar, placeOf(bar, before * 1.1));
        QTest::mouseRelease(bar, Qt::LeftButton, {}, placeOf(bar, before * 1.1));
        const GpuShareRow *a6000 = row(QStringLiteral("RTX A6000"));
        QVERIFY(a6000->share().isStatePinned && !a6000->share().isWorkPinned);
        QVERIFY(std::abs(a6000->share().stateShare - before * 1.1) < 0.01); // to half a percent
        double sum = 0;
        for (const GpuShareRow *each : m_panel->rows())
            sum += each->isVisible() ? each->share().stateShare * each->share().replicas : 0;
        QVERIFY(std::abs(sum - 1) < 1e-6);
        QVERIFY2(undoText().endsWith(QStringLiteral("of the states on RTX A6000")), qPrintable(undoText()));
    }

    // Two pipelines of two stages on H100, two on A100: a pin is about whole pipelines, so both get what one is given.
    void aShareOfPipelinesWithSeveralStagesIsPinnedForAllOfThem()
    {
        Plan plan = test::mixedReplicas();
        Pool slow = plan.cluster.datacenters.front().pools.back();
        plan.cluster.datacenters.front().pools.pop_back();
        plan.cluster.datacenters.push_back(test::site("b", 1));
        plan.cluster.datacenters.back().pools = { slow };
        plan.cluster.wanLinks = { test::wanLink("a", "b") };
        plan.placement.mode = PlacementMode::DataAcross;
        plan.parallelism.pipeline = 2;
        plan.parallelism.data = 4;
        start(test::balanced(plan));
        const std::vector<int> before = samples(); // of both stages of either
        QCOMPARE(before.size(), 4u);
        QCOMPARE(2 * before[0] + 2 * before[2], 64);
        QVERIFY(before[0] > before[2]);
        ShareBar *bar = m_panel->rows().front()->workBar();
        QVERIFY(bar->handle());
        QVERIFY(!m_panel->rows()[1]->workBar()->handle()); // said once, at the first stage
        const int wanted = before[0] - 4;
        QTest::mousePress(bar, Qt::LeftButton, {}, handleOf(bar));
        move(bar, placeOf(bar, wanted));
        QTest::mouseRelease(bar, Qt::LeftButton, {}, placeOf(bar, wanted));
        QCOMPARE(m_document->plan()->heterogeneity.assign.size(), 1u);
        QVERIFY(!m_document->plan()->heterogeneity.assign.front().gpus); // all of the pool
        QCOMPARE(samples(), (std::vector<int> { wanted, wanted, 32 - wanted, 32 - wanted }));
        QVERIFY(m_panel->rows().front()->share().isWorkPinned && !m_panel->rows()[2]->share().isWorkPinned);
        m_panel->unpinAllButton()->click();
        QCOMPARE(samples(), before);
    }

    // A pipeline whose stages lie in two pools is nobody's to pin.
    void whatLiesInSeveralPoolsHasNoHandle()
    {
        Plan plan = test::mixedStages();
        plan.parallelism.data = 4; // the first stages on one pool, the second on the other
        start(test::balanced(plan));
        for (const GpuShareRow *each : m_panel->rows())
            QVERIFY(!each->workBar()->handle() && each->share().replica.count == 0);
    }

    // The entry that makes pairs of the two L4 says nothing of shares: it stays when shares are unpinned.
    void tensorGroupsStayWhenSharesAreUnpinned()
    {
        Plan plan = samplePlan("mixed-lab");
        plan.parallelism.pipeline = 1;
        plan.parallelism.data = 2;
        RankPin pairs;
        pairs.datacenter = "lab";
        pairs.pool = "lab-l4";
        pairs.tensor = 2;
        plan.heterogeneity.assign = { pairs };
        start(test::balanced(plan));
        QVERIFY(row(QStringLiteral("L4"))->sentenceLine()->text().contains(QStringLiteral("in tensor groups of 2")));
        QVERIFY(!m_panel->unpinAllButton()->isVisible());
        const std::vector<int> before = samples();
        QCOMPARE(before[0] + before[1], 64);
        ShareBar *bar = row(QStringLiteral("L4"))->workBar();
        QTest::mousePress(bar, Qt::LeftButton, {}, handleOf(bar));
        const int fewer = before[0] - 8; // a micro-batch of their own size
        move(bar, placeOf(bar, fewer));
        QTest::mouseRelease(bar, Qt::LeftButton, {}, placeOf(bar, fewer));
        QCOMPARE(samples(), (std::vector<int> { fewer, 64 - fewer }));
        QCOMPARE(m_document->plan()->heterogeneity.assign.front().tensor, std::optional(2));
        m_panel->unpinAllButton()->click();
        QCOMPARE(m_document->plan()->heterogeneity.assign, std::vector<RankPin> { pairs });
        QCOMPARE(samples(), before);
    }

    void arrowKeysMoveAnEndAndStepsOfOneBarAreOneUndo()
    {
        ShareBar *bar = row(QStringLiteral("Tesla P40"))->workBar();
        bar->setFocus();
        QTest::keyClick(bar, Qt::Key_Right);
        QTest::keyClick(bar, Qt::Key_Right);
        QCOMPARE(row(QStringLiteral("Tesla P40"))->share().samples(), 7);
        QCOMPARE(m_document->undoStack().count(), 1);
        QCOMPARE(undoText(), QStringLiteral("Pin 7 of 64 samples on Tesla P40"));
        QTest::keyClick(bar, Qt::Key_Left);
        QCOMPARE(row(QStringLiteral("Tesla P40"))->share().samples(), 6);
        QTest::keyClick(bar, Qt::Key_Delete); // what was pinned is free again
        QCOMPARE(samples(), (std::vector<int> { 13, 12, 34, 5 }));
        QVERIFY(!row(QStringLiteral("Tesla P40"))->share().isWorkPinned);
    }

    void aPinIsTakenOutByItsButtonOrAllByOne()
    {
        for (const char *gpu : { "Tesla P40", "RTX A6000" }) {
            ShareBar *bar = row(QString::fromLatin1(gpu))->workBar();
            bar->setFocus();
            QTest::keyClick(bar, Qt::Key_Left);
        }
        QVERIFY(m_panel->unpinAllButton()->isVisible());
        QTest::mouseClick(row(QStringLiteral("RTX A6000"))->unpinButton(), Qt::LeftButton);
        QCOMPARE(undoText(), QStringLiteral("Unpin the share of RTX A6000"));
        QVERIFY(!row(QStringLiteral("RTX A6000"))->share().isWorkPinned);
        QVERIFY(row(QStringLiteral("Tesla P40"))->share().isWorkPinned);
        QTest::mouseClick(m_panel->unpinAllButton(), Qt::LeftButton);
        QCOMPARE(*m_document->plan(), samplePlan("cephalo-lab"));
        QVERIFY(!m_panel->unpinAllButton()->isVisible());
    }

    void unequalGpusThatShareEvenlyAreToldSoAndBalancedByOneClick()
    {
        Plan plan = samplePlan("cephalo-lab");
        plan.heterogeneity.compute = ComputeSharing::Even;
        plan.heterogeneity.state = StateSharing::Even;
        start(plan);
        QVERIFY2(m_panel->sentenceLine()->text().startsWith(QStringLiteral("Unequal GPUs share evenly")),
            qPrintable(m_panel->sentenceLine()->text()));
        QTest::mouseClick(m_panel->balanceButton(), Qt::LeftButton);
        QCOMPARE(m_document->plan()->heterogeneity.compute, ComputeSharing::Balanced);
        QCOMPARE(samples(), (std::vector<int> { 13, 12, 34, 5 }));
        QCOMPARE(undoText(), QStringLiteral("Share work and states by what GPUs can do"));
    }

    void equalGpusHaveNothingToShareUnevenly()
    {
        start(samplePlan("gpt3-175b-1024-a100"));
        QCOMPARE(m_panel->sentenceLine()->text(), QStringLiteral("All GPUs are alike and share evenly."));
        QVERIFY(samples().empty());
        QVERIFY(!m_panel->balanceButton()->isVisible() && !m_panel->comparison()->isVisible());
    }

    void everyBarIsNamedForScreenReaders()
    {
        const GpuShareRow *p40 = row(QStringLiteral("Tesla P40"));
        QVERIFY(p40->workBar()->accessibleName().startsWith(QStringLiteral("Work of Tesla P40: 5 of 64 samples")));
        QVERIFY(p40->stateBar()->accessibleName().startsWith(QStringLiteral("Memory of Tesla P40: ")));
        QCOMPARE(p40->workBar()->focusPolicy(), Qt::StrongFocus);
        QCOMPARE(p40->idleBar()->focusPolicy(), Qt::NoFocus);
    }
};

TRAINYARD_TEST(GpuSharesPanelTest)
#include "tst_gpu_shares_panel.moc"

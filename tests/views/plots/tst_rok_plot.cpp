// SPDX-License-Identifier: GPL-3.0-or-later
// Recompute, offload, keep with the hands of a user: the plan is marked, a click or a key adopts a point.
#include "tests/support/test_program.h"
#include "views/plots/rok_plot.h"

#include "../panels/hand_made.h"
#include "views/plots/curves_panel.h"
#include "views/plots/qcustomplot_gateway.h"
#include "views/theme/theme.h"

#include <QSignalSpy>
#include <QTest>

using namespace trainyard;

namespace {

RokPoint point(ActivationWay way, int microBatch, double gigabytes, double tflops, const PlanPtr &plan = nullptr)
{
    RokPoint p;
    p.way = way;
    p.microBatch = microBatch;
    p.activationPeak = gigabytes * 1e9;
    p.tflopsPerGpu = tflops;
    p.iterationTime = 1000 / tflops;
    p.capacity = 80'000'000'000;
    p.device = std::int64_t((50 + gigabytes) * 1e9);
    p.fits = p.device <= p.capacity;
    p.isCurrent = plan != nullptr;
    p.plan = plan ? plan : std::make_shared<const Plan>(handmade::plan());
    p.sentence = std::string(toString(way)) + " at " + std::to_string(microBatch);
    return p;
}

RokCurvesPtr curves(const PlanPtr &plan)
{
    auto made = std::make_shared<RokCurves>();
    made->plan = plan;
    made->isComplete = true;
    made->points = { point(ActivationWay::Recompute, 1, 2, 300), point(ActivationWay::Offload, 1, 8, 398),
        point(ActivationWay::Keep, 1, 16, 400, plan), point(ActivationWay::Recompute, 2, 4, 330),
        point(ActivationWay::Offload, 2, 15, 438), point(ActivationWay::Keep, 2, 32, 440) };
    return made;
}

} // namespace

class RokPlotTest : public QObject {
    Q_OBJECT
    const PlanPtr m_plan = std::make_shared<const Plan>(handmade::plan());
    std::unique_ptr<CurvesPanel> m_panel;

    [[nodiscard]] RokPlot &plot() { return *m_panel->rok(); }
    [[nodiscard]] const RokPoint &at(int index) { return plot().curves()->points[std::size_t(index)]; }
    void click(int index) { QTest::mouseClick(&plot().chart(), Qt::LeftButton, {}, plot().positionOf(at(index))); }

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }

    void init()
    {
        m_panel = std::make_unique<CurvesPanel>();
        m_panel->resize(900, 260);
        m_panel->setTab(CurvesPanel::Tab::Rok);
        plot().setBase(m_plan);
        plot().setCurves(curves(m_plan));
        m_panel->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_panel.get()));
    }
    void cleanup() { m_panel.reset(); }

    void aClickAdoptsThePointUnderIt()
    {
        QSignalSpy committed(&plot(), &RokPlot::editCommitted);
        click(4);
        QCOMPARE(committed.count(), 1);
        QCOMPARE(committed[0][0].value<PlanPtr>(), at(4).plan);
        QCOMPARE(committed[0][1].toString(), QStringLiteral("offload at 2"));
    }

    void thePlanItselfAndThePlaceBesideAPointAdoptNothing()
    {
        QSignalSpy committed(&plot(), &RokPlot::editCommitted);
        click(2); // the plan
        QTest::mouseClick(&plot().chart(), Qt::LeftButton, {}, plot().positionOf(at(0)) + QPoint(200, 0));
        QTest::mouseClick(&plot().chart(), Qt::RightButton, {}, plot().positionOf(at(4)));
        QCOMPARE(committed.count(), 0);
    }

    void pointsOfAnotherPlanCannotBeAdopted()
    {
        QSignalSpy committed(&plot(), &RokPlot::editCommitted);
        plot().setBase(std::make_shared<const Plan>(handmade::plan()));
        click(4);
        QCOMPARE(committed.count(), 0);
    }

    void arrowsWalkAndEnterAdopts()
    {
        QSignalSpy committed(&plot(), &RokPlot::editCommitted);
        plot().setFocus();
        QTest::keyClick(&plot(), Qt::Key_Return); // nothing chosen yet
        QCOMPARE(committed.count(), 0);
        QTest::keyClick(&plot(), Qt::Key_Right); // from the plan (keep 1) to keep 2
        QTest::keyClick(&plot(), Qt::Key_Down); // to offload 2
        QVERIFY(plot().accessibleDescription().contains("Offload, micro-batch 2"));
        QTest::keyClick(&plot(), Qt::Key_Down); // to recompute 2
        QTest::keyClick(&plot(), Qt::Key_Left); // to recompute 1
        QTest::keyClick(&plot(), Qt::Key_Left); // no smaller one
        QTest::keyClick(&plot(), Qt::Key_Return);
        QCOMPARE(committed.count(), 1);
        QCOMPARE(committed[0][0].value<PlanPtr>(), at(0).plan);
    }

    void thePlanAndTheWaysAreNamed()
    {
        QVERIFY(plot().note().contains("keep, micro-batch 1"));
        QStringList names;
        for (const CurvePlot::LegendEntry &entry : plot().legend())
            names << entry.name;
        QCOMPARE(names, (QStringList { "recompute", "offload", "keep" }));
        QCOMPARE(plot().toTsv().split(u'\n', Qt::SkipEmptyParts).size(), 7);
        QVERIFY(plot().toTsv().contains("keep\t2\t32000000000\t440\t"));
    }

    void whatDoesNotFitIsHollow()
    {
        // Only keep at 2 takes 82 of 80 GB: one dot is drawn by a style whose brush is the panel's.
        int hollow = 0, full = 0;
        QCustomPlot &chart = plot().chart();
        for (int i = 0; i < chart.plottableCount(); ++i) {
            const auto *curve = qobject_cast<QCPCurve *>(chart.plottable(i));
            if (!curve || curve->scatterStyle().isNone() || curve->scatterStyle().size() > 8)
                continue;
            (curve->scatterStyle().brush().color() == theme().panel ? hollow : full) += curve->dataCount();
        }
        QCOMPARE(hollow, 1);
        QCOMPARE(full, 5);
    }

    void aPlanWithoutMemoryModelSaysWhy()
    {
        auto none = std::make_shared<RokCurves>();
        none->plan = m_plan;
        none->nothing = QStringLiteral("The plan's measured profile says nothing of activations");
        plot().setCurves(none);
        QCOMPARE(plot().chart().plottableCount(), 0);
        QVERIFY(plot().accessibleDescription().contains("measured profile"));
        QSignalSpy committed(&plot(), &RokPlot::editCommitted);
        QTest::keyClick(&plot(), Qt::Key_Right);
        QTest::keyClick(&plot(), Qt::Key_Return);
        QCOMPARE(committed.count(), 0);
    }

    void itIsWatchedWhileItsTabIsInFront()
    {
        QSignalSpy watched(&plot(), &RokPlot::watched);
        m_panel->setTab(CurvesPanel::Tab::Memory);
        QCOMPARE(watched.takeFirst()[0].toBool(), false);
        m_panel->setTab(CurvesPanel::Tab::Rok);
        QCOMPARE(watched.takeFirst()[0].toBool(), true);
    }
};

TRAINYARD_TEST(RokPlotTest)
#include "tst_rok_plot.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// The memory panel with the hands of a user: the steps that make a plan fit, what free memory buys, and what offload
// does.
#include "hand_made.h"
#include "tests/support/test_program.h"
#include "tests/support/told.h"
#include "views/panels/fact_table.h"
#include "views/panels/fit_steps.h"
#include "views/panels/hover_button.h"
#include "views/panels/memory_details.h"
#include "views/panels/part_row.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QSignalSpy>
#include <QTest>

using namespace trainyard;

namespace {

PlanPtr planOf(int microBatch)
{
    Plan plan = handmade::plan();
    plan.workload.microBatch = microBatch;
    return handmade::shared(plan);
}

std::shared_ptr<MemoryAdvice> stepsFor(const PlanPtr &plan)
{
    auto advice = std::make_shared<MemoryAdvice>();
    advice->plan = plan;
    advice->fitting.fits = true;
    advice->fitting.before = { true, false, 95'000'000'000, 80'000'000'000 };
    advice->fitting.summary = "Two steps make it fit";
    advice->fitting.steps = { { "zero-1", "ZeRO-1", "ZeRO-1: frees 10 GB a GPU", planOf(2), 10'000'000'000,
                                  85'000'000'000, 80'000'000'000, 12.5, 0.0 },
        { "recompute", "Recompute", "Recompute: frees 20 GB a GPU", planOf(3), 20'000'000'000, 65'000'000'000,
            80'000'000'000, 15.0, 0.2 } };
    advice->fitting.plan = advice->fitting.steps.back().plan;
    advice->isComplete = true;
    return advice;
}

std::shared_ptr<MemoryAdvice> offersFor(const PlanPtr &plan)
{
    auto advice = std::make_shared<MemoryAdvice>();
    advice->plan = plan;
    advice->fitting.fits = true;
    advice->fitting.before = { true, true, 60'000'000'000, 80'000'000'000 };
    advice->fitting.plan = plan;
    RankedPart offer;
    offer.part.label = "micro-batch 4";
    offer.part.sentence = "Micro-batch 4: 11 % more tokens a second";
    offer.part.plan = planOf(4);
    offer.effect.iterationTime = 11.25;
    offer.effect.change = -0.1;
    advice->offers = { offer };
    advice->isComplete = true;
    return advice;
}

} // namespace

class MemoryDetailsTest : public QObject {
    Q_OBJECT
    const EvaluationPtr m_evaluation = handmade::shared(handmade::evaluation());
    const PlanPtr m_plan = m_evaluation->plan;
    std::unique_ptr<MemoryDetails> m_panel;

    [[nodiscard]] bool says(const QString &text) const
    {
        for (const TextLine *line : m_panel->findChildren<TextLine *>())
            if (line->isVisibleTo(m_panel.get()) && line->text().contains(text))
                return true;
        return false;
    }

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }
    void init()
    {
        m_panel = std::make_unique<MemoryDetails>();
        m_panel->resize(420, 700);
        m_panel->setShown(shownOf(m_plan));
        m_panel->setShown(test::told(m_plan, m_evaluation));
        m_panel->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_panel.get()));
    }
    void cleanup() { m_panel.reset(); }

    void theStepsAreAdoptedAtOnce()
    {
        QSignalSpy committed(m_panel.get(), &MemoryDetails::editCommitted);
        const auto advice = stepsFor(m_plan);
        m_panel->setAdvice(advice);
        QVERIFY(says("Two steps make it fit"));
        QVERIFY(says("1  ZeRO-1: frees 10 GB a GPU") && says("2  Recompute: frees 20 GB a GPU"));
        QTest::mouseClick(m_panel->fitSteps()->adoptButton(), Qt::LeftButton);
        QCOMPARE(committed.count(), 1);
        QCOMPARE(committed[0][0].value<PlanPtr>(), advice->fitting.plan);
        QCOMPARE(committed[0][1].toString(), QStringLiteral("Fit this model"));
    }

    void stepsStillOnTheirWayCannotBeAdopted()
    {
        const auto advice = stepsFor(m_plan);
        advice->isComplete = false;
        m_panel->setAdvice(advice);
        QVERIFY(says("2  Recompute: frees 20 GB a GPU"));
        QVERIFY(!m_panel->fitSteps()->adoptButton()->isVisible());
    }

    void whatCannotBeMadeToFitHasNoButton()
    {
        const auto advice = stepsFor(m_plan);
        advice->fitting.fits = false;
        advice->fitting.summary = "Even so it does not fit";
        m_panel->setAdvice(advice);
        QVERIFY(says("Even so it does not fit"));
        QVERIFY(!m_panel->fitSteps()->adoptButton()->isVisible());
    }

    void adviceOnAnotherPlanCannotBeApplied()
    {
        QSignalSpy committed(m_panel.get(), &MemoryDetails::editCommitted);
        m_panel->setAdvice(stepsFor(planOf(7)));
        QTest::mouseClick(m_panel->fitSteps()->adoptButton(), Qt::LeftButton);
        m_panel->setAdvice(offersFor(planOf(7)));
        QTest::mouseClick(m_panel->offers().front()->applyButton(), Qt::LeftButton);
        QCOMPARE(committed.count(), 0);
    }

    void anOfferIsAppliedWithOneClick()
    {
        QSignalSpy committed(m_panel.get(), &MemoryDetails::editCommitted);
        const auto advice = offersFor(m_plan);
        m_panel->setAdvice(advice);
        QVERIFY(!m_panel->fitSteps()->isVisible());
        QCOMPARE(m_panel->offers().size(), std::size_t(1));
        QCOMPARE(m_panel->offers().front()->changeLine()->text(), QStringLiteral("−10.0 %"));
        QTest::mouseClick(m_panel->offers().front()->applyButton(), Qt::LeftButton);
        QCOMPARE(committed.count(), 1);
        QCOMPARE(committed[0][0].value<PlanPtr>(), advice->offers[0].part.plan);
        QCOMPARE(committed[0][1].toString(), QStringLiteral("Micro-batch 4: 11 % more tokens a second"));
    }

    void noOfferSaysSo()
    {
        auto advice = offersFor(m_plan);
        advice->offers.clear();
        m_panel->setAdvice(advice);
        QVERIFY(says("that fits is faster"));
    }

    void offloadThatIsOnHasItsNumbers()
    {
        QVERIFY(!m_panel->findChild<FactTable *>()->isVisible());
        Evaluation evaluation = *m_evaluation;
        evaluation.metrics.offload = handmade::offload();
        m_panel->setShown(test::told(m_plan, handmade::shared(evaluation)));
        for (const char *what : { "24.0 GB", "12 GB/s", "−40.0 %", "250 ms", "3.2 years", "$360" })
            QVERIFY2(says(QString::fromUtf8(what)), what);
    }

    void itIsWatchedWhileItIsInSight()
    {
        QSignalSpy watched(m_panel.get(), &MemoryDetails::watched);
        m_panel->hide();
        QCOMPARE(watched.takeFirst()[0].toBool(), false);
        m_panel->show();
        QCOMPARE(watched.takeFirst()[0].toBool(), true);
    }
};

TRAINYARD_TEST(MemoryDetailsTest)
#include "tst_memory_details.moc"

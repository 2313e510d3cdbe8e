// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/memory_advice.h"
#include "tests/support/nothing_under_way.h"
#include "tests/support/test_program.h"

#include <QSignalSpy>
#include <QTest>

#include "tests/core/evaluation/memory_fit/ladder_plans.h"

using namespace trainyard;

namespace {

PlanPtr shared(Plan plan)
{
    return std::make_shared<const Plan>(std::move(plan));
}

/// Llama 3 8B whole on one GPU: its states alone take more than 80 GB.
Plan tooLarge()
{
    Plan plan = test::oneNode();
    plan.parallelism.zeroStage = 0;
    return plan;
}

/// The same with room to spare.
Plan roomy()
{
    Plan plan = test::oneNode();
    plan.memory.recompute = Recompute::Full;
    plan.parallelism.tensor = 4;
    return plan;
}

} // namespace

class MemoryAdviceTest : public QObject {
    Q_OBJECT
private:
    static MemoryAdvicePtr adviceFor(const PlanPtr &plan)
    {
        MemoryAdviser adviser(builtinCatalogue());
        adviser.setRest(std::chrono::milliseconds(0));
        MemoryAdvicePtr last;
        QObject context;
        connect(
            &adviser, &MemoryAdviser::adviceChanged, &context, [&](const MemoryAdvicePtr &advice) { last = advice; });
        adviser.setWatched(true);
        adviser.setPlan(plan);
        if (!QTest::qWaitFor([&] { return last && last->isComplete; }, 60000))
            qFatal("no advice");
        return last;
    }

private slots:
    void aPlanThatDoesNotFitGetsTheStepsOfTheLadder()
    {
        const PlanPtr plan = shared(tooLarge());
        const MemoryAdvicePtr advice = adviceFor(plan);
        EvaluationWorkspace workspace;
        const Fitting expected = fitModel(plan, builtinCatalogue(), workspace);
        QVERIFY(!advice->fitting.before.fits && advice->fitting.fits);
        QCOMPARE(advice->fitting.steps.size(), expected.steps.size());
        for (std::size_t i = 0; i < expected.steps.size(); ++i)
            QCOMPARE(advice->fitting.steps[i].sentence, expected.steps[i].sentence);
        QCOMPARE(*advice->fitting.plan, *expected.plan);
        QVERIFY(advice->offers.empty()); // there is no free memory to spend
    }

    void aPlanThatFitsGetsWhatItsMemoryBuys()
    {
        const PlanPtr plan = shared(roomy());
        const MemoryAdvicePtr advice = adviceFor(plan);
        QVERIFY(advice->fitting.before.fits && advice->fitting.steps.empty());
        QVERIFY(!advice->offers.empty());
        const double now = *test::evaluated(*plan)->metrics.iterationTime;
        for (const RankedPart &offer : advice->offers) {
            const double then = *test::evaluated(*offer.part.plan)->metrics.iterationTime;
            // The same batch in less time: tokens a second and seconds are each other's inverse.
            QVERIFY(std::abs(*offer.effect.iterationTime / then - 1) < 1e-9);
            QVERIFY(std::abs(*offer.effect.change - (then / now - 1)) < 1e-9);
        }
    }

    void aProfileGetsNeither()
    {
        const MemoryAdvicePtr advice = adviceFor(shared(test::atlasRow(4, 4, 1, 2, ScheduleKind::OneFOneB)));
        QVERIFY(advice->fitting.steps.empty() && advice->offers.empty());
    }

    void nothingIsSearchedWhileNobodyLooks()
    {
        MemoryAdviser adviser(builtinCatalogue());
        adviser.setRest(std::chrono::milliseconds(0));
        QSignalSpy changed(&adviser, &MemoryAdviser::adviceChanged);
        adviser.setPlan(shared(roomy()));
        test::untilNothingIsUnderWay();
        QCOMPARE(changed.count(), 0);
        adviser.setWatched(true);
        QTRY_VERIFY_WITH_TIMEOUT(changed.count() > 0, 60000);
    }
};

TRAINYARD_GUILESS_TEST(MemoryAdviceTest)
#include "tst_memory_advice.moc"

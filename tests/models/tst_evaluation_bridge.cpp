// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/evaluation_bridge.h"
#include "tests/support/nothing_under_way.h"
#include "tests/support/test_program.h"

#include "core/facts/plan/plan_io.h"

#include <QSignalSpy>
#include <QTest>

using namespace trainyard;

class EvaluationBridgeTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        auto read = readPlan(TRAINYARD_SOURCE_DIR "/samples/mixed-lab.trainyard.json");
        QVERIFY(read);
        m_base = std::move(*read);
    }
    void aBurstOfRequestsEndsWithTheNewestAndNeverGoesBack()
    {
        EvaluationBridge bridge(builtinCatalogue());
        std::vector<PlanPtr> asked, shown;
        connect(&bridge, &EvaluationBridge::evaluationFinished, this,
            [&](const EvaluationPtr &e) { shown.push_back(e->plan); });
        for (int i = 1; i <= 50; ++i) {
            asked.push_back(plan(4 * i));
            bridge.request(asked.back(), Urgency::Hover);
            QCoreApplication::processEvents();
            if (i % 10 == 0) // some is shown between requests, whatever this machine takes for one
                QTRY_VERIFY(shown.size() >= std::size_t(i / 10));
        }
        QTRY_VERIFY(bridge.evaluation() && bridge.evaluation()->plan == asked.back());
        QVERIFY(!bridge.isStale());
        auto at = asked.cbegin();
        for (const PlanPtr &one : shown) {
            at = std::find(at, asked.cend(), one); // in the order asked, though not all of them
            QVERIFY(at != asked.cend());
        }
    }
    void whatWasTriedIsNotShownAfterTheUserDecided()
    {
        EvaluationBridge bridge(builtinCatalogue());
        const PlanPtr decided = plan(8);
        QSignalSpy finished(&bridge, &EvaluationBridge::evaluationFinished);
        bridge.request(plan(4), Urgency::Hover);
        bridge.request(decided, Urgency::Settle);
        QTRY_VERIFY(!finished.isEmpty());
        test::untilNothingIsUnderWay();
        QCOMPARE(finished.count(), 1);
        QCOMPARE(bridge.evaluation()->plan, decided);
        QCOMPARE(bridge.settled(), bridge.evaluation());
    }
    void aDragGivenUpShowsWhatWasKnownAtOnce()
    {
        EvaluationBridge bridge(builtinCatalogue());
        const PlanPtr home = plan(28), tried = plan(16); // no other test settles on it: the pool would know it
        bridge.request(home, Urgency::Settle);
        QTRY_VERIFY(bridge.settled());
        const EvaluationPtr known = bridge.settled();
        QVERIFY(!bridge.wasKnown());
        bridge.request(tried, Urgency::Hover);
        QTRY_VERIFY(bridge.evaluation()->plan == tried);
        QCOMPARE(bridge.settled(), known);
        bridge.request(home, Urgency::Settle);
        QCOMPARE(bridge.evaluation(), known);
        QVERIFY(!bridge.isStale());
        QVERIFY(bridge.wasKnown());
        EvaluationBridge other(builtinCatalogue());
        other.request(plan(28), Urgency::Settle); // an equal plan, of the pool's cache
        QTRY_VERIFY(other.settled());
        QVERIFY(other.wasKnown());
    }
    void aDragDoesNotWaitForASolverOfJobs()
    {
        Plan jobs = m_base;
        for (const char *name : { "a", "b", "c" }) {
            jobs.jobs.emplace_back();
            jobs.jobs.back().name = name;
            jobs.jobs.back().model = "gpt-3-125m";
        }
        jobs.jobScheduler = JobScheduler::ShardMilp;
        const auto asked = std::make_shared<const Plan>(std::move(jobs));
        EvaluationBridge bridge(builtinCatalogue());
        bridge.request(asked, Urgency::Hover);
        QTRY_VERIFY(bridge.evaluation());
        QCOMPARE(bridge.evaluation()->plan->jobScheduler, JobScheduler::ShardedLrtf);
        QVERIFY(bridge.evaluation()->problems.back().text.find("the solver is asked") != std::string::npos);
        bridge.request(asked, Urgency::Settle); // is not what the drag has shown
        QTRY_VERIFY(bridge.settled());
        QCOMPARE(bridge.settled()->plan, asked);
    }
    void aDropOfWhatWasTriedIsNotEvaluatedAgain()
    {
        EvaluationBridge bridge(builtinCatalogue());
        const PlanPtr tried = plan(16);
        bridge.request(tried, Urgency::Hover);
        QTRY_VERIFY(bridge.evaluation());
        const EvaluationPtr inTheAir = bridge.evaluation();
        bridge.request(tried, Urgency::Settle);
        QCOMPARE(bridge.evaluation(), inTheAir);
        QCOMPARE(bridge.settled(), inTheAir);
        QVERIFY(!bridge.isStale());
        QVERIFY(!bridge.wasKnown()); // evaluated a moment ago, for the same gesture
    }
    void aPlanThatCannotBeEvaluatedSaysWhyAndKeepsTheLast()
    {
        EvaluationBridge bridge(builtinCatalogue());
        bridge.request(plan(8), Urgency::Settle);
        QTRY_VERIFY(bridge.evaluation());
        const EvaluationPtr last = bridge.evaluation();
        Plan bad = m_base;
        bad.workload.inlineModel.reset();
        bad.workload.model = "no-such-model";
        QSignalSpy failed(&bridge, &EvaluationBridge::evaluationFailed);
        bridge.request(std::make_shared<const Plan>(bad), Urgency::Settle);
        QVERIFY(failed.wait());
        QCOMPARE(failed[0][0].value<PlanPtr>()->workload.model, bad.workload.model);
        QVERIFY(!failed[0][1].value<Errors>().empty());
        QCOMPARE(bridge.evaluation(), last);
        QVERIFY(!bridge.settled());
        QVERIFY(!bridge.isStale()); // nothing more will come
        bridge.request(last->plan, Urgency::Settle);
        QCOMPARE(bridge.settled(), last);
    }
    void aPinWhileADragIsInTheAirPinsWhatWasDecided()
    {
        EvaluationBridge bridge(builtinCatalogue());
        bridge.request(plan(8), Urgency::Settle);
        QTRY_VERIFY(bridge.settled());
        const EvaluationPtr decided = bridge.settled();
        const PlanPtr tried = plan(16);
        bridge.request(tried, Urgency::Hover);
        QTRY_VERIFY(bridge.evaluation()->plan == tried);
        bridge.pinBaseline();
        QCOMPARE(bridge.baseline(), decided);
    }
    void theBaselineStaysWhileThePlanMovesOn()
    {
        EvaluationBridge bridge(builtinCatalogue());
        bridge.request(plan(8), Urgency::Settle);
        QTRY_VERIFY(bridge.evaluation());
        bridge.pinBaseline();
        const EvaluationPtr pinned = bridge.baseline();
        bridge.request(plan(16), Urgency::Settle);
        QTRY_VERIFY(bridge.evaluation() != pinned);
        QCOMPARE(bridge.baseline(), pinned);
        bridge.clearBaseline();
        QVERIFY(!bridge.baseline());
    }

private:
    [[nodiscard]] PlanPtr plan(int globalBatch) const
    {
        Plan next = m_base;
        next.workload.globalBatch = globalBatch;
        return std::make_shared<const Plan>(next);
    }

    Plan m_base;
};

TRAINYARD_GUILESS_TEST(EvaluationBridgeTest)
#include "tst_evaluation_bridge.moc"

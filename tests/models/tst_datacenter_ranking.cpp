// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/datacenter_ranking.h"
#include "tests/support/nothing_under_way.h"
#include "tests/support/test_program.h"

#include "core/facts/plan/plan_io.h"

#include <QSignalSpy>
#include <QTest>

#include <memory>
#include <utility>

#include "tests/support/plans.h"

using namespace trainyard;

class DatacenterRankingTest : public QObject {
    Q_OBJECT
private:
    static PlanPtr three(int globalBatch = 64)
    {
        Plan plan = test::threeSites(6);
        plan.workload.globalBatch = globalBatch;
        return std::make_shared<const Plan>(std::move(plan));
    }

private slots:
    void itRanksThePlanThatIsShownOnAnotherThread()
    {
        DatacenterRanking ranking(builtinCatalogue());
        QList<SelectionPtr> arrived;
        connect(&ranking, &DatacenterRanking::rankingChanged, this, [&](const SelectionPtr &s) {
            QCOMPARE(QThread::currentThread(), thread());
            arrived << s;
        });
        ranking.setWatched(true);
        const PlanPtr plan = three();
        ranking.setPlan(plan, Urgency::Settle);
        QVERIFY(arrived.isEmpty()); // never within the call
        QTRY_COMPARE(arrived.size(), 1);
        QCOMPARE(arrived[0]->plan, plan);
        EvaluationWorkspace workspace;
        const auto expected = selectDatacenters(plan, builtinCatalogue(), workspace);
        QCOMPARE(arrived[0]->options.size(), expected->options.size());
        QCOMPARE(arrived[0]->options[0].seconds, expected->options[0].seconds);
    }

    void theNewestOfManyEditsIsTheLastToArrive()
    {
        DatacenterRanking ranking(builtinCatalogue());
        QList<PlanPtr> arrived;
        connect(&ranking, &DatacenterRanking::rankingChanged, this, [&](const SelectionPtr &s) { arrived << s->plan; });
        ranking.setWatched(true);
        PlanPtr last;
        QList<PlanPtr> asked;
        for (int i = 0; i < 200; ++i) {
            last = three(64 + i);
            asked << last;
            ranking.setPlan(last, i + 1 < 200 ? Urgency::Hover : Urgency::Settle);
        }
        QTRY_VERIFY(!arrived.isEmpty() && arrived.back() == last);
        test::untilNothingIsUnderWay();
        QCOMPARE(arrived.back(), last);
        QVERIFY(arrived.size() < 200); // what nobody waits for any more is left out
        for (int i = 1; i < arrived.size(); ++i)
            QVERIFY(asked.indexOf(arrived[i - 1]) < asked.indexOf(arrived[i]));
    }

    void nothingIsRankedWhileNobodyLooks()
    {
        DatacenterRanking ranking(builtinCatalogue());
        QSignalSpy changed(&ranking, &DatacenterRanking::rankingChanged);
        ranking.setPlan(three(), Urgency::Settle);
        test::untilNothingIsUnderWay();
        QCOMPARE(changed.count(), 0);
        ranking.setWatched(true);
        QTRY_COMPARE(changed.count(), 1);
    }

    void anotherObjectiveRanksAgain()
    {
        DatacenterRanking ranking(builtinCatalogue());
        QList<SelectionPtr> arrived;
        connect(&ranking, &DatacenterRanking::rankingChanged, this, [&](const SelectionPtr &s) { arrived << s; });
        ranking.setWatched(true);
        ranking.setPlan(three(), Urgency::Settle);
        QTRY_COMPARE(arrived.size(), 1);
        ranking.setObjective(SelectionObjective::Cost);
        QTRY_COMPARE(arrived.size(), 2);
        QCOMPARE(arrived[1]->objective, SelectionObjective::Cost);
        ranking.setObjective(SelectionObjective::Cost);
        test::untilNothingIsUnderWay();
        QCOMPARE(arrived.size(), 2);
    }

    void aPlanThatCannotBeEvaluatedSaysWhy()
    {
        Plan plan = *three();
        plan.workload.model = "no-such-model";
        DatacenterRanking ranking(builtinCatalogue());
        QSignalSpy failed(&ranking, &DatacenterRanking::rankingFailed);
        ranking.setWatched(true);
        ranking.setPlan(std::make_shared<const Plan>(plan), Urgency::Settle);
        QTRY_COMPARE(failed.count(), 1);
        QVERIFY(failed[0][1].toString().contains("no-such-model"));
    }

    /// Once the object is gone nothing holds its plan any more: none waits, and none is ranked.
    void itEndsWhileItWorks()
    {
        for (int i = 0; i < 20; ++i) {
            PlanPtr asked = three(64 + i);
            const std::weak_ptr<const Plan> left = asked;
            {
                DatacenterRanking ranking(builtinCatalogue());
                ranking.setWatched(true);
                ranking.setPlan(std::exchange(asked, nullptr), Urgency::Settle);
                QTest::qWait(i % 4);
                QVERIFY(!left.expired());
            }
            QVERIFY(left.expired());
        }
    }
};

TRAINYARD_GUILESS_TEST(DatacenterRankingTest)
#include "tst_datacenter_ranking.moc"

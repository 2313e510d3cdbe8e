// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/rok_curves.h"
#include "tests/support/nothing_under_way.h"
#include "tests/support/test_program.h"

#include <QSignalSpy>
#include <QTest>

#include <algorithm>
#include <memory>
#include <utility>

#include "tests/support/plans.h"

using namespace trainyard;

class RokCurvesTest : public QObject {
    Q_OBJECT
private:
    static PlanPtr plan(int globalBatch = 8)
    {
        Plan p = test::oneSite(4);
        p.workload.globalBatch = globalBatch;
        return std::make_shared<const Plan>(std::move(p));
    }

    static bool isComplete(const QList<RokCurvesPtr> &arrived)
    {
        return !arrived.isEmpty() && arrived.back()->isComplete;
    }

private slots:
    void theyArriveOnThisThreadAsTheyGrow()
    {
        RokSearch search(builtinCatalogue());
        search.setRest(std::chrono::milliseconds(0));
        QList<RokCurvesPtr> arrived;
        connect(&search, &RokSearch::curvesChanged, this, [&](const RokCurvesPtr &c) {
            QCOMPARE(QThread::currentThread(), thread());
            arrived << c;
        });
        search.setWatched(true);
        const PlanPtr now = plan();
        search.setPlan(now);
        QVERIFY(arrived.isEmpty()); // never within the call
        QTRY_VERIFY_WITH_TIMEOUT(isComplete(arrived), 30000);
        QVERIFY(arrived.size() > 1);
        for (int i = 1; i < arrived.size(); ++i)
            QVERIFY(arrived[i]->points.size() >= arrived[i - 1]->points.size());
        QCOMPARE(arrived.back()->plan, now);
        QCOMPARE(std::ranges::count(arrived.back()->points, true, &RokPoint::isCurrent), std::ptrdiff_t(1));
    }

    void aPointIsTheEvaluationOfItsPlan()
    {
        RokSearch search(builtinCatalogue());
        search.setRest(std::chrono::milliseconds(0));
        QList<RokCurvesPtr> arrived;
        connect(&search, &RokSearch::curvesChanged, this, [&](const RokCurvesPtr &c) { arrived << c; });
        search.setWatched(true);
        search.setPlan(plan());
        QTRY_VERIFY_WITH_TIMEOUT(isComplete(arrived), 30000);
        for (const RokPoint &point : arrived.back()->points) {
            const EvaluationPtr e = test::evaluated(*point.plan);
            QCOMPARE(point.iterationTime, *e->metrics.iterationTime);
            QCOMPARE(point.tflopsPerGpu, *e->metrics.modelTflopsPerGpu);
            QCOMPARE(point.fits, e->metrics.memory->fits);
        }
    }

    void nobodyWaitsForThePlanBefore()
    {
        RokSearch search(builtinCatalogue());
        search.setRest(std::chrono::milliseconds(0));
        QList<RokCurvesPtr> arrived;
        connect(&search, &RokSearch::curvesChanged, this, [&](const RokCurvesPtr &c) { arrived << c; });
        search.setWatched(true);
        PlanPtr last;
        for (int batch = 8; batch < 88; batch += 8) {
            last = plan(batch);
            search.setPlan(last);
            QCoreApplication::processEvents();
            if (batch % 16 == 8) // of these some has arrived and more is under way
                QTRY_VERIFY_WITH_TIMEOUT(!arrived.isEmpty(), 30000);
            for (const RokCurvesPtr &curves : arrived)
                QCOMPARE(curves->plan, last);
            arrived.clear();
        }
        QTRY_VERIFY_WITH_TIMEOUT(isComplete(arrived), 60000);
        QCOMPARE(arrived.back()->plan, last);
    }

    void nothingIsTriedWhileNobodyLooks()
    {
        RokSearch search(builtinCatalogue());
        search.setRest(std::chrono::milliseconds(0));
        QSignalSpy changed(&search, &RokSearch::curvesChanged);
        search.setPlan(plan());
        test::untilNothingIsUnderWay();
        QCOMPARE(changed.count(), 0);
        search.setWatched(true);
        QTRY_VERIFY(changed.count() > 0);
    }

    void aProfileSaysWhyThereIsNone()
    {
        RokSearch search(builtinCatalogue());
        search.setRest(std::chrono::milliseconds(0));
        QList<RokCurvesPtr> arrived;
        connect(&search, &RokSearch::curvesChanged, this, [&](const RokCurvesPtr &c) { arrived << c; });
        search.setWatched(true);
        search.setPlan(std::make_shared<const Plan>(test::atlasRow(4, 4, 1, 2, ScheduleKind::OneFOneB)));
        QTRY_VERIFY(isComplete(arrived));
        QVERIFY(arrived.back()->points.empty());
        QVERIFY(arrived.back()->nothing.contains("profile"));
    }

    /// Once the object is gone nothing holds its plan any more: none waits, and none is worked on.
    void itEndsWhileItWorks()
    {
        for (int i = 0; i < 20; ++i) {
            PlanPtr asked = plan(8 + i);
            const std::weak_ptr<const Plan> left = asked;
            {
                RokSearch search(builtinCatalogue());
                search.setRest(std::chrono::milliseconds(0));
                search.setWatched(true);
                search.setPlan(std::exchange(asked, nullptr));
                QTest::qWait(i % 4);
                QVERIFY(!left.expired());
            }
            QVERIFY(left.expired());
        }
    }
};

TRAINYARD_GUILESS_TEST(RokCurvesTest)
#include "tst_rok_curves.moc"

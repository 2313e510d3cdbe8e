// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/unequal_gpus/layer_time.h"
#include "core/systems/unequal_gpus/profile_tables.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace trainyard;

namespace {

/// f = 3, 5; b = 7, 11; AG = 4, RS = 10, δ = 2; room for an even share beside micro-batch 1 alone.
ShareProblem smallProblem()
{
    ShareProblem problem;
    problem.batch = 8;
    problem.gather = 4;
    problem.reduceScatter = 10;
    problem.overhead = 2;
    problem.unevenPenalty = 1.25;
    problem.stateBytes = 200;
    RankKind &kind = problem.kinds.emplace_back();
    kind.ranks = 2;
    kind.forward = { 3, 5 };
    kind.backward = { 7, 11 };
    kind.compute = { 100, 300 };
    kind.room = 301;
    return problem;
}

double timeOf(const ShareProblem &problem, int m, int l)
{
    return layerTime(problem, problem.kinds.front(), m, l);
}

} // namespace

class TestLayerTime : public QObject {
    Q_OBJECT

private slots:
    void aLayerWaitsForItsCollectivesOrTheyForIt()
    {
        const ShareProblem problem = smallProblem();
        // m = 1, l = 1: max(4, 3) + max(14, 3 + 7)
        QCOMPARE(timeOf(problem, 1, 1), 4.0 + 14);
        // l = 3: max(4, 9) + max(14, 9 + 2 · 2 + 21)
        QCOMPARE(timeOf(problem, 1, 3), 9.0 + 34);
        // m = 2 leaves 1 byte for states, not 100: 1.25 · 4 and 1.25 · 14; max(5, 5) + max(17.5, 5 + 11)
        QCOMPARE(timeOf(problem, 2, 1), 5 + 17.5);
        // A rank that computes nothing takes part in the collectives
        QCOMPARE(timeOf(problem, 0, 0), 4.0 + 14);
    }
    void withoutOverlapAllAddsUp()
    {
        ShareProblem problem = smallProblem();
        problem.overlaps = false;
        // 2 · AG + RS + 2 F + R = 18 + 2 · 9 + (2 · 2 + 21)
        QCOMPARE(timeOf(problem, 1, 3), 18.0 + 18 + 25);
    }
    void plainAccumulationGathersForEachMicroBatch()
    {
        ShareProblem problem = smallProblem();
        problem.layered = false;
        // 3 · (max(4, 3) + max(14, 10)) + 2 · 2
        QCOMPARE(timeOf(problem, 1, 3), 3.0 * 18 + 4);
        QCOMPARE(timeOf(problem, 1, 1), 18.0); // one is one
    }
    void samplesThatStayTakeRoomFromStates()
    {
        ShareProblem problem = smallProblem();
        RankKind &kind = problem.kinds.front();
        kind.compute = { 100, 120 };
        kind.perSample = 25;
        QCOMPARE(computeBytes(kind, 2, 3), 120 + 25.0 * 6);
        QVERIFY(holdsEvenShare(problem, kind, 1, 4)); // 100 + 100 of states + 4 · 25 = 300 of 301
        QVERIFY(!holdsEvenShare(problem, kind, 1, 5));
        QCOMPARE(evenMicroBatch(problem, kind), 2);
        kind.compute = { 100, 60 }; // a dip of the measurement
        QCOMPARE(computeBytes(kind, 2, 1), 100 + 50.0);
    }
    void aPinnedShareIsEvenOnlyIfItIs()
    {
        ShareProblem problem = smallProblem();
        problem.kinds.push_back(problem.kinds.front());
        problem.kinds.back().stateShare = 0.25;
        QVERIFY(holdsEvenShare(problem, problem.kinds.back(), 1, 1));
        QCOMPARE(evenShare(problem), 0.25);
        problem.kinds.back().stateShare = 0.4;
        QVERIFY(!holdsEvenShare(problem, problem.kinds.back(), 1, 1));
        QCOMPARE(evenShare(problem), (1 - 2 * 0.4) / 2);
        QCOMPARE(largestMicroBatch(problem, problem.kinds.front()), 2);
        QCOMPARE(largestMicroBatch(problem, problem.kinds.back()), 1); // beside 0.4 · 200
    }
    void tablesGoOnAsTheReleasedCodeReadsThem()
    {
        QCOMPARE(lineTable(2, 0.5, 3), (std::vector<double> { 2.5, 4.5, 6.5 }));
        QCOMPARE(extendedByLine({ 3, 4 }, 2, 0.5, 3), (std::vector<double> { 3, 4, 6.5 }));
        // Of the last five points 2, 3, 4, 5, 8 the mean slope is 6 / 4
        QCOMPARE(extrapolated({ 100, 2, 3, 4, 5, 8 }, 8), (std::vector<double> { 100, 2, 3, 4, 5, 8, 9.5, 11 }));
        QCOMPARE(extrapolated({ 7 }, 3), (std::vector<double> { 7, 7, 7 }));
        QVERIFY(extrapolated({}, 3).empty());
    }
};

TRAINYARD_APPLESS_TEST(TestLayerTime)
#include "tst_layer_time.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab_cluster.h"
#include "random_problem.h"
#include "tests/support/test_program.h"

#include "core/systems/unequal_gpus/shares.h"

#include <QtTest>

using namespace trainyard;

namespace {

QString errorOf(const ShareProblem &problem)
{
    const auto shares = fastShares(problem);
    return shares ? QString() : QString::fromStdString(toString(shares.error()));
}

const RankShare &shareOf(const Shares &shares, int kind)
{
    return *std::ranges::find(shares.ranks, kind, &RankShare::kind);
}

} // namespace

class TestPinsAndErrors : public QObject {
    Q_OBJECT

private slots:
    void aPinnedRankDoesWhatItIsToldAndTheOthersTheRest()
    {
        ShareProblem problem = lab::problem();
        problem.kinds[2].microBatch = 4;
        problem.kinds[2].microBatches = 4;
        problem.kinds[2].stateShare = 0.3;
        const auto shares = fastShares(problem);
        QVERIFY(shares.has_value());
        const RankShare &pinned = shareOf(*shares, 2);
        QCOMPARE(pinned.samples(), 16);
        QCOMPARE(pinned.microBatch, 4);
        QCOMPARE(pinned.stateShare, 0.3);
        // T = 2 · 4 · f(4) + 3 δ + 4 · b(4): the slowest
        QCOMPARE(shares->layerTime, 8 * (15.637328 * 4 + 4.132932) + 3 * 10 + 4 * (28.016862 * 4 + 1.877118));
        double states = 0;
        int samples = 0;
        for (const RankShare &rank : shares->ranks) {
            states += rank.ranks * rank.stateShare;
            samples += rank.ranks * rank.samples();
        }
        QVERIFY(std::abs(states - 1) < 1e-9);
        QCOMPARE(samples, 64);
    }
    void pinningWhatWasFoundChangesNothing()
    {
        RandomProblems random(41, { 4, 16, false, true });
        for (int i = 0; i < 200; ++i) {
            ShareProblem problem = random.next();
            for (RankKind &kind : problem.kinds)
                kind.ranks = 1;
            const auto found = fastShares(problem);
            if (!found)
                continue;
            const std::size_t pinned = std::size_t(random.whole(0, int(problem.kinds.size()) - 1));
            problem.kinds[pinned].microBatch = found->ranks[pinned].microBatch;
            problem.kinds[pinned].microBatches = found->ranks[pinned].microBatches;
            const auto again = fastShares(problem);
            QVERIFY(again.has_value());
            QCOMPARE(again->layerTime, found->layerTime);
            QCOMPARE(again->sumMicroBatch, found->sumMicroBatch);
        }
    }
    void aPinIsNeverFasterThanNone()
    {
        RandomProblems random(42, { 4, 16, false, true });
        int feasible = 0;
        for (int i = 0; i < 300; ++i) {
            ShareProblem problem = random.next();
            problem.gather = problem.reduceScatter = 0; // uneven collectives would depend on the pinned state
            const auto free = fastShares(problem);
            RankKind &kind = problem.kinds.front();
            if (i % 3 != 1)
                kind.microBatch = random.whole(1, 4);
            if (i % 3 != 0)
                kind.microBatches = random.whole(1, 3);
            if (i % 2 == 0 && problem.kinds.size() > 1)
                kind.stateShare = random.real(0, 1) / kind.ranks;
            const auto pinned = fastShares(problem);
            if (!pinned)
                continue;
            ++feasible;
            QVERIFY(free && free->layerTime <= pinned->layerTime);
            const RankShare &share = shareOf(*pinned, 0);
            QVERIFY(!kind.microBatch || share.microBatch == *kind.microBatch);
            QVERIFY(!kind.microBatches || share.microBatches == *kind.microBatches);
            QVERIFY(!kind.stateShare || share.stateShare == *kind.stateShare);
        }
        QVERIFY(feasible > 80);
    }
    void aRankPinnedToNothingKeepsStates()
    {
        ShareProblem problem = lab::problem();
        problem.kinds[2].microBatches = 0;
        const auto shares = fastShares(problem);
        QVERIFY(shares.has_value());
        QCOMPARE(shareOf(*shares, 2).samples(), 0);
        QCOMPARE(shareOf(*shares, 2).time, 0.0);
        QVERIFY(shareOf(*shares, 2).stateShare > 0);
    }
    void anErrorNamesTheRankThatDoesNotFit()
    {
        ShareProblem problem = lab::problem();
        problem.kinds[2].compute.assign(8, 16 * lab::kGiB);
        QCOMPARE(errorOf(problem), QString("P40: needs 17.2 GB for 1 sample; expected at most 16.0 GB in all"));
        problem = lab::problem();
        problem.balancesState = false;
        problem.stateBytes = 60 * lab::kGiB;
        QCOMPARE(errorOf(problem),
            QString(
                "L4: needs 1.20 GB for 1 sample and 16.1 GB for its 25.0 % of the states; expected at most 16.0 GB in "
                "all"));
        problem = lab::problem();
        problem.kinds[1].microBatch = 80; // which fits
        QCOMPARE(errorOf(problem),
            QString(
                "A6000: cannot do what it is pinned to in a batch of 64; expected fewer samples, or a larger batch"));
    }
    void aPinnedShareThatDoesNotFitIsNamed()
    {
        ShareProblem problem = lab::problem();
        problem.kinds[2].stateShare = 0.4;
        problem.kinds[2].microBatch = 0;
        QCOMPARE(errorOf(problem),
            QString("P40: needs 17.7 GB for its 40.0 % of the states; expected at most 16.0 GB in all"));
        problem.kinds[2].stateShare = 0.36; // 16.0 GB: no room for a sample
        problem.kinds[2].microBatch.reset();
        QCOMPARE(errorOf(problem),
            QString(
                "P40: needs 1.20 GB for 1 sample and 16.0 GB for its 36.0 % of the states; expected at most 16.0 GB in "
                "all"));
    }
    void anErrorTellsTheTotalThatDoesNotFit()
    {
        ShareProblem problem = lab::problem();
        problem.stateBytes = 80 * lab::kGiB;
        QCOMPARE(errorOf(problem),
            QString(
                "memory of all GPUs: needs 85.9 GB for states and 4.81 GB for the smallest micro-batches; expected at "
                "most 84.4 GB in all"));
        problem = lab::problem();
        problem.batch = 3;
        QCOMPARE(errorOf(problem),
            QString("batch of 3 samples: is less than 4 GPUs need; expected at least 4, or GPUs without samples"));
        problem = lab::problem();
        problem.accumulates = false;
        problem.batch = 400; // 38 + 38 + 89 + 38 in one micro-batch each
        QCOMPARE(errorOf(problem),
            QString("batch of 400 samples: is more than fits on the GPUs or is pinned to them; expected at most 203"));
    }
    void whatIsNoProblemIsSaid()
    {
        ShareProblem problem = lab::problem();
        problem.kinds[0].stateShare = 0.6;
        QCOMPARE(errorOf(problem), QString("pinned shares of the states: add up to 120 %; expected 100 % at most"));
        problem = lab::problem();
        problem.kinds[0].microBatch = 9;
        problem.kinds[0].microBatches = 2'000'000'000;
        QCOMPARE(errorOf(problem),
            QString(
                "pinned shares of the batch: add up to more than its 64 samples; expected fewer pinned samples, or a "
                "larger batch"));
        problem = lab::problem();
        problem.batch = 1'000'000;
        QCOMPARE(errorOf(problem), QString("batch: is 1000000 samples; expected from 1 to 16384"));
        QVERIFY(fastShares(problem, 1000).has_value());
        QVERIFY(!fastShares(problem, 999).has_value());
        problem = lab::problem();
        problem.kinds[0].forward.clear();
        QVERIFY(errorOf(problem).startsWith("L4: has no times or memory of a layer"));
        problem = lab::problem();
        problem.kinds[1].backward[3] = -1;
        QVERIFY(errorOf(problem).startsWith("A6000: has times or bytes that are below 0"));
        problem = lab::problem();
        problem.kinds[1].name.clear();
        problem.kinds[1].stateShare = 1.5;
        QVERIFY(errorOf(problem).startsWith("GPUs of kind 2: is pinned to 150 % of the states"));
        QVERIFY(!fastShares(ShareProblem {}));
        QVERIFY(!releasedShares(ShareProblem {}));
    }
    void theReleasedProgrammeRefusesWhatTakesHours()
    {
        ShareProblem problem = lab::problem();
        problem.kinds[0].ranks = 61;
        problem.batch = 512;
        const auto shares = releasedShares(problem);
        QVERIFY(!shares.has_value());
        QVERIFY(QString::fromStdString(toString(shares.error())).contains("takes too long"));
        QVERIFY(fastShares(problem).has_value());
    }
};

TRAINYARD_APPLESS_TEST(TestPinsAndErrors)
#include "tst_pins_and_errors.moc"

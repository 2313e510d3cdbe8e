// SPDX-License-Identifier: GPL-3.0-or-later
// Sailor's closed form on stages small enough to add up by hand. Its published runs: tests/core/evaluation/validation.

#include "core/systems/unequal_gpus/sailor.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::sailor;

namespace {

/// As many bytes a second whatever the message.
LinkCurve constantLink(double gbytesPerSecond)
{
    return { 0, 0, gbytesPerSecond };
}

/// `replicas` of one layer that takes `seconds` there and back, sends 2.5e8 numbers a sample each way at 1 GB/s.
Stage stageOf(double seconds, int replicas = 1)
{
    Replica replica;
    replica.layers = { { Seconds { seconds / 3 }, Seconds { seconds * 2 / 3 }, Seconds { seconds / 10 } } };
    replica.parameters = 1e9;
    replica.activations = 1e9;
    replica.toNext = replica.toPrevious = replica.toNextReplica = constantLink(1);
    return { std::vector<Replica>(std::size_t(replicas), replica), 1e9, 2.5e8, 2.5e8 };
}

void compareSeconds(Seconds actual, double expected)
{
    QVERIFY2(std::abs(actual.value - expected) < 1e-9 * expected + 1e-12,
        qPrintable(QStringLiteral("%1 for %2").arg(actual.value).arg(expected)));
}

} // namespace

class TstSailor : public QObject {
    Q_OBJECT

private slots:
    void aLinkIsAQuadraticInTheLogarithmOfTheMessage()
    {
        // 4 MB: q = 2, so 0.5 * 4 + 3 * 2 + 10 = 18 GB/s.
        const LinkCurve link { 0.5, 3, 10 };
        QCOMPARE(bandwidth(link, Bytes { 4e6 }).value, 18e9);
        compareSeconds(transferTime(link, Bytes { 4e6 }), 4e6 / 18e9);
    }

    void beyondWhatWasProfiledTheRateIsThatOfTheEdge()
    {
        const LinkCurve link { -2, 3, 10 }; // below zero from 9 MB on
        LinkCurve short8MB = link;
        short8MB.most = Bytes { 4e6 };
        QCOMPARE(bandwidth(short8MB, Bytes { 1e9 }).value, bandwidth(link, Bytes { 4e6 }).value);
        QCOMPARE(bandwidth(link, Bytes { 1 }).value, 10e9);
    }

    void anAllReduceGoesBucketByBucket()
    {
        // 1.2e9 bytes over 4 replicas at 1 GB/s: buckets of 0.5, 0.5 and 0.2 GB, each 2 * 3 / 4 of its bytes.
        compareSeconds(allReduceTime(constantLink(1), Bytes { 1.2e9 }, 4), 2.0 * 3 / 4 * 1.2);
        // A link that is faster with small messages is asked for x / D of a bucket, not of the whole: 125 MB.
        const LinkCurve falling { 0, -1, 10 };
        const double perBucket = 6 * 0.125 / (10 - std::log2(125.0)), rest = 6 * 0.05 / (10 - std::log2(50.0));
        compareSeconds(allReduceTime(falling, Bytes { 1.2e9 }, 4), 2 * perBucket + rest);
        compareSeconds(allReduceTime(constantLink(1), Bytes { 1e9 }, 1), 0);
    }

    void oneStageTakesItsTurnsAndOneStep()
    {
        // T_pp = N_b comp + update: 5 micro-batches of 3 s, 0.3 s for the step; no exchange, no sync.
        const auto prediction = predict({ { stageOf(3) }, 2, 10, {} });
        QVERIFY(prediction);
        QCOMPARE(prediction->microBatches, 5);
        compareSeconds(prediction->pipeline, 5 * 3 + 0.3);
        compareSeconds(prediction->sync, 0);
    }

    void aBatchThatDoesNotDivideIsRoundedUp()
    {
        const auto prediction = predict({ { stageOf(3, 2) }, 2, 10, {} });
        QCOMPARE(prediction->microBatches, 3); // ceil(10 / (2 * 2))
    }

    void twoStagesWaitForTheSlowerOneAndItsTransfers()
    {
        // A transfer of 2.5e8 numbers is 1e9 bytes, 1 s. comm = 1 s (activations), 2 s (gradients count twice).
        // T_pp = 3 + 6 + 1 + 2 + (4 - 1) (6 + 2) + 0.6
        const auto prediction = predict({ { stageOf(3), stageOf(6) }, 1, 4, {} });
        compareSeconds(prediction->pipeline, 3 + 6 + 1 + 2 + 3 * (6 + 2) + 0.6);
    }

    void beyondThreeStagesTheFirstSendsTwice()
    {
        // comm of three stages: 1, 1 + 1, 2; of four: 2, 1 + 1, 1 + 1, 2. All compute 3 s; two micro-batches.
        const auto three = predict({ { stageOf(3), stageOf(3), stageOf(3) }, 1, 2, {} });
        compareSeconds(three->pipeline, 9 + 5 + 5 + 0.3);
        const auto four = predict({ { stageOf(3), stageOf(3), stageOf(3), stageOf(3) }, 1, 2, {} });
        compareSeconds(four->pipeline, 12 + 8 + 5 + 0.3);
    }

    void theSlowestReplicaDecidesAndSoDoesTheSlowestPair()
    {
        Stage stage = stageOf(3, 3);
        stage.replicas[1].layers = stageOf(7).replicas[0].layers;
        stage.replicas[1].toNextReplica = constantLink(0.5);
        const auto prediction = predict({ { stage }, 1, 3, {} });
        compareSeconds(prediction->pipeline, 7 + 0.7);
        // 4e9 bytes of gradients over 3 replicas at 0.5 GB/s: 2 * 2 / 3 * 8 s.
        compareSeconds(prediction->sync, 2.0 * 2 / 3 * 8);
    }

    void gradientsAreDividedByTheSmallestTensorDegreeButByNoMoreThanFour()
    {
        Stage stage = stageOf(3, 2);
        stage.replicas[0].tensor = 8, stage.replicas[1].tensor = 2;
        compareSeconds(predict({ { stage }, 1, 2, {} })->sync, 4.0 / 2);
        stage.replicas[1].tensor = 8;
        compareSeconds(predict({ { stage }, 1, 2, {} })->sync, 4.0 / 4);
    }

    void anEarlierStageHoldsMoreMicroBatches()
    {
        // M = 24 * 1e9 + 1e9 * 4 * 2 * (P - i) + K; stage 0 of 3 holds three micro-batches of two samples.
        Problem problem { { stageOf(3), stageOf(3), stageOf(3) }, 2, 8, {} };
        problem.constants.loaded = Bytes { 2e9 };
        const auto prediction = predict(problem);
        QCOMPARE(prediction->memory.value, 24e9 + 24e9 + 2e9);
        QCOMPARE(prediction->fullestStage, 0);
        problem.stages[2].replicas[0].parameters = 2e9; // 48 + 8 + 2 of the last stage
        QCOMPARE(predict(problem)->memory.value, 58e9);
        QCOMPARE(predict(problem)->fullestStage, 2);
    }

    void stagesOfUnequalWidthAreNoPlanOfSailors()
    {
        const auto prediction = predict({ { stageOf(3), stageOf(3, 2) }, 1, 4, {} });
        QVERIFY(!prediction);
        QCOMPARE(QString::fromStdString(prediction.error().where), QStringLiteral("stage 2"));
        QVERIFY(!predict({}));
    }
};

TRAINYARD_APPLESS_TEST(TstSailor)
#include "tst_sailor.moc"

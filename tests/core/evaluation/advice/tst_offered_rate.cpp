// SPDX-License-Identifier: GPL-3.0-or-later
// What is offered to bubbles to begin with: four fifths of what they take, by a plan that is evaluated again.
#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/advice/offered_rate.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace trainyard;

namespace {

/// Of a plan that is not evaluated: bubbles that take so many requests per second.
Evaluation filled(Metric room)
{
    Plan plan;
    plan.bubbleFill.enabled = true;
    plan.bubbleFill.requestsPerSecond = 10;
    Evaluation evaluation;
    evaluation.plan = std::make_shared<const Plan>(plan);
    evaluation.metrics.bubbleFill = BubbleFillMetrics {};
    evaluation.metrics.bubbleFill->saturationRequestsPerSecond = room;
    return evaluation;
}

} // namespace

class OfferedRateTest : public QObject {
    Q_OBJECT

private slots:
    void fourFifthsRoundedDownToTwoDigits_data()
    {
        QTest::addColumn<double>("room");
        QTest::addColumn<double>("rate");
        QTest::newRow("248") << 310.0 << 240.0;
        QTest::newRow("1600") << 2000.0 << 1600.0;
        QTest::newRow("8") << 10.0 << 8.0;
        QTest::newRow("0.344") << 0.43 << 0.34;
    }
    void fourFifthsRoundedDownToTwoDigits()
    {
        QFETCH(double, room);
        QFETCH(double, rate);
        const PlanPtr offered = withOfferedRate(filled(room));
        QVERIFY(offered);
        QVERIFY2(std::abs(offered->bubbleFill.requestsPerSecond - rate) < 1e-9 * rate,
            qPrintable(QString::number(offered->bubbleFill.requestsPerSecond)));
    }

    void whereRoomIsNotKnownOrRatesAreNotOneNothingIsOffered()
    {
        QVERIFY(!withOfferedRate(filled({})));
        QVERIFY(!withOfferedRate(filled(0)));
        QVERIFY(!withOfferedRate(Evaluation {}));
        for (const bool isTrace : { true, false }) {
            Evaluation evaluation = filled(310);
            Plan plan = *evaluation.plan;
            if (isTrace)
                plan.bubbleFill.arrivals = Arrivals::Trace;
            else
                plan.bubbleFill.served.emplace_back();
            evaluation.plan = std::make_shared<const Plan>(plan);
            QVERIFY(!withOfferedRate(evaluation));
        }
    }

    /// Bubbles of a whole plan hold what is offered: hardly any prompt is turned away as too many, and they are used.
    void bubblesOfTheSampleHoldWhatIsOffered()
    {
        auto sample = readPlan(TRAINYARD_SOURCE_DIR "/samples/atlas-headline.trainyard.json");
        QVERIFY(sample);
        sample->bubbleFill.requestsPerSecond = 10;
        EvaluationWorkspace workspace;
        const auto first = evaluate(std::make_shared<const Plan>(*sample), builtinCatalogue(), workspace);
        QVERIFY(first && (*first)->metrics.bubbleFill);
        const PlanPtr offered = withOfferedRate(**first);
        QVERIFY(offered);
        const auto again = evaluate(offered, builtinCatalogue(), workspace);
        QVERIFY(again && (*again)->metrics.bubbleFill);
        const BubbleFillMetrics &few = *(*first)->metrics.bubbleFill, &many = *(*again)->metrics.bubbleFill;
        QVERIFY(many.filledFraction > few.filledFraction);
        QVERIFY(double(many.rejectedAsFull) < 0.05 * double(many.accepted + many.rejected));
    }
};

TRAINYARD_APPLESS_TEST(OfferedRateTest)
#include "tst_offered_rate.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// Batches, several models, a decode pool and a growing backlog, from the plan's keys to the metrics.
#include "tests/support/test_program.h"

#include <QtTest>

#include "tests/core/iteration/prefill/filled_plans.h"

#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

class TestServedPlans : public QObject {
    Q_OBJECT

private slots:
    /// Time that is told counts from each prompt's own arrival, and what waits for a batch waits.
    void promptsAtOnceWaitForOneAnotherAndTakeLess()
    {
        Plan plan = acrossTwo(20);
        plan.bubbleFill.promptTokens = 64;
        plan.bubbleFill.ttftSloMs = 60'000;
        plan.bubbleFill.arrivals = Arrivals::Constant;
        const auto one = evaluated(plan);
        plan.bubbleFill.prefillBatch = 4;
        plan.bubbleFill.batchWaitMs = 1000;
        const auto four = evaluated(plan);
        const BubbleFillMetrics &a = *one->metrics.bubbleFill, &b = *four->metrics.bubbleFill;
        QCOMPARE(b.accepted + b.rejected, a.accepted + a.rejected);
        QCOMPARE(b.rejected, std::int64_t(0));
        QVERIFY(b.filledFraction < 0.6 * a.filledFraction); // products of 256 rows instead of 64
        QVERIFY(b.saturationRequestsPerSecond.value() > 1.6 * a.saturationRequestsPerSecond.value());
        QCOMPARE(*b.dedicatedTtftMs, *a.dedicatedTtftMs); // of a prompt alone
        QVERIFY(*b.ttftP99Ms > *a.ttftP99Ms + 100); // the first of four waits three times 50 ms
        QVERIFY(b.memoryPerGpu > a.memoryPerGpu);
        plan.bubbleFill.batchWaitMs = 0; // nobody waits: no two come at one time
        QCOMPARE(*evaluated(plan)->metrics.bubbleFill->ttftP50Ms, *a.ttftP50Ms);
    }

    /// A batch keeps the promise to its first prompt.
    void aBatchIsInTimeForItsFirstPrompt()
    {
        Plan plan = acrossTwo(100);
        plan.bubbleFill.prefillBatch = 8;
        plan.bubbleFill.batchWaitMs = 300;
        const BubbleFillMetrics fill = *evaluated(plan)->metrics.bubbleFill;
        QVERIFY(fill.accepted > 0 && fill.rejected > 0);
        QVERIFY(*fill.ttftP99Ms <= plan.bubbleFill.ttftSloMs);
    }

    void severalModelsShareTheBubbles()
    {
        Plan plan = acrossTwo(20);
        const BubbleFillMetrics alone = *evaluated(plan)->metrics.bubbleFill;
        QVERIFY(alone.served.empty());
        plan.bubbleFill.served = { { "mistral-7b", 10, 512, {} } };
        plan.bubbleFill.ttftSloMs = 60'000;
        const auto evaluation = evaluated(plan);
        const BubbleFillMetrics &both = *evaluation->metrics.bubbleFill;
        QCOMPARE(both.served.size(), std::size_t(2));
        QCOMPARE(both.served[0].model, std::string("llama-3-8b"));
        QCOMPARE(both.served[0].accepted + both.served[1].accepted, both.accepted);
        QCOMPARE(both.served[0].rejected + both.served[1].rejected, both.rejected);
        QCOMPARE(both.served[0].accepted + both.served[0].rejected, alone.accepted + alone.rejected); // the same draws
        QVERIFY(both.served[1].accepted > 0 && *both.served[1].ttftP50Ms > 0);
        QVERIFY(std::abs(both.prefillTokensPerSecond * *evaluation->metrics.iterationTime
                    - 2048.0 * double(both.served[0].accepted) - 512.0 * double(both.served[1].accepted))
            < 1e-3);
        // both models' weights lie on a GPU
        QVERIFY(double(both.memoryPerGpu) > 2 * (8.03e9 + 7.2e9));
        plan.bubbleFill.served[0].model = "no-such";
        const auto service = resolveBubbleService(plan, builtinCatalogue());
        QCOMPARE(service.error().front().where, std::string("bubble_fill.served[0].model"));
    }

    void aDecodePoolLimitsAndEmitsTheFirstToken()
    {
        Plan plan = acrossTwo(20);
        plan.bubbleFill.ttftSloMs = 60'000;
        plan.bubbleFill.firstTokenFromDecode = true;
        const BubbleFillMetrics open = *evaluated(plan)->metrics.bubbleFill;
        QVERIFY(!open.decodeRequests && !open.decodeRequestsPerSecond);
        plan.bubbleFill.decode.gpus = 64;
        const BubbleFillMetrics large = *evaluated(plan)->metrics.bubbleFill;
        QCOMPARE(large.accepted, open.accepted);
        QVERIFY(*large.ttftP50Ms > *open.ttftP50Ms + 1); // a step of decode
        plan.bubbleFill.firstTokenFromDecode = false;
        QVERIFY(*evaluated(plan)->metrics.bubbleFill->ttftP50Ms < *open.ttftP50Ms); // from where it was prefilled
        plan.bubbleFill.decode.gpus = 1;
        plan.bubbleFill.decode.outputTokens = 20'000;
        const auto evaluation = evaluated(plan);
        const BubbleFillMetrics &small = *evaluation->metrics.bubbleFill;
        QVERIFY(small.rejectedByDecode > 0);
        QCOMPARE(small.rejected, rejections(small));
        QVERIFY(double(small.accepted)
            <= *small.decodeRequestsPerSecond * *evaluation->metrics.iterationTime + *small.decodeRequests);
        QVERIFY(hasProblem(*evaluation, "bubble_fill.decode.gpus"));
        plan.bubbleFill.decode.gpu = "no-such";
        QCOMPARE(resolveBubbleService(plan, builtinCatalogue()).error().front().where,
            std::string("bubble_fill.decode.gpu"));
    }

    /// More requests than bubbles hold: the backlog grows as far as is promised, and that is said with the rate that
    /// they hold.
    void aBacklogThatGrowsIsSaid()
    {
        Plan plan = acrossTwo(5);
        const BubbleFillMetrics few = *evaluated(plan)->metrics.bubbleFill;
        const double holds = few.saturationRequestsPerSecond.value();
        plan.bubbleFill.requestsPerSecond = std::floor(1.5 * holds);
        plan.bubbleFill.ttftSloMs = 1e6;
        const auto flooded = evaluated(plan);
        const BubbleFillMetrics &fill = *flooded->metrics.bubbleFill;
        QVERIFY(std::abs(double(fill.accepted) / *flooded->metrics.iterationTime / holds - 1) < 0.02);
        QVERIFY(fill.rejectedAsFull > 0 && *fill.ttftP50Ms > 9e5);
        const std::string text = problemText(*flooded, "bubble_fill.requests_per_s");
        QVERIFY2(text.find("the backlog grows") != std::string::npos, text.c_str());
        const auto problem =
            std::ranges::find(flooded->problems, std::string("bubble_fill.requests_per_s"), &Problem::where);
        const auto fixed = evaluated(*problem->fixes.front().plan);
        QVERIFY(!hasProblem(*fixed, "bubble_fill.requests_per_s"));
        QVERIFY(fixed->metrics.bubbleFill->isSettled && *fixed->metrics.bubbleFill->ttftP99Ms < 1e6);
    }
};

TRAINYARD_APPLESS_TEST(TestServedPlans)
#include "tst_served_plans.moc"

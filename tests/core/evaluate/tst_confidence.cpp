// SPDX-License-Identifier: GPL-3.0-or-later
// The confidence label and its range, on evidence made up for each case.

#include "core/evaluate/confidence.h"
#include "core/evaluate/evaluate.h"
#include "core/validation/confidence_fit.h"

#include <QTest>

#include <cmath>

using namespace trainyard;

namespace {

EvidenceKey onA100(const std::string &stack = "megatron-core", Reach reach = Reach::Node)
{
    return {stack, "a100-sxm-80gb", "Ampere", 16, false, reach};
}

Plan planOn(const std::string &gpu, int nodes = 1)
{
    Plan plan;
    plan.cluster.datacenters = {{.id = "a", .pools = {{.id = "p", .gpu = gpu, .nodes = nodes}}}};
    plan.workload.model = "gpt-3-1.3b";
    plan.workload.globalBatch = 64;
    plan.parallelism.data = 8 * nodes;
    return plan;
}

struct Answer {
    std::string label;
    double low = 0, high = 0;      // relative to the iteration
    int rows = 0;                  // that it rests on
    std::string note;
};

Answer confidenceOf(Plan plan, std::vector<ResidualSpread> spreads, std::vector<StackRelease> releases = {})
{
    Catalogue catalogue = builtinCatalogue();
    for (StackSpec &stack : catalogue.stacks)
        stack.releases = stack.id == "megatron-core" ? releases : std::vector<StackRelease>{};
    catalogue.confidence = {.spreads = std::move(spreads), .genericKernels = {-0.5, 0.25}, .profile = {-0.07, 0.06}};
    EvaluationWorkspace workspace;
    const auto evaluation = evaluate(std::make_shared<const Plan>(std::move(plan)), catalogue, workspace, {}, {.keepTimeline = false});
    if (!evaluation)
        qFatal("%s", toString(evaluation.error().front()).c_str());
    const Metrics &metrics = (*evaluation)->metrics;
    if (!metrics.iterationTime)
        qFatal("nothing was evaluated");
    return {metrics.confidence.label, *metrics.confidence.iterationLow / *metrics.iterationTime - 1,
            *metrics.confidence.iterationHigh / *metrics.iterationTime - 1, evidenceRows(**evaluation, catalogue), metrics.confidence.note};
}

} // namespace

#define COMPARE_ANSWER(answer, name, least, most) \
    do { \
        const Answer a = answer; \
        QCOMPARE(QString::fromStdString(a.label), QString::fromUtf8(name)); \
        QVERIFY2(std::abs(a.low - (least)) < 1e-9 && std::abs(a.high - (most)) < 1e-9, \
            qPrintable(QStringLiteral("%1 %2").arg(a.low).arg(a.high))); \
    } while (false)

class TstConfidence : public QObject {
    Q_OBJECT

private slots:
    void measuredOnThisGpuAndStackIsCalibrated()
    {
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-80gb"), {{onA100(), 10, {-0.1, 0.05}}, {onA100("fsdp"), 10, {-0.3, 0.3}}}),
                       "calibrated", -0.1, 0.05);
    }

    void twoRowsAreNoCalibration()
    {
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-80gb"), {{onA100(), 2, {-0.1, 0.05}}}), "same family", -0.1, 0.05);
    }

    void anotherStackOrASisterChipIsOfTheFamily()
    {
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-80gb"), {{onA100("fsdp"), 10, {-0.2, 0.1}}}), "same family", -0.2, 0.1);
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-40gb"), {{onA100(), 10, {-0.2, 0.1}}}), "same family", -0.2, 0.1);
    }

    void theRangeHoldsAllThatWasSeenInTheFamily()
    {
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-40gb"), {{onA100(), 10, {-0.2, 0.1}}, {onA100("megatron-core", Reach::Fabric), 10, {-0.05, 0.4}}}),
                       "same family", -0.2, 0.4);
    }

    void anotherArchitectureIsExtrapolatedFromTheNearestRows()
    {
        const ResidualSpread nearer{onA100(), 10, {-0.2, 0.1}}, further{onA100("fsdp"), 10, {-0.1, 0.3}};
        COMPARE_ANSWER(confidenceOf(planOn("h100-sxm-80gb"), {nearer, further}), "extrapolated", -0.2, 0.1);
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-40gb"), {further}), "extrapolated", -0.1, 0.3);   // two differences
    }

    void aBorrowedRangeRestsOnTenRows()
    {
        const ResidualSpread nearer{onA100(), 9, {-0.2, 0.1}}, further{onA100("fsdp"), 10, {-0.1, 0.3}};
        COMPARE_ANSWER(confidenceOf(planOn("h100-sxm-80gb"), {nearer, further}), "extrapolated", -0.2, 0.3);
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-40gb"), {nearer, further}), "same family", -0.2, 0.3);
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-80gb"), {nearer, further}), "calibrated", -0.2, 0.1);   // its own
    }

    void aGpuThatNobodyMeasuredRestsOnItsSpecSheet()
    {
        // kernels come on top: (1 - 0.2)(1 - 0.5) - 1 and (1 + 0.1)(1 + 0.25) - 1
        COMPARE_ANSWER(confidenceOf(planOn("v100-sxm-32gb"), {{onA100(), 10, {-0.2, 0.1}}}), "spec sheet", -0.6, 0.375);
    }

    void rowsOnOneNodeSayLittleOfANetwork()
    {
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-80gb", 4), {{onA100(), 10, {-0.2, 0.1}}}), "same family", -0.2, 0.1);
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-80gb", 4), {{onA100("megatron-core", Reach::Fabric), 10, {-0.2, 0.1}}}), "calibrated", -0.2, 0.1);
        // rows over a network cover one node, unless that was measured too
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-80gb"), {{onA100("megatron-core", Reach::Fabric), 10, {-0.2, 0.1}}}), "calibrated", -0.2, 0.1);
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-80gb"), {{onA100(), 10, {-0.1, 0.3}}, {onA100("megatron-core", Reach::Fabric), 10, {-0.2, 0.1}}}),
                       "calibrated", -0.1, 0.3);
    }

    void precisionAndExpertsCountToo()
    {
        Plan fp32 = planOn("a100-sxm-80gb");
        fp32.workload.precision = Precision::Fp32;
        COMPARE_ANSWER(confidenceOf(fp32, {{onA100(), 10, {-0.2, 0.1}}}), "same family", -0.2, 0.1);
        EvidenceKey moe = onA100();
        moe.isMoe = true;
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-80gb"), {{moe, 10, {-0.2, 0.1}}}), "same family", -0.2, 0.1);
    }

    void rowsWithShardedWeightsSayLessOfPlansWithout()
    {
        EvidenceKey sharded = onA100();
        sharded.shardsWeights = true;
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-80gb"), {{sharded, 10, {-0.2, 2.5}}}), "same family", -0.2, 2.5);
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-80gb"), {{sharded, 10, {-0.2, 2.5}}, {onA100(), 10, {-0.1, 0.1}}}), "calibrated", -0.1, 0.1);
        Plan zero3 = planOn("a100-sxm-80gb");
        zero3.parallelism.zeroStage = 3;
        COMPARE_ANSWER(confidenceOf(zero3, {{sharded, 10, {-0.2, 2.5}}}), "calibrated", -0.2, 2.5);
    }

    void theWeakestGpuDecides()
    {
        Plan plan = planOn("a100-sxm-80gb");
        plan.cluster.datacenters[0].pools.push_back({.id = "q", .gpu = "v100-sxm-32gb", .nodes = 1});
        plan.parallelism.data = 16;
        QCOMPARE(QString::fromStdString(confidenceOf(plan, {{onA100("megatron-core", Reach::Fabric), 10, {-0.2, 0.1}}}).label), QStringLiteral("spec sheet"));
    }

    void measuredStageTimesAreCalibrated()
    {
        Plan plan = planOn("v100-sxm-32gb");
        plan.profile = Profile{.forwardMs = {10}, .backwardMs = {20}};
        COMPARE_ANSWER(confidenceOf(plan, {}), "calibrated", -0.07, 0.06);
    }

    void aPlanThatNamesNoReleaseMayRunAnyOfThem()
    {
        const std::vector<ResidualSpread> spreads{{onA100(), 10, {-0.1, 0.05}}};
        const std::vector<StackRelease> releases{{"1.0", 1.2, 9, 2, 2}, {"2.0", 0.8, 9, 2, 2}, {"3.0", 0.1, 9, 0, 2}};
        // 0.9 * 0.8 - 1 and 1.05 * 1.2 - 1; of 3.0 no plan without experts tells
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-80gb"), spreads, releases), "calibrated", -0.28, 0.26);
        QCOMPARE(confidenceOf(planOn("a100-sxm-80gb"), spreads, releases).note,
                 std::string("releases of this stack lie 50 % apart; name stack.release"));   // 1.2 / 0.8
        Plan named = planOn("a100-sxm-80gb");
        named.stack.release = "2.0";
        COMPARE_ANSWER(confidenceOf(named, spreads, releases), "calibrated", -0.1, 0.05);
        QVERIFY(confidenceOf(named, spreads, releases).note.empty());
        // another stack, whose releases nobody compared, says nothing of them
        Plan other = planOn("a100-sxm-80gb");
        other.stack.name = "fsdp";
        COMPARE_ANSWER(confidenceOf(other, spreads, releases), "same family", -0.1, 0.05);
        QVERIFY(confidenceOf(other, spreads, releases).note.empty());
        // nor do measured stage times leave anything open
        Plan measured = planOn("a100-sxm-80gb");
        measured.profile = Profile{.forwardMs = {10}, .backwardMs = {20}};
        COMPARE_ANSWER(confidenceOf(measured, {}, releases), "calibrated", -0.07, 0.06);
    }

    void aReleaseThatNoPlanTellsFromOthersMayBeAsTheyAre()
    {
        Plan named = planOn("a100-sxm-80gb");
        named.stack.release = "1.5";   // taken to be as 1.0, and predicted so: 0.9 * 0.8 / 1.2 - 1, and 1.05 * 1.2 / 1.2 - 1
        const std::vector<StackRelease> releases{{"1.0", 1.2, 9, 2, 2}, {"1.5", 1.2, 9, 0, 2}, {"2.0", 0.8, 9, 2, 2}};
        const Answer a = confidenceOf(named, {{onA100(), 10, {-0.1, 0.05}}}, releases);
        QVERIFY2(std::abs(a.low - -0.4) < 1e-9 && std::abs(a.high - 0.05) < 1e-9, qPrintable(QStringLiteral("%1 %2").arg(a.low).arg(a.high)));
        QCOMPARE(a.note, std::string("no plan tells the time of release 1.5 from others; releases of this stack lie 50 % apart"));
    }

    void aLabelTellsOnHowManyRowsItRests()
    {
        const ResidualSpread own{onA100(), 9, {-0.1, 0.05}}, wider{onA100("megatron-core", Reach::Fabric), 7, {-0.1, 0.1}}, other{onA100("fsdp"), 10, {-0.3, 0.3}};
        QCOMPARE(confidenceOf(planOn("a100-sxm-80gb"), {own, wider, other}).rows, 9);    // calibrated: its own alone
        QCOMPARE(confidenceOf(planOn("a100-sxm-80gb"), {wider, other}).rows, 7);         // rows over a network cover one node
        QCOMPARE(confidenceOf(planOn("a100-sxm-40gb"), {own, wider}).rows, 9 + 7);       // all of the family
        QCOMPARE(confidenceOf(planOn("h100-sxm-80gb"), {own, other}).rows, 9 + 10);      // further until ten are together
        Plan measured = planOn("v100-sxm-32gb");
        measured.profile = Profile{.forwardMs = {10}, .backwardMs = {20}};
        QCOMPARE(confidenceOf(measured, {own}).rows, 0);
    }

    void nineTenthsOfTheRowsLieInsideARange()
    {
        // measured / predicted - 1 from -0.20 to +0.20 in 41 steps: two rows outside on either side
        std::vector<ValidationResult> results;
        const auto plan = std::make_shared<const Plan>(planOn("a100-sxm-80gb"));
        for (int i = 0; i <= 40; ++i)
            results.push_back({.source = "s", .group = {}, .id = std::to_string(i), .metric = "iteration_time_s", .published = 0.8 + 0.01 * i,
                               .predicted = 1.0, .problem = {}, .note = {}, .plan = plan, .evidence = {onA100()}});
        const ConfidenceData data = confidenceData(results, builtinCatalogue());
        QCOMPARE(data.spreads.size(), 1u);
        QCOMPARE(data.spreads[0].rows, 41);
        QVERIFY(std::abs(data.spreads[0].range.low - -0.18) < 1e-9);
        QVERIFY(std::abs(data.spreads[0].range.high - 0.18) < 1e-9);
    }

    void aRateCountsAsItsTimeAndGuessedRowsDoNot()
    {
        const auto plan = std::make_shared<const Plan>(planOn("a100-sxm-80gb"));
        ValidationResult rate{.source = "s", .group = {}, .id = "r", .metric = "tokens_per_s", .published = 100, .predicted = 125.0,
                              .problem = {}, .note = {}, .plan = plan, .evidence = {onA100()}};
        ValidationResult guess = rate;
        guess.id = "g";
        guess.status = RowStatus::Guessed;
        guess.predicted = 1000.0;
        const ConfidenceData data = confidenceData(std::vector{rate, guess}, builtinCatalogue());
        // 100 tokens/s where 125 were predicted: the iteration took 125 / 100 of the predicted time
        QVERIFY(std::abs(data.spreads.at(0).range.high - 0.25) < 1e-9);
        QCOMPARE(data.spreads[0].rows, 1);
    }

    void equalPlansUnderTwoReleasesAreRepeats()
    {
        // Predicted times differ by what is known of the releases: 0.99 and 1.01 of the measured ones remain, half of it is 0.01.
        std::vector<ValidationResult> results;
        for (const char *release : {"1.0", "2.0"}) {
            Plan plan = planOn("a100-sxm-80gb");
            plan.stack.release = release;
            const bool isOld = plan.stack.release == "1.0";
            results.push_back({.source = "s", .group = {}, .id = release, .metric = "iteration_time_s", .published = isOld ? 2.02 : 0.99,
                               .predicted = isOld ? 2.0 : 1.0, .problem = {}, .note = {}, .plan = std::make_shared<const Plan>(plan), .evidence = {onA100()}});
        }
        const TimeRange repeats = confidenceData(results, builtinCatalogue()).repeats;
        QVERIFY(std::abs(repeats.low - -0.01) < 1e-9 && std::abs(repeats.high - 0.01) < 1e-9);
    }

    void theRowsBehindTheLabelAreBuiltIn()
    {
        QVERIFY(!builtinCatalogue().confidence.spreads.empty());
        QVERIFY(builtinCatalogue().confidence.genericKernels.low < 0);
    }
};

QTEST_APPLESS_MAIN(TstConfidence)
#include "tst_confidence.moc"

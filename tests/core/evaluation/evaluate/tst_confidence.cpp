// SPDX-License-Identifier: GPL-3.0-or-later
// The confidence label and its range, on evidence made up for each case.

#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/evaluate/metrics/confidence.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace trainyard;

namespace {

EvidenceKey onA100(const std::string &stack = "megatron-core", Reach reach = Reach::Node)
{
    return { stack, "a100-sxm-80gb", "Ampere", 16, false, reach };
}

Plan planOn(const std::string &gpu, int nodes = 1)
{
    Plan plan;
    plan.cluster.datacenters = { { .id = "a", .pools = { { .id = "p", .gpu = gpu, .nodes = nodes } } } };
    plan.workload.model = "gpt-3-1.3b";
    plan.workload.globalBatch = 64;
    plan.parallelism.data = 8 * nodes;
    return plan;
}

Plan acrossTwoDatacenters()
{
    Plan plan = planOn("a100-sxm-80gb");
    plan.cluster.datacenters.push_back({ .id = "b", .pools = { { .id = "q", .gpu = "a100-sxm-80gb", .nodes = 1 } } });
    plan.cluster.wanLinks = { { .between = { "a", "b" }, .rttMs = 20, .capacityGbps = 100 } };
    plan.parallelism.data = 16;
    return plan;
}

/// A range of its own for each label, so that it tells which was read; for sharded weights under fsdp another.
const std::vector<LabelRange> kRanges = [] {
    std::vector<LabelRange> ranges;
    for (const bool isMoe : { false, true }) // the same with experts and without
        for (const LabelRange &range :
            { LabelRange { ConfidenceLabel::Calibrated, "", isMoe, "", 10, 3, { -0.1, 0.05 } },
                LabelRange { ConfidenceLabel::SameFamily, "", isMoe, "", 10, 3, { -0.2, 0.1 } },
                LabelRange { ConfidenceLabel::SameFamily, "fsdp", isMoe, "", 10, 3, { -0.15, 0.25 } },
                LabelRange { ConfidenceLabel::Extrapolated, "", isMoe, "", 10, 3, { -0.3, 0.4 } },
                LabelRange { ConfidenceLabel::SpecSheet, "", isMoe, "", 10, 3, { -0.4, 0.6 } } })
            ranges.push_back(range);
    return ranges;
}();

struct Answer {
    std::string label;
    double low = 0, high = 0; // relative to the iteration
    int rows = 0; // that make the label
    std::string note;
};

Answer confidenceOf(Plan plan, std::vector<Evidence> measured, std::vector<StackRelease> releases = {})
{
    Catalogue catalogue = builtinCatalogue();
    for (StackSpec &stack : catalogue.stacks)
        stack.releases = stack.id == "megatron-core" ? releases : std::vector<StackRelease> {};
    catalogue.confidence = { std::move(measured), kRanges };
    EvaluationWorkspace workspace;
    const auto evaluation =
        evaluate(std::make_shared<const Plan>(std::move(plan)), catalogue, workspace, {}, Depth::Everything);
    if (!evaluation)
        qFatal("%s", toString(evaluation.error().front()).c_str());
    const Metrics &metrics = (*evaluation)->metrics;
    if (!metrics.iterationTime)
        qFatal("nothing was evaluated");
    return { metrics.confidence.label, *metrics.confidence.iterationLow / *metrics.iterationTime - 1,
        *metrics.confidence.iterationHigh / *metrics.iterationTime - 1, evidenceRows(**evaluation, catalogue),
        metrics.confidence.note };
}

} // namespace

#define COMPARE_ANSWER(answer, name, least, most)                                                                      \
    do {                                                                                                               \
        const Answer a = answer;                                                                                       \
        QCOMPARE(QString::fromStdString(a.label), QString::fromUtf8(name));                                            \
        QVERIFY2(std::abs(a.low - (least)) < 1e-9 && std::abs(a.high - (most)) < 1e-9,                                 \
            qPrintable(QStringLiteral("%1 %2").arg(a.low).arg(a.high)));                                               \
    } while (false)

class TstConfidence : public QObject {
    Q_OBJECT

private slots:
    void measuredOnThisGpuAndStackIsCalibrated()
    {
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-80gb"), { { onA100(), 10 }, { onA100("fsdp"), 10 } }),
            "calibrated", -0.1, 0.05);
    }

    void twoRowsAreNoCalibration()
    {
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-80gb"), { { onA100(), 2 } }), "same family", -0.2, 0.1);
    }

    void anotherStackOrASisterChipIsOfTheFamily()
    {
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-80gb"), { { onA100("fsdp"), 10 } }), "same family", -0.2, 0.1);
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-40gb"), { { onA100(), 10 } }), "same family", -0.2, 0.1);
    }

    void anotherArchitectureOrTwoDifferencesAreExtrapolated()
    {
        COMPARE_ANSWER(confidenceOf(planOn("h100-sxm-80gb"), { { onA100(), 10 } }), "extrapolated", -0.3, 0.4);
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-40gb"), { { onA100("fsdp"), 10 } }), "extrapolated", -0.3, 0.4);
    }

    void aGpuThatNobodyMeasuredRestsOnItsSpecSheet()
    {
        COMPARE_ANSWER(confidenceOf(planOn("v100-sxm-32gb"), { { onA100(), 10 } }), "spec sheet", -0.4, 0.6);
    }

    void rowsOnOneNodeSayLittleOfANetwork()
    {
        const Evidence overFabric { onA100("megatron-core", Reach::Fabric), 10 };
        QCOMPARE(confidenceOf(planOn("a100-sxm-80gb", 4), { { onA100(), 10 } }).label, std::string("same family"));
        QCOMPARE(confidenceOf(planOn("a100-sxm-80gb", 4), { overFabric }).label, std::string("calibrated"));
        QCOMPARE(confidenceOf(planOn("a100-sxm-80gb"), { overFabric }).label,
            std::string("calibrated")); // which covers one node
    }

    void precisionAndExpertsCountToo()
    {
        Plan fp32 = planOn("a100-sxm-80gb");
        fp32.workload.precision = Precision::Fp32;
        QCOMPARE(confidenceOf(fp32, { { onA100(), 10 } }).label, std::string("same family"));
        EvidenceKey moe = onA100();
        moe.isMoe = true;
        QCOMPARE(confidenceOf(planOn("a100-sxm-80gb"), { { moe, 10 } }).label, std::string("same family"));
    }

    void howOneStackShardsWeightsSaysNothingOfOthers()
    {
        EvidenceKey sharded = onA100("deepspeed");
        sharded.shardsWeights = true;
        Plan zero3 = planOn("a100-sxm-80gb");
        zero3.parallelism.zeroStage = 3;
        zero3.stack.name = "deepspeed";
        QCOMPARE(confidenceOf(zero3, { { sharded, 10 } }).label, std::string("calibrated"));
        Plan whole = zero3;
        whole.parallelism.zeroStage = 1;
        QCOMPARE(confidenceOf(whole, { { sharded, 10 } }).label, std::string("extrapolated"));
        Plan other = zero3;
        other.stack.name = "fsdp";
        QCOMPARE(confidenceOf(other, { { sharded, 10 } }).label, std::string("extrapolated"));
        // whole weights say something of sharded ones under the same stack, which then has a range of its own
        Plan fsdp = other;
        COMPARE_ANSWER(confidenceOf(fsdp, { { onA100("fsdp"), 10 } }), "same family", -0.15, 0.25);
    }

    void theWeakestGpuDecides()
    {
        Plan plan = planOn("a100-sxm-80gb");
        plan.cluster.datacenters[0].pools.push_back({ .id = "q", .gpu = "v100-sxm-32gb", .nodes = 1 });
        plan.parallelism.data = 16;
        COMPARE_ANSWER(confidenceOf(plan, { { onA100("megatron-core", Reach::Fabric), 10 } }), "spec sheet", -0.4, 0.6);
    }

    void stageTimesOfAPlanItselfAreNoCalibration()
    {
        // No published run tells whether they were measured or made up.
        Plan plan = planOn("a100-sxm-80gb");
        plan.profile = MeasuredStageTimes { .forwardMs = { 10 }, .backwardMs = { 20 } };
        COMPARE_ANSWER(confidenceOf(plan, { { onA100(), 10 } }), "same family", -0.2, 0.1);
        const Answer told = confidenceOf(plan, { { onA100(), 10 } });
        QCOMPARE(told.note, std::string("stage times are taken as the plan gives them"));
        QCOMPARE(told.rows, 0);
        // The kernels of its GPU are not asked; that nothing like the plan was measured still counts.
        Plan unmeasured = planOn("v100-sxm-32gb");
        unmeasured.profile = plan.profile;
        COMPARE_ANSWER(confidenceOf(unmeasured, { { onA100(), 10 } }), "extrapolated", -0.3, 0.4);
    }

    void aPlanAcrossDatacentersIsNotCalibrated()
    {
        COMPARE_ANSWER(confidenceOf(acrossTwoDatacenters(), { { onA100("megatron-core", Reach::Fabric), 10 } }),
            "same family", -0.2, 0.1);
        QCOMPARE(confidenceOf(acrossTwoDatacenters(), { { onA100("megatron-core", Reach::Fabric), 10 } }).note,
            std::string("no published run crosses datacenters"));
        Plan profiled = acrossTwoDatacenters();
        profiled.profile = MeasuredStageTimes { .forwardMs = { 10 }, .backwardMs = { 20 } };
        QCOMPARE(confidenceOf(profiled, { { onA100("megatron-core", Reach::Fabric), 10 } }).label,
            std::string("same family"));
        QCOMPARE(
            confidenceOf(profiled, { { onA100("megatron-core", Reach::Wan), 10 } }).label, std::string("same family"));
    }

    void aPlanThatNamesNoReleaseMayRunAnyOfThem()
    {
        const std::vector<Evidence> measured { { onA100(), 10 } };
        const std::vector<StackRelease> releases { { "1.0", 1.2, 9, 2, 2 }, { "2.0", 0.8, 9, 2, 2 },
            { "3.0", 0.1, 9, 0, 2 } };
        // 0.9 * 0.8 - 1 and 1.05 * 1.2 - 1; of 3.0 no plan without experts tells
        COMPARE_ANSWER(confidenceOf(planOn("a100-sxm-80gb"), measured, releases), "calibrated", -0.28, 0.26);
        QCOMPARE(confidenceOf(planOn("a100-sxm-80gb"), measured, releases).note,
            std::string("releases of this stack lie 50 % apart; name stack.release")); // 1.2 / 0.8
        Plan named = planOn("a100-sxm-80gb");
        named.stack.release = "2.0";
        COMPARE_ANSWER(confidenceOf(named, measured, releases), "calibrated", -0.1, 0.05);
        QVERIFY(confidenceOf(named, measured, releases).note.empty());
        // another stack, whose releases nobody compared, says nothing of them
        Plan other = planOn("a100-sxm-80gb");
        other.stack.name = "fsdp";
        COMPARE_ANSWER(confidenceOf(other, measured, releases), "same family", -0.2, 0.1);
        QVERIFY(confidenceOf(other, measured, releases).note.empty());
        // nor do stage times of the plan's own leave anything open
        Plan profiled = planOn("a100-sxm-80gb");
        profiled.profile = MeasuredStageTimes { .forwardMs = { 10 }, .backwardMs = { 20 } };
        COMPARE_ANSWER(confidenceOf(profiled, measured, releases), "same family", -0.2, 0.1);
    }

    void aReleaseThatNoPlanTellsFromOthersMayBeAsTheyAre()
    {
        Plan named = planOn("a100-sxm-80gb");
        named.stack.release =
            "1.5"; // taken to be as 1.0, and predicted so: 0.9 * 0.8 / 1.2 - 1, and 1.05 * 1.2 / 1.2 - 1
        const std::vector<StackRelease> releases { { "1.0", 1.2, 9, 2, 2 }, { "1.5", 1.2, 9, 0, 2 },
            { "2.0", 0.8, 9, 2, 2 } };
        const Answer a = confidenceOf(named, { { onA100(), 10 } }, releases);
        QVERIFY2(std::abs(a.low - -0.4) < 1e-9 && std::abs(a.high - 0.05) < 1e-9,
            qPrintable(QStringLiteral("%1 %2").arg(a.low).arg(a.high)));
        QCOMPARE(a.note,
            std::string("no plan tells the time of release 1.5 from others; releases of this stack lie 50 % apart"));
    }

    void aLabelTellsWhichRowsMakeIt()
    {
        const Evidence own { onA100(), 9 }, wider { onA100("megatron-core", Reach::Fabric), 7 },
            other { onA100("fsdp"), 10 };
        QCOMPARE(confidenceOf(planOn("a100-sxm-80gb"), { own, wider, other }).rows,
            9 + 7); // calibrated: of its own kind alone
        QCOMPARE(confidenceOf(planOn("a100-sxm-40gb"), { own, wider, other }).rows,
            9 + 7); // a sister; another stack is two steps off
        QCOMPARE(confidenceOf(planOn("h100-sxm-80gb"), { own, other }).rows, 0); // nothing resembles it
    }

    void theRangesBehindTheLabelsAreBuiltIn()
    {
        const ConfidenceData &data = builtinCatalogue().confidence;
        QVERIFY(!data.evidence.empty());
        for (const ConfidenceLabel label : kConfidenceLabels) {
            const TimeRange range = rangeOf(data, label, onA100());
            QVERIFY2(range.low < 0 && range.high > 0, toString(label));
        }
    }
};

TRAINYARD_APPLESS_TEST(TstConfidence)
#include "tst_confidence.moc"

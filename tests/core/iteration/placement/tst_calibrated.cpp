// SPDX-License-Identifier: GPL-3.0-or-later
// What calibration factors do to a plan: each part moves the time of what it is about, and nothing else.
#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/evaluate/metrics/confidence.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/cost/layer/layer_cost.h"
#include "core/iteration/placement/calibrated.h"
#include "core/iteration/placement/place.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>

using namespace trainyard;
using test::samplePlan;

namespace {

EvaluationPtr evaluated(Plan plan)
{
    EvaluationWorkspace workspace;
    const auto result = evaluate(std::make_shared<const Plan>(std::move(plan)), builtinCatalogue(), workspace);
    return result ? *result : nullptr;
}

Plan with(Plan plan, const std::string &entry)
{
    plan.calibration["one"] = entry;
    return plan;
}

std::string entry(const std::string &part, const std::string &factor, const std::string &more = {})
{
    return "{\"what\":\"" + part + "\",\"factor\":" + factor + more + "}";
}

double seconds(const Plan &plan)
{
    const EvaluationPtr answer = evaluated(plan);
    return answer ? answer->metrics.iterationTime.value_or(0) : 0;
}

constexpr const char *kOnH100 = ",\"where\":{\"gpu\":\"h100-sxm-80gb\"}";
constexpr const char *kOnA100 = ",\"where\":{\"gpu\":\"a100-sxm-80gb\"}";

} // namespace

class CalibratedTest : public QObject {
    Q_OBJECT
private slots:
    void entriesReadAsTheyAreWritten()
    {
        CalibrationFactor factor { .what = CalibratedPart::Wan,
            .between = { "virginia", "oregon" },
            .latencyUs = 30000,
            .gbytesPerS = 0.6,
            .recording = "run",
            .samples = 12,
            .standardError = 0.01,
            .latencyError = 40,
            .r2 = 0.99,
            .errorBefore = 0.2,
            .errorAfter = 0.01,
            .isAccepted = false };
        const auto back = parseCalibrationFactor(formatCalibrationFactor(factor), "x");
        QVERIFY(back);
        QVERIFY(*back == factor);
    }

    void faultsNameTheEntryAndTheKey_data()
    {
        QTest::addColumn<QString>("entry");
        QTest::addColumn<QString>("where");
        QTest::newRow("part") << R"({"what":"gemm","factor":1})"
                              << "calibration/one/what";
        QTest::newRow("factor") << R"({"what":"products","factor":0})"
                                << "calibration/one/factor";
        QTest::newRow("none") << R"({"what":"products"})"
                              << "calibration/one/factor";
        QTest::newRow("no way") << R"({"what":"host","gbytes_per_s":3})"
                                << "calibration/one/factor";
        QTest::newRow("text") << R"({"what":"fabric","latency_us":"3"})"
                              << "calibration/one/latency_us";
        QTest::newRow("place") << R"({"what":"wan","factor":1,"where":{"between":["a"]}})"
                               << "calibration/one/where/between";
        const auto row = [](const char *name, const char *entry, const char *where) {
            QTest::newRow(name) << QString(entry) << QString("calibration/one/%1").arg(where);
        };
        row("overlap of a GPU", R"({"what":"overlap","factor":0.5,"where":{"gpu":"no-such-gpu"}})", "where/gpu");
        row("overlap of a place", R"({"what":"overlap","factor":0.5,"where":{"datacenter":"x"}})", "where/datacenter");
        row("link of a GPU", R"({"what":"wan","factor":2,"where":{"gpu":"h100-sxm-80gb"}})", "where/gpu");
        row("link of a place", R"({"what":"wan","factor":2,"where":{"datacenter":"x"}})", "where/datacenter");
        row("fabric between", R"({"what":"fabric","factor":2,"where":{"between":["a","b"]}})", "where/between");
        row("latency of PCIe", R"({"what":"pcie","latency_us":5})", "latency_us");
        row("latency of drives", R"({"what":"drive","latency_us":5,"gbytes_per_s":3})", "latency_us");
        row("tiny", R"({"what":"products","factor":1e-300})", "factor");
        row("huge", R"({"what":"products","factor":101})", "factor");
        row("no rate", R"({"what":"fabric","gbytes_per_s":1e-300})", "gbytes_per_s");
        row("long", R"({"what":"fabric","latency_us":1e9})", "latency_us");
    }
    void theRangeOfAFactorIsTold()
    {
        const auto factor = parseCalibrationFactor(entry("products", "0.001"), "calibration/one");
        QVERIFY(!factor);
        QCOMPARE(QString::fromStdString(factor.error().right), QString("a number from 0.01 to 100.0"));
        QVERIFY(parseCalibrationFactor(entry("products", "0.01"), "x"));
        QVERIFY(parseCalibrationFactor(entry("products", "100"), "x"));
    }
    void faultsNameTheEntryAndTheKey()
    {
        QFETCH(QString, entry);
        QFETCH(QString, where);
        EvaluationWorkspace workspace;
        const Plan plan = with(samplePlan("gpt3-175b-1024-a100"), entry.toStdString());
        const auto result = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
        QVERIFY(!result);
        QCOMPARE(QString::fromStdString(result.error().front().where), where);
    }

    /// Nothing is changed by a factor of 1.
    void aFactorOfOneChangesNothing()
    {
        const Plan plan = samplePlan("gpt3-175b-1024-a100");
        for (const char *part : { "products", "attention", "memory", "host", "nvlink", "fabric", "pcie", "overlap" })
            QCOMPARE(seconds(with(plan, entry(part, "1"))), seconds(plan));
    }

    /// Kernels alone take `factor` times as long: with every part at 2, compute takes twice as long, but for what
    /// communication beside it costs (overlapSlowdown), which stays.
    void allKernelsAtTwiceTheTimeAreTwiceTheCompute()
    {
        Plan plan = samplePlan("gpt3-175b-1024-a100");
        const double before = evaluated(plan)->metrics.breakdown->compute;
        for (const char *part : { "products", "attention", "memory", "host" })
            plan.calibration[part] = entry(part, "2");
        const double after = evaluated(plan)->metrics.breakdown->compute;
        QVERIFY2(std::abs(after / before - 2) < 1e-3, qPrintable(QString::number(after / before, 'g', 12)));
    }

    void slowerPartsAreNeverFaster_data()
    {
        QTest::addColumn<QString>("plan");
        QTest::addColumn<QString>("part");
        QTest::addColumn<bool>("moves");
        const auto row = [](const char *plan, const char *part, bool moves) {
            QTest::addRow("%s of %s", part, plan) << QString(plan) << QString(part) << moves;
        };
        for (const char *part : { "products", "attention", "memory", "nvlink", "fabric" })
            row("gpt3-175b-1024-a100", part, true);
        row("llama-3-70b-three-regions", "wan", true);
    }
    void slowerPartsAreNeverFaster()
    {
        QFETCH(QString, plan);
        QFETCH(QString, part);
        QFETCH(bool, moves);
        const Plan base = samplePlan(qPrintable(plan));
        double before = seconds(base);
        QVERIFY(before > 0);
        for (const char *factor : { "1.3", "4", "30" }) {
            const double after = seconds(with(base, entry(part.toStdString(), factor)));
            QVERIFY2(after >= before * (1 - 1e-9), qPrintable(QString("%1 after %2").arg(after).arg(before)));
            before = after;
        }
        QCOMPARE(before > seconds(base) * 1.001, moves);
    }

    /// As much leaves as the drives take: slower ones leave more on the GPU, and time is not lost.
    void slowerWaysOffTheGpuTakeLess_data()
    {
        QTest::addColumn<QString>("plan");
        QTest::addColumn<QString>("part");
        QTest::newRow("drives") << "ssdtrain-bert-2xa100"
                                << "drive";
        QTest::newRow("host") << "gpt3-offload-a100-40gb"
                              << "pcie";
    }
    void slowerWaysOffTheGpuTakeLess()
    {
        QFETCH(QString, plan);
        QFETCH(QString, part);
        const Plan base = samplePlan(qPrintable(plan));
        const auto before = evaluated(base), after = evaluated(with(base, entry(part.toStdString(), "4")));
        QVERIFY(before->metrics.offload && after->metrics.offload);
        QVERIFY(after->metrics.offload->bytesPerGpu < before->metrics.offload->bytesPerGpu);
        QVERIFY(after->metrics.memory->peak > before->metrics.memory->peak);
    }

    /// A transfer takes latency + bytes / bandwidth, and no ramp.
    void aMeasuredFabricIsTheLineThatWasFitted()
    {
        const Plan plan =
            with(samplePlan("gpt3-175b-1024-a100"), R"({"what":"fabric","latency_us":40,"gbytes_per_s":11})");
        auto workload = resolve(std::make_shared<const Plan>(plan), builtinCatalogue());
        QVERIFY(workload);
        const Link link = locationFabric(*workload, {});
        for (const double bytes : { 1e3, 1e6, 1e9 })
            QVERIFY(std::abs(transferTime(Bytes { bytes }, 0, link).value / (40e-6 + bytes / 11e9) - 1) < 1e-12);
    }

    void factorsHoldWhereTheySay()
    {
        const Plan plan = samplePlan("gpt3-175b-1024-a100");
        QCOMPARE(seconds(with(plan, entry("products", "2", kOnH100))), seconds(plan));
        QVERIFY(seconds(with(plan, entry("products", "2", kOnA100))) > seconds(plan));
        const auto answer = evaluated(with(plan, entry("products", "2", kOnH100)));
        QVERIFY(std::ranges::any_of(answer->problems, [](const Problem &p) { return p.where == "calibration"; }));
        QCOMPARE(seconds(with(plan, entry("products", "2", ",\"accepted\":false"))), seconds(plan));
    }

    void thePlanOfTheRunIsCalibratedByIt()
    {
        // Nine in ten of normal errors lie within 2.44 times their median size.
        const Plan plan = samplePlan("gpt3-175b-1024-a100");
        const auto answer = evaluated(with(plan, learnt(plan, 0.01)));
        QCOMPARE(answer->metrics.confidence.label, "calibrated");
        QCOMPARE(answer->metrics.confidence.note, "calibrated by march run");
        const double time = *answer->metrics.iterationTime;
        QVERIFY(std::abs(*answer->metrics.confidence.iterationHigh / time - 1.0244) < 1e-9);
    }

    void aRunThatThePlanDoesNotFitCalibratesNothing()
    {
        const Plan plan = samplePlan("gpt3-175b-1024-a100");
        const auto answer = evaluated(with(plan, learnt(plan, 0.38)));
        QCOMPARE(answer->metrics.confidence.label, "same family");
        QVERIFY(QString::fromStdString(answer->metrics.confidence.note).contains("38 % from march run"));
    }

    void factorsOfAnotherJobNeverNarrowTheRange()
    {
        const std::string ofGpt = learnt(samplePlan("gpt3-175b-1024-a100"), 0.01);
        Plan smaller = samplePlan("gpt3-175b-1024-a100");
        smaller.workload.globalBatch /= 2;
        smaller.parallelism.pipeline /= 2; // another layout of the same family
        for (const Plan &plan :
            { smaller, samplePlan("megatron-1t-3072-a100"), samplePlan("llama-3.1-405b-16384-h100") }) {
            const auto before = evaluated(plan), after = evaluated(with(plan, ofGpt));
            QVERIFY(after->metrics.confidence.label != "calibrated");
            if (after->metrics.confidence.label == before->metrics.confidence.label)
                QVERIFY(width(*after) >= width(*before) - 1e-9);
        }
    }

    void aFactorWithoutItsJobCalibratesNothing()
    {
        const auto answer = evaluated(with(samplePlan("gpt3-175b-1024-a100"),
            R"({"what":"products","factor":1.1,"recording":"march run","error_after":0.01})"));
        QCOMPARE(answer->metrics.confidence.label, "same family");
    }

    void measuredLinksAloneAreNoCalibration()
    {
        // GPT-3 on 1,024 A100 is calibrated by what was published of it, which was predicted without this factor.
        const Plan plan = samplePlan("gpt3-175b-1024-a100");
        QCOMPARE(evaluated(plan)->metrics.confidence.label, "calibrated");
        const auto answer =
            evaluated(with(plan, R"({"what":"fabric","factor":2.5,"recording":"another","error_after":0.01})"));
        QCOMPARE(answer->metrics.confidence.label, "same family");
    }

    void theJobOfAFactorIsKeptByAPlanFile()
    {
        const Plan plan = samplePlan("gpt3-175b-1024-a100");
        const auto factor = parseCalibrationFactor(learnt(plan, 0.01), "calibration/x");
        QVERIFY(factor && factor->fittedOn);
        QCOMPARE(factor->fittedOn->gpus, 1024);
        const auto again = parseCalibrationFactor(formatCalibrationFactor(*factor), "calibration/x");
        QVERIFY(again && *again == *factor);
        const auto bad =
            parseCalibrationFactor(R"({"what":"host","factor":2,"fitted_on":{"reach":"moon"}})", "calibration/x");
        QVERIFY(!bad);
        QCOMPARE(bad.error().where, "calibration/x/fitted_on/reach");
    }

private:
    /// A factor as a run of this plan would give it.
    static std::string learnt(const Plan &plan, double error)
    {
        const auto own = evaluated(plan);
        CalibrationFactor factor { .factor = 1.1, .recording = "march run", .errorAfter = error };
        factor.fittedOn = jobOfPlan(plan, own->model, own->layout, builtinCatalogue());
        return formatCalibrationFactor(factor);
    }
    static double width(const Evaluation &answer)
    {
        const Confidence &of = answer.metrics.confidence;
        return (*of.iterationHigh - *of.iterationLow) / *answer.metrics.iterationTime;
    }
};

TRAINYARD_APPLESS_TEST(CalibratedTest)
#include "tst_calibrated.moc"

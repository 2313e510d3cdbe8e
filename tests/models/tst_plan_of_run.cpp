// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a run is of the plan in the window: by what a run can tell of its job, and with what differs.
#include "tests/support/test_program.h"

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan_io.h"
#include "core/runs/telemetry/read_sources.h"
#include "models/plan_of_run.h"

#include <QTest>

using namespace trainyard;

namespace {

const std::string kFolder = TRAINYARD_SOURCE_DIR "/samples/real-run/";

RunPtr realRun()
{
    auto recording = readSources({ kFolder + "100mbit-20ms.trainyard-recording" }, {}, 2);
    if (!recording)
        qFatal("%s", toString(recording.error()).c_str());
    return makeRun(std::move(*recording));
}

Plan planOfIt()
{
    auto plan = readPlan(kFolder + "two-datacenters.trainyard.json");
    return plan ? *plan : Plan();
}

} // namespace

class PlanOfRunTest : public QObject {
    Q_OBJECT
private slots:
    /// It tells how long it was, on one machine, and of its model less than the plan has: that makes no other job.
    void aRunIsOfThePlanThatItWasMadeBy()
    {
        const PlanOfRunFound found = planOfRun(*realRun(), planOfIt(), builtinCatalogue());
        QVERIFY(found.plan);
        QVERIFY2(!found.isOther, qPrintable(found.differences.join(u'\n')));
        QVERIFY2(found.differences.isEmpty(), qPrintable(found.differences.join(u'\n')));
    }
    void whatMakesItAnotherIsSaid()
    {
        Plan other = planOfIt();
        other.workload.sequenceLength *= 2;
        const PlanOfRunFound longer = planOfRun(*realRun(), other, builtinCatalogue());
        QVERIFY(longer.isOther);
        QCOMPARE(longer.differences.size(), 1);
        QVERIFY2(longer.differences[0].contains("128") && longer.differences[0].contains("64"),
            qPrintable(longer.differences[0]));
        other = planOfIt();
        QVERIFY(other.workload.inlineModel);
        other.workload.inlineModel->layers *= 2;
        QVERIFY(planOfRun(*realRun(), other, builtinCatalogue()).isOther);
        other = planOfIt();
        other.parallelism.pipeline = 1;
        other.parallelism.data = 4;
        QVERIFY(planOfRun(*realRun(), other, builtinCatalogue()).isOther);
    }
    /// A log that prints steps alone: what the importer takes of its own is not "as in the plan" that has otherwise.
    void whatNoFileTellsIsNotCalledThePlans()
    {
        Recording recording;
        recording.sources.push_back({ .file = "training.log" });
        recording.series.push_back({ .name = "global_batch",
            .unit = "1",
            .isByStep = true,
            .at = { 1, 2 },
            .value = { 128, 128 },
            .source = 0 });
        const PlanOfRunFound found = planOfRun(*makeRun(std::move(recording)), planOfIt(), builtinCatalogue());
        QVERIFY2(found.plan, qPrintable(found.errors.join(u'\n')));
        QVERIFY(found.plan->workload.sequenceLength != planOfIt().workload.sequenceLength);
        for (const QString &sentence : found.assumed) // but the machine, which is that of the plan
            QVERIFY2(
                !sentence.contains("as in the plan") || sentence.startsWith("The type of GPU"), qPrintable(sentence));
    }
};

TRAINYARD_TEST(PlanOfRunTest)
#include "tst_plan_of_run.moc"

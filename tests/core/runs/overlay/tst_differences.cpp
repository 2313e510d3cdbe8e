// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/differences.h"
#include "tests/support/test_program.h"

#include "core/runs/telemetry/read_sources.h"
#include "tests/core/runs/overlay/small_runs.h"
#include "tests/support/own_inputs.h"
#include "tests/support/plans.h"

#include <QTest>

#include <cmath>

using namespace trainyard;
using namespace trainyard::test;
using enum DifferenceKind;

namespace {

const DifferenceRow &rowOf(const DifferenceTable &table, DifferenceKind kind)
{
    return table.rows[static_cast<std::size_t>(kind)];
}

/// Both columns are the steps, and the differences are the difference of the steps.
bool addsUp(const DifferenceTable &table, double reference, double measured)
{
    double differences = 0, references = 0, measures = 0;
    for (const DifferenceRow &row : table.rows) {
        differences += row.difference();
        references += row.reference;
        measures += row.measured;
    }
    const double tiny = 1e-12 * (1 + std::abs(reference) + std::abs(measured));
    return std::abs(differences - (measured - reference)) < tiny && std::abs(references - reference) < tiny
        && std::abs(measures - measured) < tiny && std::abs(table.referenceSeconds - reference) < tiny
        && std::abs(table.measuredSeconds - measured) < tiny;
}

SmallRecording twoRanks(Moment late)
{
    SmallRecording made;
    made.stages(1);
    made.rank(0, 2)
        .step(1, 0, 400 + late)
        .span(RecordedWork::Compute, 20, 200, 20)
        .collective("all_reduce", 200, 400 + late, 1e6, 24, 20);
    made.rank(1, 2)
        .step(1, 0, 400 + late)
        .span(RecordedWork::Compute, 20, 300 + late, 20)
        .collective("all_reduce", 300 + late, 400 + late, 1e6, 24, 20);
    return made;
}

} // namespace

class TestDifferences : public QObject {
    Q_OBJECT
private slots:
    void everyPartOfAPlanIsInOneKind()
    {
        const EvaluationPtr plan = evaluated(threeSites(4));
        const RunPtr run = twoRanks(0).run();
        const DifferenceTable table = differences(*plan, *run, run->steps[0]);
        QVERIFY(std::abs(table.referenceSeconds - *plan->metrics.iterationTime) < 1e-8); // of whole nanoseconds
        const Breakdown &parts = *plan->metrics.breakdown;
        QCOMPARE(rowOf(table, Compute).reference, parts.compute + parts.optimizer);
        QCOMPARE(rowOf(table, Bubble).reference, parts.bubble);
        QCOMPARE(rowOf(table, DifferenceKind::Host).reference, parts.overhead);
        QCOMPARE(rowOf(table, Stragglers).reference, 0.0);
        QVERIFY(std::abs(rowOf(table, ExposedCommunication).reference
                    - (parts.total() - parts.compute - parts.optimizer - parts.bubble - parts.overhead))
            < 1e-12);
        QVERIFY(addsUp(table, parts.total(), 400e-6));
        QCOMPARE(QString::fromStdString(table.referenceName), QString("plan"));
    }

    void theRunIsTheMeanOverItsRanks()
    {
        // Compute 180 and 280, moved 100 each, waited 100 and 0; launched at 20
        const RunPtr run = twoRanks(0).run();
        const DifferenceTable table = differences(*run, run->steps[0]);
        const auto us = [&](DifferenceKind kind) { return std::round(rowOf(table, kind).measured * 1e9) / 1e3; };
        QCOMPARE(us(Compute), 230.0);
        QCOMPARE(us(ExposedCommunication), 100.0);
        QCOMPARE(us(Stragglers), 50.0);
        QCOMPARE(us(DifferenceKind::Host), 20.0);
        QCOMPARE(us(Untold), 0.0);
        QCOMPARE(table.ranks, 2);
        QVERIFY(!rowOf(table, Compute).isReferenceTold && rowOf(table, Compute).isMeasuredTold);
    }

    void twoRunsCompareTheSameWayBothWays()
    {
        const RunPtr a = twoRanks(0).run(), b = twoRanks(60).run();
        const DifferenceTable ab = differences(*a, a->steps[0], *b, b->steps[0]);
        const DifferenceTable ba = differences(*b, b->steps[0], *a, a->steps[0]);
        for (std::size_t i = 0; i < ab.rows.size(); ++i)
            QCOMPARE(ab.rows[i].difference(), -ba.rows[i].difference());
        QVERIFY(addsUp(ab, 400e-6, 460e-6) && addsUp(ba, 460e-6, 400e-6));
        QVERIFY(std::abs(rowOf(ab, Compute).difference() - 30e-6) < 1e-12); // one of two ranks computes 60 longer
        QVERIFY(std::abs(rowOf(ab, Stragglers).difference() - 30e-6) < 1e-12); // for which the other waits
    }

    void aLogAloneIsUntoldButForItsTimers()
    {
        SmallRecording made;
        made.series(samples::kStepTime, 7, { 2.0 });
        const RunPtr plain = made.run();
        const DifferenceTable table = differences(*plain, plain->steps[0]);
        QCOMPARE(rowOf(table, Untold).measured, 2.0);
        QVERIFY(!rowOf(table, Compute).isMeasuredTold && addsUp(table, 0, 2));
        made.series("timer.forward-backward", 7, { 1.5 }); // not told apart
        made.series("timer.optimizer.min", 7, { 0.1 }).series("timer.optimizer.max", 7, { 0.3 });
        made.series("timer.all-grads-sync", 7, { 0.25 });
        const RunPtr timed = made.run();
        const DifferenceTable told = differences(*timed, timed->steps[0]);
        QVERIFY(std::abs(rowOf(told, Compute).measured - 0.2) < 1e-12); // the middle of both
        QCOMPARE(rowOf(told, ExposedCommunication).measured, 0.25);
        QVERIFY(addsUp(told, 0, 2) && std::abs(rowOf(told, Untold).measured - 1.55) < 1e-12);
        QVERIFY(hasNote(told.notes, "forward and backward are untold"));
        made.series("timer.forward-compute", 7, { 1.9 }); // more than the step together
        const RunPtr wrong = made.run();
        const DifferenceTable none = differences(*wrong, wrong->steps[0]);
        QCOMPARE(rowOf(none, Untold).measured, 2.0);
        QVERIFY(hasNote(none.notes, "more than the step"));
    }

    void aRunIsNamedAfterTheFolderOfItsFiles()
    {
        const auto nameOf = [](const std::vector<std::string> &files) {
            SmallRecording made = twoRanks(0);
            for (const std::string &file : files)
                made.m_recording.sources.push_back({ .file = file });
            const RunPtr run = made.run();
            return QString::fromStdString(differences(*run, run->steps[0]).measuredName);
        };
        QCOMPARE(nameOf({}), QString("step 1 of the run"));
        QCOMPARE(nameOf({ "/a/job7/rank0.json" }), QString("step 1 of rank0.json"));
        QCOMPARE(nameOf({ "/a/job7/rank0.json", "/a/job7/rank1.json" }), QString("step 1 of job7"));
        QCOMPARE(nameOf({ "/a/job7/rank0.json", "/a/job7/logs/out.log" }), QString("step 1 of job7"));
        QCOMPARE(nameOf({ "rank0.json", "rank01.json" }), QString("step 1 of rank0.json and 1 more"));
        SmallRecording monday = twoRanks(0), tuesday = twoRanks(0);
        monday.m_recording.sources.push_back({ .file = "/runs/monday/rank0.json" });
        tuesday.m_recording.sources.push_back({ .file = "/runs/tuesday/rank0.json" });
        const RunPtr a = monday.run(), b = tuesday.run();
        const DifferenceTable table = differences(*a, a->steps[0], *b, b->steps[0]);
        QCOMPARE(QString::fromStdString(table.referenceName), QString("step 1 of monday/rank0.json"));
        QCOMPARE(QString::fromStdString(table.measuredName), QString("step 1 of tuesday/rank0.json"));
    }

    void aTimerCountsOnceHoweverOftenItIsTold()
    {
        // Mean, least and most of one timer: the mean, 0.25 s. A second log of another node prints the same
        SmallRecording made;
        made.series(samples::kStepTime, 1, { 1.0 });
        for (const std::uint32_t source : { 0u, 1u }) {
            made.series("timer.optimizer", 1, { 0.25 });
            made.series("timer.optimizer.min", 1, { 0.2 }).series("timer.optimizer.max", 1, { 0.4 });
            for (std::size_t i = made.m_recording.series.size() - 3; i < made.m_recording.series.size(); ++i)
                made.m_recording.series[i].source = source;
            made.m_recording.sources.push_back({ .file = source == 0 ? "node0.log" : "node1.log" });
        }
        const RunPtr run = made.run();
        const DifferenceTable table = differences(*run, run->steps[0]);
        QCOMPARE(rowOf(table, Compute).measured, 0.25);
        QVERIFY(addsUp(table, 0, 1) && hasNote(table.notes, "those of node0.log"));
    }

    void parametersThatTheOptimizerGathersAreNoCompute()
    {
        // Megatron-Core: params-all-gather (0.1 s) runs inside optimizer (0.4 s): 0.3 s compute
        SmallRecording made;
        made.series(samples::kStepTime, 1, { 1.0 }).series("timer.optimizer", 1, { 0.4 });
        made.series("timer.params-all-gather", 1, { 0.1 });
        const RunPtr run = made.run();
        const DifferenceTable table = differences(*run, run->steps[0]);
        QVERIFY(std::abs(rowOf(table, Compute).measured - 0.3) < 1e-12);
        QCOMPARE(rowOf(table, ExposedCommunication).measured, 0.1);
        QVERIFY(!hasNote(table.notes, "wait for the GPU each time"));
        made.series("timer.forward-compute", 1, { 0.2 });
        const RunPtr slowed = made.run();
        QVERIFY(hasNote(differences(*slowed, slowed->steps[0]).notes, "steps take longer with them"));
    }

    void aLogsFigureThatSpansDoNotShowIsSaid()
    {
        SmallRecording made = twoRanks(0);
        made.series(samples::kStepTime, 1, { 440e-6 });
        const RunPtr run = made.run();
        QVERIFY(run->steps[0].isOfLog);
        const DifferenceTable table = differences(*run, run->steps[0]);
        QVERIFY(addsUp(table, 0, 400e-6) && hasNote(table.notes, "The log says"));
    }

    void everyLogMakesATable()
    {
        const EvaluationPtr plan = evaluated(oneSite(8));
        const std::string logs = "formats/logs/";
        QCOMPARE(tablesOf(*plan, tests::ownInput(logs),
                     { "megatron_timed.log", "megatron_experts.log", "megatron_keyvalue.log", "nemo.log",
                         "torchtitan.log", "deepspeed.log" }),
            9);
        // The optimizer took 2,000.25 to 2,004.75 ms of 12.5 s
        QVERIFY(std::abs(computeIn(tests::ownInput(logs + "megatron_keyvalue.log")) - 2.0025) < 1e-9);
        if (!tests::isShared(logs))
            return;
        QVERIFY(tablesOf(*plan, tests::sharedInput(logs),
                    { "megatron_lm_2022.log", "megatron_lm_2024.log", "megatron_deepspeed_alcf_keyvalue.log",
                        "nemo2_lightning.log", "torchtitan.log", "deepspeed.log" })
            >= 9);
        // Megatron's optimizer took 3,407.56 to 3,409.92 ms of 29.57 s
        const std::string timed = tests::sharedInput(logs + "megatron_deepspeed_alcf_keyvalue.log");
        QVERIFY(std::abs(computeIn(timed) - 3.40874) < 1e-9);
    }

private:
    /// How many steps the logs have; -1 with a warning where the table of one does not add up.
    static int tablesOf(const Evaluation &plan, const std::string &folder, const std::vector<std::string> &logs)
    {
        int tables = 0;
        for (const std::string &log : logs) {
            auto recording = readSources({ folder + log }, {}, 1);
            const RunPtr run = recording ? makeRun(*std::move(recording)) : nullptr;
            for (const RunStep &step : run ? run->steps : std::vector<RunStep>()) {
                if (!addsUp(differences(plan, *run, step), plan.metrics.breakdown->total(), step.seconds)) {
                    qWarning("%s", log.c_str());
                    return -1;
                }
                ++tables;
            }
        }
        return tables;
    }
    /// Of the first step of a log.
    static double computeIn(const std::string &log)
    {
        auto recording = readSources({ log }, {}, 1);
        const RunPtr run = recording ? makeRun(*std::move(recording)) : nullptr;
        return run && !run->steps.empty() ? rowOf(differences(*run, run->steps[0]), Compute).measured : std::nan("");
    }
};

TRAINYARD_GUILESS_TEST(TestDifferences)
#include "tst_differences.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// What `explain` prints of a plan with jobs: speed-ups as quotients of the times beside them, and what they can be.
#include "core/evaluation/report/job_comparison_report.h"
#include "tests/support/test_program.h"

#include "tests/core/evaluation/report/job_sample.h"

#include <QTest>

#include <nlohmann/json.hpp>

using namespace trainyard;
using nlohmann::json;

namespace {

JobVariant variant(const std::string &name, JobScheduler scheduler, Metric makespan, const std::string &note = {})
{
    auto plan = std::make_shared<Plan>(test::jobPlan());
    plan->jobScheduler = scheduler;
    if (!makespan)
        return { name, note, plan, nullptr };
    auto evaluation = test::jobSample();
    evaluation->plan = plan;
    evaluation->metrics.jobs->makespan = makespan;
    return { name, note, plan, evaluation };
}

/// 5 s by LRTF, 6.25 s first in first out, 10 s model parallel, 7.5 s in pipelines; ZeRO-3 does not fit.
JobComparisons example()
{
    using enum JobScheduler;
    return { { variant("Longest remaining first", ShardedLrtf, 5.0), variant("First in, first out", Fifo, 6.25),
                 variant("Model parallel", ModelParallel, 10.0), variant("Pipeline", Pipeline, 7.5),
                 variant("ZeRO-3 offloaded", ZeroOffload, {}, "first <& does not fit") },
        { variant("Spilling alone", ShardedLrtf, 20.0), variant("with SHARP", ShardedLrtf, 8.0),
            variant("with double buffers", ShardedLrtf, 5.0) },
        { variant("1 GPU", ShardedLrtf, 9.0), variant("2 GPUs", ShardedLrtf, 5.0) },
        { variant("One more in Lab", ShardedLrtf, 4.0) } };
}

/// The cells of the line that begins so, parted by two blanks and more.
QStringList lineOf(const std::string &table, const char *begin)
{
    for (const QString &line : QString::fromStdString(table).split(u'\n'))
        if (line.startsWith(QLatin1String(begin)))
            return line.split(QRegularExpression(QStringLiteral("  +")), Qt::SkipEmptyParts);
    return {};
}

} // namespace

class TstJobComparison : public QObject {
    Q_OBJECT

private slots:
    /// speed-up = time of the other / own time
    void schedulersStandBesideModelParallelismAndPipelines()
    {
        const std::string table = jobComparisonTable(*test::jobSample(), example());
        QCOMPARE(lineOf(table, "Longest remaining"),
            (QStringList { "Longest remaining first", "5.00 s", "1.25×", "80.0 %", "2.00×", "1.50×", "$0.50" }));
        QCOMPARE(lineOf(table, "Model parallel"),
            (QStringList { "Model parallel", "10.0 s", "2.50×", "80.0 %", "1.00×", "0.75×", "$0.50" }));
        QCOMPARE(lineOf(table, "ZeRO-3"), (QStringList { "ZeRO-3 offloaded", "–", "–", "–", "–", "–", "–" }));
        QCOMPARE(lineOf(table, "  ZeRO-3").last(), QStringLiteral("ZeRO-3 offloaded: first <& does not fit"));
    }

    void everyPartOfHydraIsWorthAStep()
    {
        const std::string table = jobComparisonTable(*test::jobSample(), example());
        QCOMPARE(lineOf(table, "with SHARP"), (QStringList { "with SHARP", "8.00 s", "2.50×", "2.50×", "80.0 %" }));
        QCOMPARE(lineOf(table, "with double buffers"),
            (QStringList { "with double buffers", "5.00 s", "4.00×", "1.60×", "80.0 %" }));
        QCOMPARE(lineOf(table, "2 GPUs"), (QStringList { "2 GPUs", "5.00 s", "1.80×", "80.0 %" }));
        QCOMPARE(lineOf(table, "One more in Lab"), (QStringList { "One more in Lab", "4.00 s", "−20.0 %", "$0.50" }));
    }

    /// Two GPUs, two jobs that run, each of a batch of 8: min(2, 2) and (8 + 2 - 1) / 8.
    void limitsAreThoseOfTheEquations()
    {
        const SpeedupLimits limits = speedupLimits(*test::jobSample());
        QCOMPARE(limits.gpus, 2);
        QCOMPARE(limits.jobs, 2);
        QCOMPARE(limits.overModelParallel, 2.0);
        QCOMPARE(limits.overPipeline, 1.125);
        const std::string table = jobComparisonTable(*test::jobSample(), example());
        QVERIFY2(table.find("min(2, 2) = 2×") != std::string::npos && table.find("= 1.12×") != std::string::npos,
            table.c_str());
    }

    void notesStandBelowTheirTable()
    {
        JobComparisons compared = example();
        compared.schedulers[1].note = "models stay on GPUs";
        QCOMPARE(lineOf(jobComparisonTable(*test::jobSample(), compared), "  First in").last(),
            QStringLiteral("First in, first out: models stay on GPUs"));
    }

    void theJsonHasTheSame()
    {
        const json all = json::parse(jobComparisonJson(*test::jobSample(), example()));
        QCOMPARE(all["limits"]["over_model_parallel"].get<double>(), 2.0);
        QCOMPARE(all["schedulers"].size(), 5U);
        QCOMPARE(all["schedulers"][1]["scheduler"].get<std::string>(), std::string("fifo"));
        QCOMPARE(all["schedulers"][1]["makespan_s"].get<double>(), 6.25);
        QVERIFY(all["schedulers"][4]["makespan_s"].is_null() && all["schedulers"][4]["note"].is_string());
        QCOMPARE(all["ablation"].size(), 3U);
        QCOMPARE(all["scaling"][0]["gpus"].get<int>(), 2);
        QCOMPARE(all["one_more_gpu"][0]["run"].get<int>(), 2);
    }

    void nothingComparedIsNothingPrinted()
    {
        const std::string table = jobComparisonTable(*test::jobSample(), {});
        QVERIFY(table.find("what each part") == std::string::npos && table.find("one GPU more") == std::string::npos);
        QVERIFY(json::accept(jobComparisonJson(*test::jobSample(), {})));
    }
};

TRAINYARD_APPLESS_TEST(TstJobComparison)
#include "tst_job_comparison.moc"

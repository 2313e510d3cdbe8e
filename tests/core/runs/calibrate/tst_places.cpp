// SPDX-License-Identifier: GPL-3.0-or-later
// Where a measurement is taken to be from: named links, the only GPU type, the job that ran. What nobody tells is not
// taken.
#include "core/evaluation/advice/evaluate.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/runs/calibrate/calibrate.h"
#include "core/runs/overlay/run_steps.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace trainyard;
using test::samplePlan;

namespace {

EvaluationPtr evaluated(const Plan &plan)
{
    EvaluationWorkspace workspace;
    const auto answer = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
    return answer ? *answer : nullptr;
}

Expected<CalibrationProposal> taught(const Plan &plan, Recording recording)
{
    const EvaluationPtr evaluation = evaluated(plan);
    const RunPtr run = makeRun(std::move(recording));
    return calibrate(*evaluation, *run, builtinCatalogue());
}

Recording iperf(const std::string &file)
{
    Recording recording;
    recording.sources.push_back({ .file = file });
    for (int i = 0; i < 5; ++i)
        recording.benchmarks.push_back(
            { .what = "tcp", .nodes = 2, .seconds = 10, .bytesPerSecond = 5e8, .source = 0 });
    return recording;
}

Recording log(double seconds, int batch)
{
    Recording recording;
    recording.sources.push_back({ .file = "train.log", .kind = SourceKind::MegatronLog });
    SampleSeries &times =
        recording.series.emplace_back(SampleSeries { .name = "step_time", .unit = "s", .isByStep = true, .source = 0 });
    SampleSeries batches { .name = "global_batch", .unit = "sequences", .isByStep = true, .source = 0 };
    for (int step = 1; step <= 12; ++step) {
        times.at.push_back(step);
        times.value.push_back(seconds);
        batches.at.push_back(step);
        batches.value.push_back(batch);
    }
    recording.series.push_back(batches);
    return recording;
}

QString told(const Expected<CalibrationProposal> &proposal)
{
    QString text;
    if (!proposal)
        return QString::fromStdString(proposal.error().what);
    for (const FittedFactor &fitted : proposal->factors)
        text += QString::fromStdString(fitted.id) + u' ';
    for (const std::string &note : proposal->notes)
        text += QString::fromStdString(note) + u' ';
    return text;
}

} // namespace

class PlacesTest : public QObject {
    Q_OBJECT
private slots:
    void aFileNamesItsLinkByWholeWords_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("factor");
        QTest::newRow("both ends") << "runs/east-to-west.json"
                                   << "wan-east-west";
        QTest::newRow("the other way round") << "west_east.json"
                                             << "wan-east-west";
        QTest::newRow("of an id the longer one") << "west east-2.json"
                                                 << "wan-east-2-west";
        QTest::newRow("ends inside of words") << "beast-westerly.json"
                                              << "";
        QTest::newRow("folders do not count") << "east/west/run.json"
                                              << "";
        QTest::newRow("three ends are two links") << "east-west-east-2.json"
                                                  << "";
    }
    void aFileNamesItsLinkByWholeWords()
    {
        QFETCH(QString, file);
        QFETCH(QString, factor);
        Plan plan = samplePlan("llama-3-70b-three-regions");
        const char *const ids[] = { "east", "east-2", "west" };
        for (auto &link : plan.cluster.wanLinks)
            for (std::string &end : link.between)
                for (std::size_t i = 0; i < 3; ++i)
                    if (end == plan.cluster.datacenters[i].id) {
                        end = ids[i];
                        break;
                    }
        for (std::size_t i = 0; i < 3; ++i)
            plan.cluster.datacenters[i].id = ids[i];
        const auto proposal = taught(plan, iperf(file.toStdString()));
        if (factor.isEmpty()) {
            QVERIFY2(!proposal && told(proposal).contains("name the files after"), qPrintable(told(proposal)));
            return;
        }
        QVERIFY2(proposal && proposal->factors.size() == 1, qPrintable(told(proposal)));
        QCOMPARE(QString::fromStdString(proposal->factors.front().id), factor);
    }

    void benchmarksOfCollectivesSayNothingOfSeveralGpuTypes()
    {
        Recording recording;
        recording.sources.push_back({ .file = "nccl.txt", .kind = SourceKind::NcclTests });
        for (double bytes = 1e6; bytes < 1e10; bytes *= 2)
            recording.benchmarks.push_back({ .what = "all_reduce",
                .ranks = 16,
                .nodes = 2,
                .bytes = bytes,
                .seconds = 3e-5 + bytes / 5e10,
                .bytesPerSecond = 5e10,
                .source = 0 });
        const auto proposal = taught(samplePlan("opt-30b-128-a100-384-v100"), recording);
        QVERIFY2(!proposal && told(proposal).contains("2 GPU types"), qPrintable(told(proposal)));
    }

    void stepsOfAnotherJobAreNotLearntFrom()
    {
        const Plan plan = samplePlan("gpt3-175b-1024-a100");
        const auto own = taught(plan, log(35, plan.workload.globalBatch));
        QVERIFY2(own && own->factors.size() == 1, qPrintable(told(own)));
        QCOMPARE(own->factors.front().factor.gpu, "a100-sxm-80gb");
        QVERIFY(own->factors.front().factor.fittedOn.has_value());
        const auto other = taught(plan, log(35, 2 * plan.workload.globalBatch));
        QVERIFY2(!other && told(other).contains("another job"), qPrintable(told(other)));
    }
};

TRAINYARD_APPLESS_TEST(PlacesTest)
#include "tst_places.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry calibrate`, run as a script would run it: factors of a run, the plan with those accepted, and the same
// factors for another plan.
#include "tests/app/cli/program.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

using nlohmann::json;
using trainyard::test::Answer;
using trainyard::test::run;

namespace {

const QString kPlan = QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/moe-2x70b-16-a800.trainyard.json"),
              kRun = QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/moe-2x70b-16-a800-run.trainyard-recording");

QStringList calibrate(const QStringList &more)
{
    return QStringList { "telemetry", "calibrate" } + more;
}

json jsonIn(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? json::parse(file.readAll().toStdString(), nullptr, false) : json();
}

} // namespace

class TestCalibrate : public QObject {
    Q_OBJECT

private slots:
    void theFactorsOfARunAreListedWithTheirErrors()
    {
        const Answer table = run(calibrate({ kPlan, kRun }));
        QCOMPARE(table.exitCode, 0);
        QVERIFY(table.out.find("products-a800-sxm-80gb") != std::string::npos);
        QVERIFY(
            table.out.find("were held out") != std::string::npos || table.out.find("held out") != std::string::npos);
        const Answer answer = run(calibrate({ kPlan, kRun, "--format", "json" }));
        QCOMPARE(answer.exitCode, 0);
        const json told = json::parse(answer.out);
        QCOMPARE(told.at("format").get<std::string>(), "trainyard.factors");
        QVERIFY(!told.at("factors").empty());
        for (const json &one : told.at("factors"))
            QVERIFY(one.at("factor").contains("what") && one.contains("residual"));
    }

    /// One Megatron trace under a plan that nobody told: each factor is of its part, and together they lie far off.
    void factorsThatLieFartherOffAreSaidInTheFirstLine()
    {
        const QString traces = QStringLiteral(TRAINYARD_SHARED_DIR "/traces/megatron_tp8_a100_8rank");
        if (!QFileInfo::exists(traces))
            QSKIP("the shared folder of traces is not there");
        QTemporaryDir folder;
        const QString plan = folder.filePath("told.trainyard.json"), out = folder.filePath("learnt.trainyard.json");
        const Answer imported = run({ "import", traces, "--out", plan });
        QVERIFY2(imported.exitCode == 0, qPrintable(imported.err));
        const json told = json::parse(run(calibrate({ plan, traces, "--format", "json" })).out);
        const bool isFarther = told.at("error_after").get<double>() > told.at("error_before").get<double>();
        QCOMPARE(told.contains("warning"), isFarther);
        const Answer answer = run(calibrate({ plan, traces, "--out", out }));
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        QCOMPARE(answer.out.starts_with("Farther from the run"), isFarther);
        QVERIFY(!run(calibrate({ kPlan, kRun })).out.starts_with("Farther"));
    }

    void onlyWhatIsAcceptedIsInThePlan()
    {
        QTemporaryDir folder;
        const QString out = folder.filePath("calibrated.trainyard.json");
        const Answer answer = run(calibrate({ kPlan, kRun, "--accept", "host,products-a800-sxm-80gb", "--out", out }));
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        const json plan = jsonIn(out);
        QCOMPARE(plan.at("calibration").size(), std::size_t(2));
        QVERIFY(plan.at("calibration").contains("host"));
        QCOMPARE(run({ "evaluate", out }).exitCode, 0);
    }

    void factorsAreCarriedToAnotherPlan()
    {
        QTemporaryDir folder;
        const QString factors = folder.filePath("factors.json"), first = folder.filePath("a.trainyard.json"),
                      second = folder.filePath("b.trainyard.json");
        QCOMPARE(run(calibrate({ kPlan, kRun, "--factors", factors, "--out", first })).exitCode, 0);
        const Answer answer = run(calibrate({ kPlan, "--use", factors, "--out", second, "--accept", "all" }));
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        json carried = jsonIn(second).at("calibration"), fitted = jsonIn(first).at("calibration");
        for (json *all : { &carried, &fitted })
            for (json &one : *all)
                one.erase("error_after"); // of all together, where they were judged together
        QVERIFY(carried == fitted);
    }

    void faultsNameWhatIsWrong_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("what");
        QTest::newRow("nothing to learn from") << QStringList { kPlan } << "SOURCE";
        QTest::newRow("no such factor") << QStringList { kPlan, kRun, "--out", "/dev/null", "--accept", "warp" }
                                        << "--accept warp";
        QTest::newRow("accepted for nothing") << QStringList { kPlan, kRun, "--accept", "all" } << "--out";
        QTest::newRow("no file of factors") << QStringList { kPlan, "--use", kPlan } << "no file of factors";
        QTest::newRow("over its input") << QStringList { kPlan, kRun, "--out", kPlan } << "--out";
    }
    void faultsNameWhatIsWrong()
    {
        QFETCH(QStringList, arguments);
        QFETCH(QString, what);
        const Answer answer = run(calibrate(arguments));
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(answer.err.contains(what), qPrintable(answer.err));
    }
};

TRAINYARD_APPLESS_TEST(TestCalibrate)
#include "tst_calibrate.moc"

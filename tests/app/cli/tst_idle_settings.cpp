// SPDX-License-Identifier: GPL-3.0-or-later
// `evaluate --set` and `explain` say which settings change nothing, and why.
#include "tests/app/cli/program.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTest>

#include <nlohmann/json.hpp>

using nlohmann::json;
using namespace trainyard::test;

namespace {

json evaluated(const char *sample, const QStringList &settings)
{
    QStringList arguments { QStringLiteral("evaluate"), sampleFile(sample), QStringLiteral("--format"),
        QStringLiteral("json") };
    for (const QString &setting : settings)
        arguments << QStringLiteral("--set") << setting;
    const Answer answer = run(arguments);
    if (answer.exitCode != 0)
        qFatal("%s", qPrintable(answer.err));
    return json::parse(answer.out);
}

/// Of the problems those about the key that say that something has no effect.
std::vector<std::string> saidOf(const json &metrics, const char *key)
{
    std::vector<std::string> texts;
    for (const json &problem : metrics["problems"])
        if (problem["where"] == key && problem["text"].get<std::string>().find("has no effect") != std::string::npos)
            texts.push_back(problem["text"]);
    return texts;
}

} // namespace

class IdleSettingsTest : public QObject {
    Q_OBJECT
private slots:
    void aSettingThatMovesNothingIsAmongTheProblemsWithWhy()
    {
        const json metrics = evaluated("gpt3-offload-a100-40gb", { QStringLiteral("workload.precision=bf16") });
        const auto said = saidOf(metrics, "workload.precision");
        QCOMPARE(said.size(), std::size_t(1));
        QVERIFY2(said.front().find("elements of 2 bytes") != std::string::npos, said.front().c_str());
        for (const json &problem : metrics["problems"])
            if (problem["where"] == "workload.precision")
                QCOMPARE(problem["severity"].get<std::string>(), std::string("note"));
    }

    void aSettingThatMovesSomethingIsNot()
    {
        const json before = evaluated("ssdtrain-bert-2xa100", {}),
                   after = evaluated("ssdtrain-bert-2xa100", { QStringLiteral("memory.recompute=full") });
        QVERIFY(before["iteration_time_s"] != after["iteration_time_s"]);
        QVERIFY(saidOf(after, "memory.recompute").empty());
    }

    /// Each of several is looked at beside the others: norms are for nothing where whole layers are recomputed.
    void ofSeveralSettingsEachIsLookedAtBesideTheOthers()
    {
        const json metrics = evaluated("gpt3-offload-a100-40gb",
            { QStringLiteral("memory.recompute=full"), QStringLiteral("memory.recompute_norms=true"),
                QStringLiteral("workload.micro_batch=2") });
        QVERIFY(saidOf(metrics, "memory.recompute").empty());
        QVERIFY(saidOf(metrics, "workload.micro_batch").empty());
        const auto said = saidOf(metrics, "memory.recompute_norms");
        QCOMPARE(said.size(), std::size_t(1));
        QVERIFY2(said.front().find("recomputed as a whole") != std::string::npos, said.front().c_str());
    }

    void aPlanAsItIsWrittenIsNotAskedAbout()
    {
        for (const json &problem : evaluated("hydra-lab", {})["problems"])
            QVERIFY(problem["text"].get<std::string>().find("has no effect") == std::string::npos);
    }

    /// A plan from standard input is read once.
    void aPlanFromStandardInputIsAskedToo()
    {
        QFile file(sampleFile("gpt3-offload-a100-40gb"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const Answer answer = run(words("evaluate - --set workload.precision=bf16"), file.readAll());
        QCOMPARE(answer.exitCode, 0);
        QVERIFY(answer.out.find("Precision fp16 → bf16 has no effect") != std::string::npos);
    }

    /// Full recomputation leaves no norms to recompute; nothing else of the plan is idle by the same right.
    void explainListsTheSwitchesOfThePlanThatChangeNothing()
    {
        const Answer answer = run(words("explain --format json --set memory.recompute=full --set "
                                        "memory.recompute_norms=true --set workload.precision=bf16")
            << sampleFile("ssdtrain-bert-2xa100"));
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        const json idle = json::parse(answer.out)["idle_settings"];
        const auto has = [&](const char *key) {
            return std::any_of(idle.begin(), idle.end(), [&](const json &one) {
                return one["key"] == key && one["why"].is_string() && one["change"].is_string();
            });
        };
        QVERIFY2(has("memory.recompute_norms"), idle.dump().c_str());
        QVERIFY2(!has("memory.recompute"), idle.dump().c_str());
        const Answer table = run(words("explain --set memory.recompute=full --set memory.recompute_norms=true")
            << sampleFile("ssdtrain-bert-2xa100"));
        QVERIFY(table.out.find("which settings change nothing") != std::string::npos);
        QVERIFY(table.out.find("every layer is recomputed as a whole") != std::string::npos);
    }

    /// The update of the lab's states in host memory takes time and room on the GPU less.
    void statesOffTheGpuActOnMeasuredLayersToo()
    {
        const json on = evaluated("cephalo-lab", {}),
                   off = evaluated("cephalo-lab", { QStringLiteral("memory.optimizer_offload=host") });
        QVERIFY(off["memory"]["peak_bytes"].get<double>() < on["memory"]["peak_bytes"].get<double>() - 1e9);
        QVERIFY(off["iteration_time_s"].get<double>() > on["iteration_time_s"].get<double>());
        QVERIFY(off["breakdown_s"]["optimizer"].get<double>() > 0);
        QVERIFY(saidOf(off, "memory.optimizer_offload").empty());
    }
};

TRAINYARD_APPLESS_TEST(IdleSettingsTest)
#include "tst_idle_settings.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry verdict`, run as a script would run it: a log alone gives plan, prediction, steps and a verdict whose
// parts add up.
#include "tests/app/cli/program.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <nlohmann/json.hpp>

using nlohmann::json;
using trainyard::test::Answer;
using trainyard::test::run;
using trainyard::test::sampleFile;

namespace {

/// As Megatron-LM prints it: arguments, then steps with their timers.
QByteArray megatronLog(double seconds)
{
    QByteArray text = "------------------------ arguments ------------------------\n";
    for (const char *line :
        { "num_layers ...................................... 32",
            "hidden_size ..................................... 4096",
            "ffn_hidden_size ............................ 14336",
            "num_attention_heads ............................. 32",
            "num_query_groups ............................... 8",
            "group_query_attention ........................... True",
            "swiglu ...................................... True",
            "normalization ................................... RMSNorm",
            "position_embedding_type .................. rope", "untie_embeddings_and_output_weights ............. True",
            "add_bias_linear ............................ False",
            "padded_vocab_size ............................... 128256",
            "seq_length ............................... 8192", "global_batch_size ............................... 128",
            "micro_batch_size ................................ 1",
            "tensor_model_parallel_size ...................... 2",
            "pipeline_model_parallel_size .................... 4",
            "world_size ...................................... 64",
            "bf16 ........................................ True",
            "sequence_parallel ............................... True",
            "use_distributed_optimizer .................. False",
            "overlap_grad_reduce ............................. False",
            "attention_dropout .......................... 0.0",
            "hidden_dropout .................................. 0.0" })
        text += QByteArray("  ") + line + "\n";
    text += "-------------------- end of arguments ---------------------\n";
    for (int step = 1; step <= 12; ++step) {
        const QByteArray ms = QByteArray::number(1000 * seconds * (step == 1 ? 4 : 1), 'f', 1);
        text += " [2024-04-06 02:59:" + QByteArray::number(10 + step) + "] iteration " + QByteArray::number(step)
            + "/     100 | consumed samples: " + QByteArray::number(128 * step) + " | elapsed time per iteration (ms): "
            + ms + " | learning rate: 8.6E-06 | global batch size:   128 | lm loss: 1.8E+00 | loss scale: 1.0 | "
            + "number of skipped iterations:   0 | number of nan iterations:   0 |\n"
            + "(min, max) time across ranks (ms):\n" + "    grads-all-reduce ...............................: ("
            + QByteArray::number(400 * seconds, 'f', 2) + ", " + QByteArray::number(400 * seconds, 'f', 2) + ")\n";
    }
    return text;
}

/// No source tells a model: nothing is predicted of it, and nothing compared.
bool isNotCompared(const json &answer)
{
    return answer.at("parts").empty() && answer.at("predicted_s").is_null();
}

/// Σ parts = step, on both sides.
bool addsUp(const json &answer)
{
    double predicted = 0, measured = 0;
    for (const json &part : answer.at("parts")) {
        predicted += part.at("predicted_s").get<double>();
        measured += part.at("measured_s").get<double>();
    }
    return !answer.at("parts").empty() && std::abs(predicted - answer.at("predicted_s").get<double>()) < 1e-9
        && std::abs(measured - answer.at("measured_s").get<double>()) < 1e-9;
}

/// Σ parts = all of the level, on both sides.
bool memoryAddsUp(const json &answer)
{
    const json &memory = answer.at("memory");
    double predicted = 0, measured = 0;
    for (const json &part : memory.at("parts")) {
        predicted += part.at("predicted_bytes").get<double>();
        measured += part.at("measured_bytes").get<double>();
    }
    return !memory.at("parts").empty() && std::abs(predicted - memory.at("predicted_bytes").get<double>()) < 1
        && std::abs(measured - memory.at("measured_bytes").get<double>()) < 1;
}

double measuredOf(const json &memory, const char *part)
{
    double bytes = 0;
    for (const json &one : memory.at("parts"))
        bytes += one.at("part") == part ? one.at("measured_bytes").get<double>() : 0;
    return bytes;
}

bool hasSentence(const json &list, const char *part)
{
    for (const json &sentence : list)
        if (sentence.get<std::string>().find(part) != std::string::npos)
            return true;
    return false;
}

json verdictOf(const QStringList &arguments)
{
    const Answer answer = run(QStringList { "telemetry", "verdict" } + arguments + QStringList { "--format", "json" });
    if (answer.exitCode != 0)
        qWarning("%s", qPrintable(answer.err));
    return answer.exitCode == 0 ? json::parse(answer.out) : json();
}

} // namespace

class TestVerdictCommand : public QObject {
    Q_OBJECT

private slots:
    void aLogWithItsArgumentsIsEnough()
    {
        const json plain = verdictOf({ log(1) });
        const double planned = plain.at("predicted_s");
        QVERIFY(planned > 0 && addsUp(plain));
        QVERIFY(
            hasSentence(plain.at("plan").at("taken"), "parallelism.pipeline 4 from --pipeline-model-parallel-size"));
        QVERIFY(hasSentence(plain.at("doubts"), "The type of GPU is told by no source"));
        QCOMPARE(plain.at("steps").get<int>(), 11); // of twelve the reader leaves out the first, with the start in it
        // Two fifths of a step that takes 1.8 times as long are gradients, which the plan has as less
        const json slow = verdictOf({ log(1.8 * planned) });
        QVERIFY(addsUp(slow));
        QVERIFY(std::abs(slow.at("measured_s").get<double>() / (1.8 * planned) - 1) < 1e-3);
        const std::string headline = slow.at("headline");
        QVERIFY2(headline.starts_with("80 % slower than predicted, "), headline.c_str());
        QVERIFY2(headline.ends_with(" in exposed all-reduce"), headline.c_str());
        QVERIFY(hasSentence(slow.at("causes"), "without --overlap-grad-reduce"));
        QCOMPARE(slow.at("parts").at(0).at("evidence").get<std::string>(),
            std::string("timer grads-all-reduce, median of 11 steps"));
        const Answer table = run({ "telemetry", "verdict", log(1.8 * planned) });
        QCOMPARE(table.exitCode, 0);
        QVERIFY(table.out.starts_with(headline));
        QVERIFY(table.out.find("Typical causes") != std::string::npos);
    }

    void whatIsKnownBetterCorrectsThePlan()
    {
        const json h100 = verdictOf({ log(1) });
        const json a100 = verdictOf({ log(1), "--set", "cluster.datacenters[0].pools[0].gpu=a100-sxm-80gb" });
        QVERIFY(a100.at("predicted_s").get<double>() > 1.5 * h100.at("predicted_s").get<double>());
        QVERIFY(!hasSentence(a100.at("doubts"), "The type of GPU is told by no source"));
        // A plan in place of all that the log tells
        const QString plan = m_folder.filePath("own.trainyard.json");
        const Answer imported = run({ "import", log(1), "--base", sampleFile("gpt3-175b-1024-a100"), "--out", plan });
        QVERIFY2(imported.exitCode == 0, qPrintable(imported.err));
        const json own = verdictOf({ log(1), "--plan", plan });
        QVERIFY(addsUp(own) && own.at("plan").is_null());
        const json based = verdictOf({ log(1), "--base", sampleFile("gpt3-175b-1024-a100") });
        QVERIFY(std::abs(own.at("predicted_s").get<double>() - based.at("predicted_s").get<double>()) < 1e-12);
        QCOMPARE(run({ "telemetry", "verdict", log(1), "--plan", plan, "--base", plan }).exitCode, 2);
        QCOMPARE(run({ "telemetry", "verdict", log(1), "--set", "no.such.key=1" }).exitCode, 2);
    }

    void realMegatronLogsGiveAVerdict()
    {
        ownLogsGiveAVerdict(QStringLiteral(TRAINYARD_SOURCE_DIR "/tests/data/formats/logs/"));
        if (const QString logs = QStringLiteral(TRAINYARD_SHARED_DIR "/formats/logs/"); QFile::exists(logs))
            capturedLogsGiveAVerdict(logs);
    }

    void whatIsNoRunIsTold()
    {
        QCOMPARE(run({ "telemetry", "verdict", m_folder.filePath("absent.log") }).exitCode, 2);
        QCOMPARE(run({ "telemetry", "verdict" }).exitCode, 2);
        QVERIFY(QDir(m_folder.path()).mkdir(QStringLiteral("empty")));
        const Answer empty = run({ "telemetry", "verdict", m_folder.filePath("empty") });
        QCOMPARE(empty.exitCode, 2);
        QVERIFY2(empty.err.contains("empty: there is no file in it"), qPrintable(empty.err));
        // A recording where the plan goes
        const QString packed = m_folder.filePath("run.json.gz");
        QFile file(packed);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write("\x1f\x8b\x08\x00", 4) == 4);
        file.close();
        const Answer swapped = run({ "telemetry", "verdict", log(1), "--plan", packed });
        QCOMPARE(swapped.exitCode, 2);
        QVERIFY2(swapped.err.contains("it is packed, as a recording of a run"), qPrintable(swapped.err));
    }

private:
    static void ownLogsGiveAVerdict(const QString &logs)
    {
        const json timed = verdictOf({ logs + "megatron_timed.log" });
        QVERIFY(isNotCompared(timed) && std::abs(timed.at("measured_s").get<double>() - 0.256) < 1e-9);
        const json moe = verdictOf({ logs + "megatron_experts.log" });
        // Of steps 43 to 45 the middle one: an excerpt that begins at step 43 has no warm-up
        QVERIFY(moe.at("parts").empty() && moe.at("predicted_s").is_null()); // of no model
        QVERIFY(std::abs(moe.at("measured_s").get<double>() - 2.125) < 1e-9);
        QVERIFY(hasSentence(moe.at("doubts"), "No source tells a model"));
        QVERIFY(moe.at("headline").get<std::string>().starts_with("A step takes 2.12 s. How much was to be "));
        const json first = verdictOf({ logs + "megatron_keyvalue.log" });
        QVERIFY(isNotCompared(first) && std::abs(first.at("measured_s").get<double>() - 12.5) < 1e-9);
        QVERIFY(hasSentence(first.at("doubts"), "only step is its first iteration"));
        QVERIFY(moe.at("memory").is_null());
        // This one ends before its first step is timed. 12.58 / 1.5729 = 8 shards, 1.704 - 1.5729 = 0.26 / 2 of the
        // token table: tensor 2, pipeline 4, and 18 bytes a parameter
        const json young = verdictOf({ logs + "megatron_startup.log" });
        QVERIFY(memoryAddsUp(young) && young.at("parts").empty() && young.at("measured_s").is_null());
        QVERIFY(young.at("predicted_s").get<double>() > 0);
        const json &memory = young.at("memory");
        QCOMPARE(memory.at("of").get<std::string>(), std::string("rank 1, stage 1 of 4"));
        QVERIFY(std::abs(memory.at("measured_bytes").get<double>() - 37888.0 * 1048576) < 1);
        QVERIFY(std::abs(measuredOf(memory, "optimizer") - (29251.10 * 1048576 - 6 * 1.704e9)) < 1e6);
        QVERIFY(std::abs(measuredOf(memory, "not explained") - 1000.0 * 1048576) < 1e6);
        const double ratio = memory.at("measured_bytes").get<double>() / memory.at("predicted_bytes").get<double>();
        QVERIFY2(std::abs(ratio - 1) < 0.1, qPrintable(QString::number(ratio))); // of a model of that very size
        QVERIFY(hasSentence(young.at("plan").at("taken"), "parallelism.tensor 2 from "));
        QVERIFY(hasSentence(young.at("plan").at("taken"), "parallelism.pipeline 4 from "));
        QVERIFY(hasSentence(young.at("doubts"), "No step was timed"));
        const Answer table = run({ "telemetry", "verdict", logs + "megatron_startup.log" });
        QCOMPARE(table.exitCode, 0);
        QVERIFY(table.out.find("All reserved") != std::string::npos);
        QVERIFY(table.out.find("; no step is timed\n") != std::string::npos);
    }

    static void capturedLogsGiveAVerdict(const QString &logs)
    {
        const json old = verdictOf({ logs + "megatron_lm_2022.log" });
        QVERIFY(isNotCompared(old) && std::abs(old.at("measured_s").get<double>() - 0.1234) < 1e-9);
        const json moe = verdictOf({ logs + "megatron_lm_2024.log" });
        // Of steps 43 to 45 the middle one: an excerpt that begins at step 43 has no warm-up
        QVERIFY(moe.at("parts").empty() && moe.at("predicted_s").is_null()); // of no model
        QVERIFY(std::abs(moe.at("measured_s").get<double>() - 5.5338) < 1e-9);
        QVERIFY(hasSentence(moe.at("doubts"), "No source tells a model"));
        QVERIFY(moe.at("headline").get<std::string>().starts_with("A step takes 5.53 s. How much was to be "));
        const json timed = verdictOf({ logs + "megatron_deepspeed_alcf_keyvalue.log" });
        QVERIFY(isNotCompared(timed) && std::abs(timed.at("measured_s").get<double>() - 29.57) < 1e-9);
        QVERIFY(hasSentence(timed.at("doubts"), "only step is its first iteration"));
        QVERIFY(moe.at("memory").is_null());
        // This one ends before its first step is timed. 64.43 / 2.0133 = 32 shards of 80 layers with 18 bytes a
        // parameter: the plan is made of that, and judged by what rank 2 held
        const json young = verdictOf({ logs + "megatron_lm_2026_startup_interleaved.log" });
        QVERIFY(memoryAddsUp(young) && young.at("parts").empty() && young.at("measured_s").is_null());
        QVERIFY(young.at("predicted_s").get<double>() > 0);
        const json &memory = young.at("memory");
        QCOMPARE(memory.at("of").get<std::string>(), std::string("rank 2, stage 1 of 8"));
        QVERIFY(std::abs(memory.at("measured_bytes").get<double>() - 48934.0 * 1048576) < 1);
        QVERIFY(std::abs(measuredOf(memory, "optimizer") - (35695.42 * 1048576 - 6 * 2.0794e9)) < 1e6);
        QVERIFY(std::abs(measuredOf(memory, "not explained") - (38921.15 - 35695.42) * 1048576) < 1e6);
        const double ratio = memory.at("measured_bytes").get<double>() / memory.at("predicted_bytes").get<double>();
        QVERIFY2(std::abs(ratio - 1) < 0.1, qPrintable(QString::number(ratio))); // of a model of that very size
        QVERIFY(hasSentence(young.at("plan").at("taken"), "parallelism.tensor 4 from "));
        QVERIFY(hasSentence(young.at("plan").at("taken"), "parallelism.pipeline 8 from "));
        QVERIFY(hasSentence(young.at("doubts"), "No step was timed"));
        const Answer table = run({ "telemetry", "verdict", logs + "megatron_lm_2026_startup_interleaved.log" });
        QCOMPARE(table.exitCode, 0);
        QVERIFY(table.out.find("All reserved") != std::string::npos);
        QVERIFY(table.out.find("; no step is timed\n") != std::string::npos);
    }

    [[nodiscard]] QString log(double seconds) const
    {
        QFile out(m_folder.filePath(QStringLiteral("run-%1.log").arg(seconds)));
        if (!out.open(QIODevice::WriteOnly) || out.write(megatronLog(seconds)) <= 0)
            qFatal("cannot write %s", qPrintable(out.fileName()));
        return out.fileName();
    }
    QTemporaryDir m_folder;
};

TRAINYARD_GUILESS_TEST(TestVerdictCommand)
#include "tst_verdict.moc"

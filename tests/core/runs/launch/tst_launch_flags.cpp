// SPDX-License-Identifier: GPL-3.0-or-later
// Every argument that a launch writes is one that the framework's parser takes, with as many values and of its choices:
// megatron_flags.txt and torchtitan_flags.txt list them, read from named commits by scripts/parser_flags.py.
#include "tests/core/runs/launch/launch_trial.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QTest>

#include <map>
#include <set>

using namespace trainyard;

namespace {

struct Flag {
    QString how;
    QStringList choices;
};

std::map<QString, Flag> flagsOf(const char *file)
{
    QFile list(QStringLiteral(TRAINYARD_SOURCE_DIR "/tests/core/runs/launch/") + QString::fromUtf8(file));
    if (!list.open(QIODevice::ReadOnly))
        qFatal("no list of flags");
    std::map<QString, Flag> flags;
    for (const QByteArray &line : list.readAll().split('\n')) {
        const QStringList words = QString::fromUtf8(line).split(u' ', Qt::SkipEmptyParts);
        if (words.size() >= 2 && words[0] != u"#")
            flags[words[0]] = { words[1], words.mid(2) };
    }
    return flags;
}

/// What the script hands to torchrun, a stub of which prints its arguments.
QStringList argumentsOf(const std::string &script, QStringList given = {})
{
    QTemporaryDir folder;
    const auto write = [&](const char *name, const QByteArray &text) {
        QFile file(folder.filePath(QString::fromUtf8(name)));
        if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
            qFatal("no temporary file");
        file.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner | QFileDevice::ExeOwner);
    };
    write("torchrun", "#!/bin/sh\nprintf '%s\\037' \"$@\"\n");
    write("scontrol", "#!/bin/sh\necho node-1\necho node-2\n");
    write("srun", "#!/bin/sh\nwhile [ \"$1\" != bash ]; do shift; done\nSLURM_PROCID=0 exec \"$@\"\n");
    write("launch.sh", QByteArray::fromStdString(script));
    QProcess bash;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("PATH"), folder.path() + u':' + environment.value(QStringLiteral("PATH")));
    environment.insert(QStringLiteral("SLURM_JOB_NODELIST"), QStringLiteral("node-[1-2]"));
    environment.insert(QStringLiteral("SLURM_JOB_ID"), QStringLiteral("7"));
    bash.setProcessEnvironment(environment);
    bash.setWorkingDirectory(folder.path());
    bash.start(QStringLiteral("bash"), QStringList { folder.filePath(QStringLiteral("launch.sh")) } + given);
    bash.waitForFinished();
    if (bash.exitCode() != 0)
        qWarning("%s\n%s", bash.readAllStandardError().constData(), script.c_str());
    QStringList words = QString::fromUtf8(bash.readAllStandardOutput()).split(QChar(0x1f));
    words.removeLast();
    return words;
}

bool hasBash()
{
    return !QStandardPaths::findExecutable(QStringLiteral("bash")).isEmpty();
}

std::string scriptOf(const Plan &plan, LaunchTarget target)
{
    const auto evaluation = trial::evaluated(plan);
    if (!evaluation)
        qFatal("%s", toString(evaluation.error().front()).c_str());
    const auto file = launchFile(**evaluation, target);
    if (!file)
        qFatal("%s", toString(file.error().front()).c_str());
    return file->text;
}

// Of these plans: what one of the two has no argument for is refused by it, and by it alone
constexpr int kOfMegatronAlone = 6, kOfTitanAlone = 3;
/// Plans that together have every argument.
std::vector<Plan> plans()
{
    Plan plan;
    plan.name = "it's \"a\" $(plan) `id`\nin two lines";
    plan.cluster.datacenters = { { .id = "here",
        .name = "O'Hare\n$(touch bad)",
        .pools = { { .id = "p", .gpu = "b200-sxm-180gb", .nodes = 2, .host = Host { 4096, 25, {} } } } } };
    plan.workload.model = "llama-3-8b";
    plan.workload.sequenceLength = 2048;
    plan.workload.globalBatch = 64;
    plan.parallelism = { .tensor = 2, .pipeline = 2, .data = 4 };
    std::vector<Plan> all { plan };
    const auto add = [&](auto change) { change(all.emplace_back(plan)); };
    add([](Plan &p) {
        p.schedule = ScheduleKind::Interleaved, p.parallelism.virtualPipeline = 4, p.parallelism.zeroStage = 0;
        p.workload.precision = Precision::Fp8, p.memory.recompute = Recompute::Full, p.memory.recomputeLayers = 16;
    });
    add([](Plan &p) {
        p.parallelism.zeroStage = 3, p.workload.precision = Precision::Nvfp4, p.parallelism.pipeline = 1;
        p.parallelism.context = 2, p.memory.recompute = Recompute::Selective, p.memory.recomputeNorms = true;
        p.workload.trainingTokens = 1e12;
    });
    add([](Plan &p) {
        p.parallelism.pipeline = 1, p.parallelism.data = 8, p.memory.optimizerOffload = OptimizerOffload::Host;
        p.memory.activationOffload = ActivationOffload::Host, p.workload.precision = Precision::Mxfp8;
    });
    add([](Plan &p) {
        p.parallelism.pipeline = 1, p.parallelism.data = 8, p.memory.activationOffload = ActivationOffload::Host;
        p.memory.offloadFraction = 0.5, p.workload.precision = Precision::Fp16, p.parallelism.sequenceParallel = false;
        p.workload.optimizer = Optimizer::Lion;
    });
    add([](Plan &p) {
        p.workload.model = "deepseek-v3", p.parallelism.pipeline = 2, p.parallelism.expert = 8;
        p.memory.recompute = Recompute::Selective, p.memory.recomputeUpProjection = true;
        p.memory.recomputeSharedExperts = p.memory.recomputeActivationFunction = true;
        p.moe.dispatch = MoeDispatch::Dedup, p.moe.capacityFactor = 1.25;
    });
    add([](Plan &p) {
        p.parallelism.pipeline = 1, p.parallelism.data = 8, p.parallelism.zeroStage = 3;
        p.memory.optimizerOffload = OptimizerOffload::Host, p.memory.parameterOffload = ParameterOffload::Host;
    });
    for (const ScheduleKind schedule : { ScheduleKind::GPipe, ScheduleKind::Interleaved, ScheduleKind::ZbV })
        add([=](Plan &p) {
            p.schedule = schedule, p.parallelism.zeroStage = schedule == ScheduleKind::GPipe ? 2 : 3;
            p.parallelism.virtualPipeline = schedule == ScheduleKind::Interleaved ? 4 : 1;
            p.parallelism.sequenceParallel = false;
            p.workload.precision = schedule == ScheduleKind::ZbV ? Precision::Fp32 : Precision::Fp8;
        });
    add([](Plan &p) { p.workload.model = "gpt-3-6.7b", p.workload.precision = Precision::Fp32; });
    return all;
}

} // namespace

class TestLaunchFlags : public QObject {
    Q_OBJECT
private slots:
    void theListsAreOfNamedCommits()
    {
        for (const auto &[name, flag] : { std::pair("megatron_flags.txt", "--tensor-model-parallel-size"),
                 std::pair("torchtitan_flags.txt", "--parallelism.tensor_parallel_degree") }) {
            const auto flags = flagsOf(name);
            QVERIFY(flags.size() > 60);
            QCOMPARE(flags.at(QString::fromUtf8(flag)).how, QStringLiteral("one"));
        }
    }

    void everyArgumentIsOneThatTheParserTakes_data()
    {
        QTest::addColumn<bool>("isTitan");
        QTest::newRow("Megatron-LM") << false;
        QTest::newRow("torchtitan") << true;
    }
    void everyArgumentIsOneThatTheParserTakes()
    {
        if (!hasBash())
            QSKIP("bash, which takes the script apart, is not installed");
        QFETCH(bool, isTitan);
        const auto flags = flagsOf(isTitan ? "torchtitan_flags.txt" : "megatron_flags.txt");
        std::set<QString> seen;
        int refused = 0;
        for (const Plan &plan : plans()) {
            const auto evaluation = trial::evaluated(plan);
            QVERIFY(evaluation);
            const auto file = launchFile(**evaluation, isTitan ? LaunchTarget::Torchtitan : LaunchTarget::Megatron);
            if (!file) {
                ++refused; // plans of the other framework
                continue;
            }
            QStringList words = argumentsOf(file->text, { QStringLiteral("12") });
            const auto program = std::ranges::find_if(
                words, [](const QString &word) { return word.endsWith(u".py") || word == u"torchtitan.train"; });
            QVERIFY(program != words.end());
            words = words.mid(program - words.begin() + 1);
            for (qsizetype i = 0; i < words.size();) {
                const auto known = flags.find(words[i]);
                QVERIFY2(known != flags.end(), qPrintable(words[i]));
                seen.insert(words[i]);
                QStringList values;
                for (++i; i < words.size() && !words[i].startsWith(u"--"); ++i)
                    values << words[i];
                const auto &[flag, what] = *known;
                const bool isCounted = what.how == u"switch" ? values.isEmpty()
                    : what.how == u"one"                     ? values.size() == 1
                                                             : !values.isEmpty();
                QVERIFY2(isCounted, qPrintable(flag + u' ' + values.join(u' ')));
                for (const QString &value : values)
                    QVERIFY2(what.choices.isEmpty() || what.choices.contains(value), qPrintable(flag + u' ' + value));
            }
        }
        qInfo("%d arguments seen", int(seen.size()));
        QCOMPARE(refused, isTitan ? kOfMegatronAlone : kOfTitanAlone);
        const QStringList wanted = isTitan
            ? QStringList { QStringLiteral("--training.enable_cpu_offload"), QStringLiteral("--metrics.log_freq"),
                  QStringLiteral("--parallelism.num_pp_microbatches"),
                  QStringLiteral("--parallelism.no-enable_sequence_parallel"),
                  QStringLiteral("--parallelism.pipeline_parallel_layers_per_stage"),
                  QStringLiteral("--training.disable_cuda_graphs") }
            : QStringList { QStringLiteral("--log-throughput"), QStringLiteral("--timing-log-level"),
                  QStringLiteral("--log-interval"), QStringLiteral("--use-megatron-fsdp"),
                  QStringLiteral("--recompute-modules"), QStringLiteral("--cpu-offloading-num-layers"),
                  QStringLiteral("--fine-grained-activation-offloading"), QStringLiteral("--optimizer-cpu-offload"),
                  QStringLiteral("--num-virtual-stages-per-pipeline-rank"), QStringLiteral("--q-lora-rank") };
        for (const QString &flag : wanted)
            QVERIFY2(seen.contains(flag), qPrintable(flag));
    }

    void namesOfOthersNeverBecomeCommands()
    {
        if (!hasBash())
            QSKIP("bash, which would run them, is not installed");
        Plan plan = plans().front();
        plan.stack.name = "fsdp";
        plan.parallelism.zeroStage = 3;
        for (const LaunchTarget target : { LaunchTarget::Megatron, LaunchTarget::Torchtitan, LaunchTarget::Slurm }) {
            const std::string script = scriptOf(plan, target);
            const QStringList words = argumentsOf(script);
            QVERIFY2(words.contains(QStringLiteral("--nnodes")), script.c_str());
            // steps that nobody told are 50: a plan without training tokens
            QVERIFY(words.contains(QStringLiteral("50")));
            // the name of the plan is in comments and in the job's name alone, line by line
            std::size_t at = script.find("in two lines");
            for (; at != std::string::npos; at = script.find("in two lines", at + 1)) {
                const std::size_t line = script.rfind('\n', at) + 1;
                QVERIFY(script.compare(line, 1, "#") == 0);
            }
        }
    }

    void eachRankStandsWhereThePlanHasIt()
    {
        // two datacenters, a stage of 16 GPUs in each: nodes 0 and 1 there, 2 and 3 here
        Plan plan = plans().front();
        plan.cluster.datacenters.push_back(plan.cluster.datacenters.front());
        plan.cluster.datacenters[0].name = "east";
        plan.cluster.datacenters[1].id = "there", plan.cluster.datacenters[1].name = "west";
        plan.cluster.datacenters[1].pools[0].id = "q";
        plan.cluster.wanLinks = { { .between = { "here", "there" }, .rttMs = 20 } };
        plan.parallelism = { .tensor = 4, .pipeline = 2, .data = 4 };
        plan.placement.mode = PlacementMode::PipelineAcross;
        plan.placement.stages = { { "there", 1, {} }, { "here", 1, {} } };
        const std::string script = scriptOf(plan, LaunchTarget::Megatron);
        QVERIFY2(script.find("#   0 to 1: west\n#   2 to 3: east\n") != std::string::npos, script.c_str());
        const std::string batch = scriptOf(plan, LaunchTarget::Slurm);
        QVERIFY(batch.find("#   HOSTS_1: 2 hosts of west\n") != std::string::npos);
        QVERIFY(batch.find("--distribution=arbitrary") != std::string::npos);
        if (!hasBash())
            return;
        qputenv("HOSTS_1", "w1 w2");
        qputenv("HOSTS_2", "e1 e2");
        const QStringList words = argumentsOf(batch);
        QCOMPARE(words.value(words.indexOf(QStringLiteral("--master-addr")) + 1), QStringLiteral("w1"));
        QCOMPARE(words.value(words.indexOf(QStringLiteral("--nnodes")) + 1), QStringLiteral("4"));
    }
};

TRAINYARD_GUILESS_TEST(TestLaunchFlags)
#include "tst_launch_flags.moc"

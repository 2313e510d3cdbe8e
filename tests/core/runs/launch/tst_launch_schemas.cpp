// SPDX-License-Identifier: GPL-3.0-or-later
// DeepSpeed's JSON, overrides of Megatron-Bridge's recipes, jobs of Kubernetes and tasks of SkyPilot: every key is one
// of the named commit and every value of its type; what the format reads otherwise is refused or said.
#include "core/runs/telemetry/readers/settings_tree.h"
#include "tests/core/runs/launch/launch_schema.h"
#include "tests/core/runs/launch/launch_trial.h"
#include "tests/support/test_program.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <random>
#include <set>

using namespace trainyard;

namespace {

using Values = std::vector<std::pair<QString, QString>>;

Plan dense()
{
    Plan plan;
    plan.name = "it's \"a\" $(plan) `id`\nin two lines: #1";
    plan.cluster.datacenters = { { .id = "here",
        .name = "O'Hare\n$(touch bad)",
        .pools = { { .id = "p", .gpu = "h100-sxm-80gb", .nodes = 2, .host = Host { 4096, 25, {} } } } } };
    plan.workload.model = "llama-3-8b";
    plan.workload.sequenceLength = 2048;
    plan.workload.globalBatch = 64;
    plan.parallelism = { .tensor = 2, .pipeline = 1, .data = 8, .zeroStage = 1 };
    return plan;
}

Plan sparse()
{
    Plan plan = dense();
    plan.workload.model = "qwen3-30b-a3b";
    plan.parallelism = { .tensor = 1, .pipeline = 1, .data = 16, .expert = 8, .zeroStage = 1 };
    return plan;
}

/// Stages in two datacenters.
Plan apart()
{
    Plan plan = dense();
    plan.cluster.datacenters.push_back(plan.cluster.datacenters.front());
    plan.cluster.datacenters[1].id = "there", plan.cluster.datacenters[1].pools[0].id = "q";
    plan.cluster.wanLinks = { { .between = { "here", "there" }, .rttMs = 60 } };
    plan.parallelism = { .tensor = 4, .pipeline = 2, .data = 4 };
    plan.placement.mode = PlacementMode::PipelineAcross;
    plan.placement.stages = { { "here", 1, {} }, { "there", 1, {} } };
    return plan;
}

/// What changes a plan by one choice of each switch, as somebody would.
Plan changed(Plan plan, std::mt19937 &random)
{
    const auto one = [&](auto... of) {
        const std::array values { of... };
        return values[random() % values.size()];
    };
    const bool isSparse = plan.workload.model != "llama-3-8b";
    plan.parallelism.zeroStage = one(0, 1, 2, 3);
    if (!isSparse) {
        plan.parallelism.pipeline = one(1, 1, 2);
        plan.parallelism.data = 8 / plan.parallelism.pipeline;
        if (plan.parallelism.pipeline > 1 && random() % 2) {
            plan.schedule = ScheduleKind::Interleaved;
            plan.parallelism.virtualPipeline = 2;
        }
    } else {
        plan.moe.dispatch = one(MoeDispatch::Flat, MoeDispatch::Dedup, MoeDispatch::AllGather);
        plan.moe.imbalance = one(1.0, 1.3);
        if (random() % 3 == 0)
            plan.moe.capacityFactor = 1.25;
    }
    plan.workload.precision = one(Precision::Bf16, Precision::Fp16, Precision::Fp8, Precision::Fp32);
    plan.workload.optimizer = one(Optimizer::Adam, Optimizer::Adam, Optimizer::Sgd, Optimizer::Lion);
    plan.memory.recompute = one(Recompute::None, Recompute::Selective, Recompute::Full);
    plan.memory.optimizerOffload =
        one(OptimizerOffload::None, OptimizerOffload::None, OptimizerOffload::Host, OptimizerOffload::Ssd);
    if (plan.parallelism.zeroStage == 3)
        plan.memory.parameterOffload = one(ParameterOffload::None, ParameterOffload::Host);
    if (random() % 2)
        plan.workload.trainingTokens = 1e12;
    plan.stack.name = one("megatron-core", "fsdp");
    return plan;
}

ExpectedAll<LaunchFile> exported(const Plan &plan, LaunchTarget target)
{
    const auto evaluation = trial::evaluated(plan);
    if (!evaluation)
        return std::unexpected(evaluation.error());
    return launchFile(**evaluation, target);
}

bool isRefused(const Plan &plan, LaunchTarget target, std::string_view key)
{
    const auto file = exported(plan, target);
    return !file && std::ranges::any_of(file.error(), [&](const Error &error) {
        return error.where == key && !error.what.empty() && !error.right.empty();
    });
}

bool isSaid(const LaunchFile &file, std::string_view part)
{
    return std::ranges::any_of(file.notes, [&](const std::string &note) { return note.find(part) != note.npos; });
}

void addJson(Values &values, const QString &path, const QJsonValue &value)
{
    if (value.isObject()) {
        const QJsonObject object = value.toObject();
        for (auto at = object.begin(); at != object.end(); ++at)
            addJson(values, path.isEmpty() ? at.key() : path + u'.' + at.key(), at.value());
    } else {
        values.emplace_back(path,
            value.isString()     ? value.toString()
                : value.isBool() ? (value.toBool() ? QStringLiteral("true") : QStringLiteral("false"))
                                 : QString::number(value.toDouble(), 'g', 15));
    }
}

/// Overrides and options behind run_recipe.py, as a shell hands them over: one word a line, no word has blanks.
Values overridesOf(const std::string &script)
{
    QString own = QString::fromStdString(script.substr(script.find("run_recipe.py")));
    own.remove(u'\'').remove(u'\\').replace(QStringLiteral("\"$1\""), QStringLiteral("50"));
    QStringList words = own.split(QRegularExpression(QStringLiteral("\\s+")), Qt::SkipEmptyParts).mid(1);
    Values values;
    for (qsizetype i = 0; i < words.size(); ++i) {
        if (words[i].startsWith(u"--")) {
            values.emplace_back(words[i], words.value(i + 1));
            ++i;
        } else {
            QString value = words[i].section(u'=', 1);
            values.emplace_back(words[i].section(u'=', 0, 0), value.remove(u'"'));
        }
    }
    return values;
}

Values yamlOf(const std::string &text)
{
    const auto tree = readers::yamlSettings(text);
    if (!tree || tree->cutAt != 0)
        qFatal("no YAML: %s", text.c_str());
    Values values;
    readers::walkSettings(tree->root, [&](const std::string &path, const readers::SettingsNode &node) {
        values.emplace_back(QString::fromStdString(path), QString::fromStdString(node.value()));
    });
    return values;
}

QString valueAt(const Values &values, const char *path)
{
    const auto at = std::ranges::find(values, QString::fromUtf8(path), &Values::value_type::first);
    return at == values.end() ? QString() : at->second;
}

constexpr std::array kYaml { std::pair(LaunchTarget::TrainJob, "trainjob_fields.txt"),
    std::pair(LaunchTarget::JobSet, "jobset_fields.txt"), std::pair(LaunchTarget::SkyPilot, "skypilot_fields.txt") };

} // namespace

class TestLaunchSchemas : public QObject {
    Q_OBJECT
private slots:
    void everyKeyIsOneOfTheNamedCommit()
    {
        const auto deepSpeed = trial::fieldsOf("deepspeed_keys.txt"), bridge = trial::fieldsOf("bridge_fields.txt");
        std::mt19937 random(8);
        std::array<int, 5> written {};
        std::set<QString> seen;
        for (int trial = 0; trial < 250; ++trial) {
            const Plan plan = changed(trial % 3 ? dense() : sparse(), random);
            const auto evaluation = trial::evaluated(plan);
            if (!evaluation)
                continue;
            if (const auto file = launchFile(**evaluation, LaunchTarget::DeepSpeed)) {
                ++written[0];
                QVERIFY(file->areNotesApart && !file->notes.empty());
                QJsonParseError fault;
                const QJsonDocument json = QJsonDocument::fromJson(QByteArray::fromStdString(file->text), &fault);
                QVERIFY2(fault.error == QJsonParseError::NoError, file->text.c_str());
                Values values;
                addJson(values, {}, json.object());
                const QString wrong = trial::notTaken(deepSpeed, values);
                QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
                // config.py: _batch_assertion
                QCOMPARE(valueAt(values, "train_batch_size").toLongLong(),
                    valueAt(values, "train_micro_batch_size_per_gpu").toLongLong()
                        * valueAt(values, "gradient_accumulation_steps").toLongLong() * (*evaluation)->layout.data);
            }
            if (const auto file = launchFile(**evaluation, LaunchTarget::MegatronBridge)) {
                ++written[1];
                const Values values = overridesOf(file->text);
                const QString wrong = trial::notTaken(bridge, values);
                QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
                std::set<QString> once;
                for (const auto &[key, value] : values) {
                    QVERIFY2(once.insert(key).second, qPrintable(key + QStringLiteral(" is told twice")));
                    seen.insert(key);
                }
            }
            for (std::size_t i = 0; i < kYaml.size(); ++i)
                if (const auto file = launchFile(**evaluation, kYaml[i].first)) {
                    ++written[i + 2];
                    const QString wrong = trial::notTaken(trial::fieldsOf(kYaml[i].second), yamlOf(file->text));
                    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
                }
        }
        qInfo("written: DeepSpeed %d, Megatron-Bridge %d, TrainJob %d, JobSet %d, SkyPilot %d", written[0], written[1],
            written[2], written[3], written[4]);
        for (const int count : written)
            QVERIFY(count >= 20);
        for (const char *key : { "model.recompute_modules", "optimizer.optimizer_cpu_offload", "model.mtp_num_layers",
                 "model.moe_router_force_load_balancing", "ddp.data_parallel_sharding_strategy", "mixed_precision" })
            QVERIFY2(seen.contains(QString::fromUtf8(key)), key);
    }

    void deepSpeedsJsonIsReadAsThePlan()
    {
        std::mt19937 random(9);
        int read = 0;
        for (int trial = 0; trial < 120; ++trial) {
            const Plan plan = changed(trial % 3 ? dense() : sparse(), random);
            const auto evaluation = trial::evaluated(plan);
            if (!evaluation)
                continue;
            const auto file = launchFile(**evaluation, LaunchTarget::DeepSpeed);
            if (!file)
                continue;
            ++read;
            Plan base = plan; // has otherwise all that the JSON tells
            base.workload.globalBatch = 77, base.workload.microBatch = 7;
            base.workload.precision = Precision::Fp8, base.workload.optimizer = Optimizer::Adafactor;
            base.parallelism.zeroStage = plan.parallelism.zeroStage == 2 ? 0 : 2;
            base.memory.optimizerOffload = OptimizerOffload::Interleaved;
            base.memory.parameterOffload = ParameterOffload::Ssd;
            const auto back = trial::readBack(file->text, base);
            QVERIFY2(back, back ? "" : toString(back.error().front()).c_str());
            QCOMPARE(back->plan.stack.name, std::string("deepspeed"));
            QVERIFY2(
                back->notUnderstood.empty(), back->notUnderstood.empty() ? "" : back->notUnderstood.front().c_str());
            Plan divided = back->plan; // where the plan leaves replicas to the machines, so does what is read
            divided.parallelism.data = divided.parallelism.data.value_or((*evaluation)->layout.data);
            const auto keys = trial::differences(plan, divided, (*evaluation)->layout.data, 0);
            QVERIFY2(keys.empty(), keys.empty() ? "" : (keys.front() + "\n" + file->text).c_str());
        }
        QVERIFY(read >= 20);
    }

    void deepSpeedIsToldWhatItWouldReadOtherwise()
    {
        const LaunchTarget target = LaunchTarget::DeepSpeed;
        Plan plan = dense();
        plan.parallelism = { .tensor = 1, .pipeline = 2, .data = 8, .zeroStage = 2 };
        QVERIFY(isRefused(plan, target, "parallelism.zero_stage")); // runtime/pipe/engine.py:77
        plan = dense();
        plan.memory.optimizerOffload = OptimizerOffload::Ssd; // stage 1: kept in host memory
        QVERIFY(isRefused(plan, target, "memory.optimizer_offload"));
        plan = dense();
        plan.memory.parameterOffload = ParameterOffload::Host;
        QVERIFY(isRefused(plan, target, "memory.parameter_offload"));
        plan = dense();
        plan.workload.precision = Precision::Fp8;
        QVERIFY(isRefused(plan, target, "workload.precision"));
        plan = dense();
        plan.memory.recompute = Recompute::Full;
        const auto file = exported(plan, target);
        QVERIFY(file);
        for (const char *lost : { "workload.model llama-3-8b", "workload.sequence_length 2048", "parallelism.tensor 2",
                 "memory.recompute full" })
            QVERIFY2(isSaid(*file, lost), lost);
    }

    void aRecipeIsOverriddenInAllThatThePlanLeavesOff()
    {
        const auto file = exported(dense(), LaunchTarget::MegatronBridge);
        QVERIFY(file);
        const Values values = overridesOf(file->text);
        QCOMPARE(valueAt(values, "--recipe"), QStringLiteral("llama3_8b_pretrain_config"));
        for (const auto &[key, off] : { std::pair("model.recompute_granularity", "null"),
                 std::pair("model.virtual_pipeline_model_parallel_size", "null"),
                 std::pair("ddp.use_megatron_fsdp", "false"), std::pair("model.cpu_offloading", "false") })
            QCOMPARE(valueAt(values, key), QString::fromUtf8(off));
        // of the model, not of the tokenizer of the recipe
        QCOMPARE(valueAt(values, "model.vocab_size"), QStringLiteral("128256"));
        QCOMPARE(valueAt(values, "tokenizer.use_tokenizer_vocab_size"), QStringLiteral("false"));
        Plan plan = dense();
        plan.workload.model = "opt-13b";
        QVERIFY(isRefused(plan, LaunchTarget::MegatronBridge, "workload.model"));
        plan = dense();
        plan.workload.precision = Precision::Fp32;
        QVERIFY(isRefused(plan, LaunchTarget::MegatronBridge, "workload.precision"));
        plan = dense();
        plan.schedule = ScheduleKind::GPipe;
        QVERIFY(isRefused(plan, LaunchTarget::MegatronBridge, "schedule"));
    }

    void oneKindOfNodesStandsInOnePlace()
    {
        QVERIFY(isRefused(apart(), LaunchTarget::TrainJob, "cluster.datacenters"));
        QVERIFY(isRefused(apart(), LaunchTarget::SkyPilot, "cluster.datacenters"));
        const auto file = exported(apart(), LaunchTarget::JobSet);
        QVERIFY2(file, file ? "" : toString(file.error().front()).c_str());
        const Values values = yamlOf(file->text);
        const QString wrong = trial::notTaken(trial::fieldsOf("jobset_fields.txt"), values);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
        const auto of = [&](int job, const char *path) {
            return valueAt(values, QStringLiteral("spec.replicatedJobs.%1.").arg(job).toUtf8() + path);
        };
        // 16 GPUs a stage: two nodes here, then two there
        QCOMPARE(of(0, "template.spec.completions"), QStringLiteral("2"));
        QCOMPARE(of(0, "template.spec.template.spec.containers.0.env.0.value"), QStringLiteral("0"));
        QCOMPARE(of(1, "template.spec.template.spec.containers.0.env.0.value"), QStringLiteral("2"));
        QCOMPARE(
            of(1, "template.spec.template.spec.nodeSelector.topology.kubernetes.io/region"), QStringLiteral("there"));
        QCOMPARE(of(0, "template.spec.template.spec.containers.0.args"),
            of(1, "template.spec.template.spec.containers.0.args"));
        Plan plan = dense();
        plan.cluster.datacenters[0].pools[0].gpu = "ascend-910b-64gb";
        QVERIFY(isRefused(plan, LaunchTarget::SkyPilot, "cluster.datacenters[0].pools[0].gpu"));
    }

    void connectionsThatThePlanCountsOnAreNcclsSockets()
    {
        const auto setting = [](const std::string &script, const char *name) {
            const std::size_t at = script.find(std::string("export ") + name + "=");
            return at == script.npos ? 0 : std::stoi(script.substr(at + 8 + std::string_view(name).size()));
        };
        QCOMPARE(setting(exported(dense(), LaunchTarget::Megatron)->text, "NCCL_SOCKET_NTHREADS"), 0);
        // of 8 GPUs of a node: the least threads × sockets that open so many; NCCL has 16 threads and 64 sockets
        for (const int connections : { 1, 8, 9, 64, 128, 200, 512 }) {
            Plan plan = apart();
            plan.wan.tcpConnections = connections;
            const auto file = exported(plan, LaunchTarget::Megatron);
            QVERIFY2(file, file ? "" : toString(file.error().front()).c_str());
            const int threads = setting(file->text, "NCCL_SOCKET_NTHREADS"),
                      each = setting(file->text, "NCCL_NSOCKS_PERTHREAD");
            QVERIFY(threads >= 1 && threads <= 16 && threads * each <= 64);
            QVERIFY(threads * each * 8 >= connections);
            QVERIFY(threads * each * 8 < connections + 8 * 4);
            QVERIFY(isSaid(*file, "wan.tcp_connections"));
        }
        Plan plan = apart();
        plan.wan.tcpConnections = 1000; // more than NCCL opens
        const auto file = exported(plan, LaunchTarget::Megatron);
        QCOMPARE(setting(file->text, "NCCL_SOCKET_NTHREADS") * setting(file->text, "NCCL_NSOCKS_PERTHREAD"), 64);
        QVERIFY(isSaid(*file, "as many as NCCL opens"));
        // a plan that computes them
        const auto evaluation = trial::evaluated(apart());
        const int counted = (*evaluation)->metrics.wanLinks.front().tcpConnections;
        QVERIFY(counted > 1);
        const std::string script = launchFile(**evaluation, LaunchTarget::Slurm)->text;
        QVERIFY(setting(script, "NCCL_SOCKET_NTHREADS") * setting(script, "NCCL_NSOCKS_PERTHREAD") * 8 >= counted);
    }

    void mockDataAreRoutedAsThePredictionHasThem()
    {
        const auto text = [](const Plan &plan) { return exported(plan, LaunchTarget::Megatron)->text; };
        const auto has = [](const std::string &script, const char *flag) {
            return script.find(std::string("    ") + flag) != script.npos;
        };
        QVERIFY(!has(text(dense()), "--moe-router-force-load-balancing"));
        QVERIFY(has(text(sparse()), "--moe-router-force-load-balancing"));
        Plan plan = sparse();
        plan.moe.imbalance = 1.4;
        QVERIFY(!has(text(plan), "--moe-router-force-load-balancing"));
        QVERIFY(isSaid(*exported(plan, LaunchTarget::Megatron), "moe.imbalance"));
        // softmax unless the model's own configuration says sigmoid
        QVERIFY(!has(text(sparse()), "--moe-router-score-function"));
        plan = sparse();
        plan.workload.model = "deepseek-v3";
        QVERIFY(has(text(plan), "--moe-router-score-function sigmoid"));
        QVERIFY(has(text(plan), "--moe-router-enable-expert-bias"));
    }
};

TRAINYARD_GUILESS_TEST(TestLaunchSchemas)
#include "tst_launch_schemas.moc"

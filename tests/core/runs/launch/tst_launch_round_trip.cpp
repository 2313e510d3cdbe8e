// SPDX-License-Identifier: GPL-3.0-or-later
// What is exported as a launch is imported as the same training, or is refused with the key and why.
#include "core/facts/plan/plan_io.h"
#include "tests/core/facts/plan/random_plan.h"
#include "tests/core/runs/launch/launch_trial.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"

#include <QDir>
#include <QTest>

using namespace trainyard;

namespace {

constexpr std::array kTargets { LaunchTarget::Megatron, LaunchTarget::Torchtitan, LaunchTarget::Slurm,
    LaunchTarget::MegatronBridge, LaunchTarget::TrainJob, LaunchTarget::JobSet, LaunchTarget::SkyPilot };

/// Plans as somebody would launch them, and some that a framework lacks something for.
class LaunchablePlan {
public:
    explicit LaunchablePlan(unsigned seed)
        : m_random(seed)
    {
    }
    int whole(int low, int high) { return std::uniform_int_distribution(low, high)(m_random); }
    bool rarely() { return whole(0, 9) == 0; }
    template <class T> T one(std::initializer_list<T> of)
    {
        return *(of.begin() + whole(0, static_cast<int>(of.size()) - 1));
    }

    Plan plan()
    {
        Plan plan;
        plan.name = one<std::string>({ "", "it's \"a\" $plan `id`", "two\nlines", "東京" });
        Parallelism &p = plan.parallelism;
        WorkloadSpec &w = plan.workload;
        w.model = one<std::string>({ "llama-3-8b", "llama-3-70b", "llama-3.1-8b", "gpt-3-6.7b", "qwen3-8b",
            "qwen2.5-7b", "opt-13b", "mixtral-8x7b", "deepseek-v3", "qwen3-30b-a3b", "llama-3.2-1b" });
        const ModelSpec model = *builtinCatalogue().model(w.model);
        if (rarely()) {
            w.inlineModel = model;
            w.inlineModel->id.clear();
            w.inlineModel->name = "own 'model'";
            w.inlineModel->ffn += 128;
            w.inlineModel->vocab += 1280;
            w.model.clear();
        }
        p.tensor = one({ 1, 1, 2, 4 });
        p.pipeline = one({ 1, 1, 2, 4 });
        p.context = one({ 1, 1, 1, 2 });
        const int data = one({ 1, 2, 4 });
        if (!rarely())
            p.data = data;
        if (model.isMoe() && whole(0, 2) > 0) {
            p.expert = one({ 1, 2, 4 });
            p.expertTensor = one({ 1, p.tensor });
            plan.moe.dispatch = one({ MoeDispatch::Flat, MoeDispatch::Dedup, MoeDispatch::AllGather });
            if (whole(0, 3) == 0)
                plan.moe.capacityFactor = 1.25;
            if (whole(0, 3) == 0)
                plan.moe.expertOverlap = ExpertOverlap::OneFOneB;
            else
                plan.moe.sharedExpertOverlap = whole(0, 3) == 0;
        }
        p.zeroStage = one({ 0, 1, 1, 2, 3, 3 });
        if (rarely())
            p.sequenceParallel = false;
        plan.schedule = p.pipeline == 1
            ? ScheduleKind::OneFOneB
            : one({ ScheduleKind::OneFOneB, ScheduleKind::OneFOneB, ScheduleKind::Interleaved, ScheduleKind::GPipe,
                ScheduleKind::ZbV, ScheduleKind::BreadthFirst });
        if (plan.schedule == ScheduleKind::Interleaved || plan.schedule == ScheduleKind::BreadthFirst)
            p.virtualPipeline = one({ 2, 2, 4 });
        w.sequenceLength = one({ 1024, 2048 });
        w.microBatch = one({ 1, 2 });
        w.globalBatch = w.microBatch * data * p.pipeline * whole(1, 4) + (rarely() ? w.microBatch : 0);
        w.precision = one({ Precision::Bf16, Precision::Bf16, Precision::Fp16, Precision::Fp32, Precision::Fp8,
            Precision::Mxfp8, Precision::Nvfp4 });
        w.optimizer = rarely() ? one({ Optimizer::Sgd, Optimizer::Lion, Optimizer::Adafactor }) : Optimizer::Adam;
        if (whole(0, 1) == 1)
            w.trainingTokens = double(whole(1, 1000)) * 1e9;
        MemoryStrategy &m = plan.memory;
        m.recompute = one({ Recompute::None, Recompute::Selective, Recompute::Full });
        if (rarely())
            m.recomputeLayers = whole(0, 9);
        m.recomputeNorms = rarely(), m.recomputeActivationFunction = rarely(), m.recomputeUpProjection = rarely();
        m.recomputeSharedExperts = rarely();
        if (whole(0, 4) == 0)
            m.optimizerOffload = one({ OptimizerOffload::Host, OptimizerOffload::Host, OptimizerOffload::Ssd });
        if (whole(0, 5) == 0)
            m.parameterOffload = ParameterOffload::Host;
        if (whole(0, 4) == 0) {
            m.activationOffload = ActivationOffload::Host;
            if (whole(0, 1) == 1)
                m.offloadFraction = one({ 0.25, 0.5, 0.3 });
            if (rarely())
                m.offloadMinElements = 4096;
        }
        plan.stack.name = one<std::string>({ "megatron-core", "fsdp" });
        addCluster(plan, p.tensor * p.pipeline * p.context * data);
        return plan;
    }

private:
    void addCluster(Plan &plan, int gpus)
    {
        const Host host { .memoryGib = 4096, .gbytesPerSecondPerGpu = 25 };
        const int each = gpus >= 8 ? 8 : gpus;
        plan.cluster.datacenters = { { .id = "one",
            .name = "O'Hare \"north\"\nhall",
            .pools = { { .id = "p",
                .gpu = "b200-sxm-180gb",
                .nodes = (gpus + each - 1) / each,
                .gpusPerNode = each,
                .host = host } } } };
        if (plan.parallelism.pipeline > 1 && rarely()) {
            plan.cluster.datacenters.push_back(plan.cluster.datacenters.front());
            plan.cluster.datacenters.back().id = "two";
            plan.cluster.datacenters.back().pools.front().id = "q";
            plan.cluster.wanLinks = { { .between = { "one", "two" }, .rttMs = 20 } };
        }
    }

    std::mt19937 m_random;
};

} // namespace

class TestLaunchRoundTrip : public QObject {
    Q_OBJECT
private slots:
    void everySampleComesBackOrIsRefusedWithTheKey_data()
    {
        QTest::addColumn<QString>("path");
        const QDir folder(QStringLiteral(TRAINYARD_SOURCE_DIR "/samples"));
        for (const QString &name : folder.entryList({ QStringLiteral("*.trainyard.json") }))
            QTest::newRow(qPrintable(name)) << folder.filePath(name);
    }
    void everySampleComesBackOrIsRefusedWithTheKey()
    {
        QFETCH(QString, path);
        const auto plan = readPlan(path.toStdString());
        QVERIFY(plan);
        const auto evaluation = trial::evaluated(*plan);
        QVERIFY2(evaluation, evaluation ? "" : toString(evaluation.error().front()).c_str());
        for (const LaunchTarget target : kTargets) {
            bool isExported = false;
            const std::string wrong = trial::roundTrip(*evaluation, target, isExported);
            QVERIFY2(wrong.empty(), wrong.c_str());
        }
    }

    void samplesOfMegatronsOwnRunsAreExported()
    {
        for (const char *name : { "gpt3-175b-1024-a100", "megatron-1t-3072-a100", "llama-3-70b-three-regions",
                 "llama-3.1-405b-16384-h100" }) {
            const auto plan = readPlan(std::string(TRAINYARD_SOURCE_DIR "/samples/") + name + ".trainyard.json");
            QVERIFY(plan);
            const auto file = launchFile(**trial::evaluated(*plan), LaunchTarget::Megatron);
            QVERIFY2(file, file ? name : (std::string(name) + ": " + toString(file.error().front())).c_str());
        }
    }

    void torchtitanNamesTheKeyThatStandsInTheWayFirst_data()
    {
        QTest::addColumn<QByteArray>("key"); // empty: it is exported
        for (const auto &[name, key] : { std::pair("llama-3.1-405b-16384-h100", ""),
                 std::pair("llama-3-70b-three-regions", ""), std::pair("all-systems-jobs", "jobs"),
                 std::pair("all-systems-three-datacenters", "bubble_fill.enabled"),
                 std::pair("atlas-headline", "profile"), std::pair("atlas-three-datacenters", "profile"),
                 std::pair("cephalo-lab", "workload.model"), std::pair("gpt3-175b-1024-a100", "workload.model"),
                 std::pair("gpt3-offload-a100-40gb", "workload.model"), std::pair("hydra-lab", "job_grid"),
                 std::pair("llama-7b-64-aws", "workload.model"), std::pair("megatron-1t-3072-a100", "workload.model"),
                 std::pair("mixed-lab", "workload.model"), std::pair("moe-2x70b-16-a800", "workload.model"),
                 std::pair("opt-30b-128-a100-384-v100", "workload.model"),
                 std::pair("ssdtrain-bert-2xa100", "workload.model") })
            QTest::newRow(name) << QByteArray(key);
    }
    void torchtitanNamesTheKeyThatStandsInTheWayFirst()
    {
        QFETCH(QByteArray, key);
        const auto plan =
            readPlan(TRAINYARD_SOURCE_DIR "/samples/" + std::string(QTest::currentDataTag()) + ".trainyard.json");
        QVERIFY(plan);
        const auto file = launchFile(**trial::evaluated(*plan), LaunchTarget::Torchtitan);
        if (key.isEmpty()) {
            QVERIFY2(file, file ? "" : toString(file.error().front()).c_str());
            return;
        }
        QVERIFY(!file);
        QCOMPARE(QByteArray::fromStdString(file.error().front().where), key);
        QVERIFY2(!file.error().front().right.empty(), file.error().front().what.c_str());
    }

    void everySampleHasItsRow()
    {
        const QDir folder(QStringLiteral(TRAINYARD_SOURCE_DIR "/samples"));
        QCOMPARE(folder.entryList({ QStringLiteral("*.trainyard.json") }).size(), 16);
    }

    void anyPlanComesBackOrIsRefusedWithTheKey()
    {
        int evaluatedPlans = 0;
        for (unsigned seed = 0; evaluatedPlans < test::trials(60); ++seed) {
            QVERIFY(seed < 1000000);
            const auto evaluation = trial::evaluated(test::RandomPlan(seed).plan());
            if (!evaluation)
                continue; // is no plan that can be launched: names that nothing defines
            ++evaluatedPlans;
            for (const LaunchTarget target : kTargets) {
                bool isExported = false;
                const std::string wrong = trial::roundTrip(*evaluation, target, isExported);
                QVERIFY2(wrong.empty(),
                    qPrintable(QStringLiteral("seed %1: %2").arg(seed).arg(QString::fromStdString(wrong))));
            }
        }
    }

    void plansAsTheyAreLaunchedComeBackOrAreRefusedWithTheKey()
    {
        std::array<int, kTargets.size()> exported {};
        int evaluatedPlans = 0;
        for (unsigned seed = 0; evaluatedPlans < test::trials(200); ++seed) {
            QVERIFY(seed < 1000000);
            const auto evaluation = trial::evaluated(LaunchablePlan(seed).plan());
            if (!evaluation)
                continue; // contradicts itself: more experts' ranks than there are
            ++evaluatedPlans;
            for (std::size_t i = 0; i < kTargets.size(); ++i) {
                bool isExported = false;
                const std::string wrong = trial::roundTrip(*evaluation, kTargets[i], isExported);
                QVERIFY2(wrong.empty(),
                    qPrintable(QStringLiteral("seed %1: %2").arg(seed).arg(QString::fromStdString(wrong))));
                exported[i] += isExported ? 1 : 0;
            }
        }
        qInfo("exported of %d: Megatron-LM %d, torchtitan %d, Slurm %d, Megatron-Bridge %d, TrainJob %d, JobSet %d, "
              "SkyPilot %d",
            evaluatedPlans, exported[0], exported[1], exported[2], exported[3], exported[4], exported[5], exported[6]);
        QVERIFY(exported[0] >= evaluatedPlans / 10);
        QVERIFY(exported[1] >= evaluatedPlans / 40);
        for (std::size_t i = 2; i < kTargets.size(); ++i)
            QVERIFY(exported[i] >= evaluatedPlans / 20);
    }
};

TRAINYARD_GUILESS_TEST(TestLaunchRoundTrip)
#include "tst_launch_round_trip.moc"

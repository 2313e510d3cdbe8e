// SPDX-License-Identifier: GPL-3.0-or-later
// Machines, prices and benchmarks of a recording in a plan: GPUs by what drivers and clouds call them, nodes by their
// topologies, links by what was measured; and the table of Megatron's arguments, which export uses the other way.
#include "core/facts/catalogue/nvlinks.h"
#include "core/facts/plan/plan_io.h"
#include "core/runs/imports/megatron_arguments.h"
#include "tests/core/runs/imports/import_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <set>

using namespace trainyard;
using namespace trainyard::trial;

class TestImportedCluster : public QObject {
    Q_OBJECT

private slots:
    /// No argument tells where GPUs stand: a base of two places with as many stays, one with another number does not.
    void placesOfAPlanStayWhereTheRunHasAsManyGpus()
    {
        Plan base = basePlan();
        Datacenter other = base.cluster.datacenters.front();
        other.id = "there";
        other.pools.front().id = "q";
        other.pools.front().gpu = "a100-sxm-80gb";
        base.cluster.datacenters.push_back(other);
        base.cluster.wanLinks.push_back({ .between = { "here", "there" }, .rttMs = 10 });
        QCOMPARE(base.cluster.gpus(), 32);
        const auto of = [&](const char *world) {
            return imported(
                told(with(kLlama, { { "tensor_model_parallel_size", "8" }, { "world_size", world } })), base);
        };
        const ImportedPlan same = of("32");
        QVERIFY(same.plan.cluster == base.cluster);
        QVERIFY(says(same.assumed, "Where the 32 GPUs stand, and which they are, is told by no source"));
        const ImportedPlan more = of("64");
        QCOMPARE(more.plan.cluster.datacenters.size(), std::size_t(1));
        QCOMPARE(more.plan.cluster.gpus(), 64);
    }

    void nodesNicsAndPricesBecomeACluster()
    {
        Recording recording = told({});
        recording.sources.push_back({ .file = "topo.txt", .kind = SourceKind::SmiTopology });
        recording.sources.push_back({ .file = "topology.conf", .kind = SourceKind::SlurmTopology });
        recording.nodes.push_back({ .count = 1,
            .gpu = "NVIDIA H200",
            .gpus = 8,
            .nics = 8,
            .nicBytesPerSecond = 50e9,
            .hostMemoryBytes = 2048.0 * (1 << 30),
            .source = 1 });
        recording.nodes.push_back({ .names = { "a", "b", "c", "d" }, .count = 4, .source = 2 });
        recording.prices.push_back({ .instance = "x8", .gpu = "H200", .region = "east", .gpus = 8, .usdPerHour = 28 });
        recording.prices.push_back({ .instance = "x1", .gpu = "H200", .region = "west", .gpus = 1, .usdPerHour = 3 });
        const ImportedPlan made = imported(recording);
        const Datacenter &one = made.plan.cluster.datacenters.at(0);
        QCOMPARE(one.pools.size(), std::size_t(1));
        QCOMPARE(one.pools[0].nodes, 4);
        QCOMPARE(one.pools[0].gpu, std::string("h200-sxm-141gb"));
        QCOMPARE(one.fabricGbpsPerGpu.value_or(0), 400.0); // 8 NICs · 400 Gb/s / 8 GPUs
        QCOMPARE(one.pools[0].usdPerGpuHour.value_or(0), 3.5); // 28 / 8: of whole nodes
        QCOMPARE(one.pools[0].host->memoryGib, 2048.0);
        QVERIFY(evaluated(made.plan) > 0);
    }

    /// A topology is of one machine; the script says on how many of them the job runs.
    void aTopologyDescribesANodeAndTheScriptCountsThem()
    {
        for (const SourceKind kind : { SourceKind::SmiTopology, SourceKind::NcclTopology }) {
            const auto of = [&](const char *nodes, const char *processes, int gpus) {
                Recording recording = told(with(kLlama,
                    { { "nnodes", nodes }, { "nproc_per_node", processes }, { "tensor_model_parallel_size", "4" },
                        { "global_batch_size", "64" }, { "bf16", "True" } }));
                recording.sources.push_back({ .file = "topo", .kind = kind });
                recording.nodes.push_back({ .count = 1,
                    .gpu = "NVIDIA H200",
                    .gpus = gpus,
                    .nics = 8,
                    .nicBytesPerSecond = 50e9,
                    .source = 1 });
                return imported(recording);
            };
            const ImportedPlan made = of("4", "8", 8);
            const Pool pool = made.plan.cluster.datacenters.at(0).pools.at(0);
            QCOMPARE(pool.nodes, 4);
            QCOMPARE(pool.gpusPerNode, 8);
            QCOMPARE(pool.gpu, std::string("h200-sxm-141gb"));
            QCOMPARE(made.plan.parallelism.data.value_or(0), 8);
            QVERIFY(says(made.taken, "pools[].nodes 4") && made.plan.notUnderstood.empty());
            QVERIFY(says(made.assumed, "All 4 nodes are taken to be like that of topo"));
            // half of the GPUs of each node
            const Pool half = of("4", "4", 8).plan.cluster.datacenters.at(0).pools.at(0);
            QVERIFY(half.nodes == 4 && half.gpusPerNode == 4);
            // more processes than GPUs: a problem of the plan
            const ImportedPlan more = of("4", "8", 4);
            QCOMPARE(more.plan.cluster.gpus(), 32);
            QCOMPARE(more.plan.notUnderstood.size(), std::size_t(1));
            QVERIFY(more.plan.notUnderstood[0].text.find("with 4 GPUs") != std::string::npos);
        }
    }

    void aListOfTooFewNodesIsAProblemOfThePlan()
    {
        Recording recording =
            told(with(kLlama, { { "nnodes", "4" }, { "nproc_per_node", "8" }, { "tensor_model_parallel_size", "4" } }));
        recording.sources.push_back({ .file = "nodes.txt", .kind = SourceKind::SlurmNodes });
        recording.nodes.push_back({ .names = { "a", "b" }, .count = 2, .gpu = "h100", .gpus = 8, .source = 1 });
        const auto made = planFrom(recording, builtinCatalogue(), basePlan());
        QVERIFY(made);
        QVERIFY(made->plan.notUnderstood.size() == 1
            && made->plan.notUnderstood[0].text.find("nodes.txt lists 16") != std::string::npos);
    }

    void aCapabilityThatIsNotTheGpusIsAsked()
    {
        QCOMPARE(computeCapability("NVIDIA H100 SXM 80 GB"), 90);
        QCOMPARE(computeCapability("NVIDIA A10G 24 GB"), 86);
        QCOMPARE(computeCapability("AMD Instinct MI300X"), 0);
        for (const GpuSpec &gpu : builtinCatalogue().gpus)
            QVERIFY2(gpu.vendor != "NVIDIA" || computeCapability(gpu.name) > 0, gpu.name.c_str());
        Recording topology = told({}, SourceKind::NcclTopology);
        topology.nodes.push_back({ .count = 1, .gpu = "sm_90", .gpus = 8, .source = 0 });
        QVERIFY(imported(topology).plan.notUnderstood.empty());
        Plan base = basePlan();
        base.cluster.datacenters[0].pools[0].gpu = "a10g-24gb";
        const ImportedPlan made = imported(topology, base);
        QCOMPARE(made.plan.notUnderstood.size(), std::size_t(1));
        const std::string said = made.plan.notUnderstood[0].key + " " + made.plan.notUnderstood[0].text;
        for (const char *part : { "9.0", "A10G", "8.6", "H100" })
            QVERIFY2(said.find(part) != std::string::npos, said.c_str());
    }

    /// Whoever has no plan yet is told what lacks in words of the files, not of a plan's keys.
    void whatTellsNoGpusIsRefusedWithARemedy()
    {
        const std::string model = errorOf(told(kLlama), Plan {});
        QVERIFY2(model.find("run.sh: it does not tell on how many GPUs") != std::string::npos, model.c_str());
        QVERIFY2(model.find("--base PLAN") != std::string::npos, model.c_str());
        Recording host = told({}, SourceKind::Hwloc);
        host.nodes.push_back({ .count = 1, .hostMemoryBytes = 1e11, .source = 0 });
        const std::string none = errorOf(host, Plan {});
        QVERIFY2(none.find("it lists no GPU") != std::string::npos, none.c_str());
        QVERIFY(says(imported(host).ignored, "it lists no GPU"));
    }

    /// What a line says to be from a file is from it; what was assumed has a line of its own.
    void assumedGpusAreNotOfASource()
    {
        Recording list = told({}, SourceKind::SlurmTopology);
        list.nodes.push_back({ .names = { "a", "b" }, .count = 2, .source = 0 });
        const ImportedPlan made = imported(list, Plan {});
        QVERIFY(says(made.taken, "pools[].nodes 2 from run.sh"));
        QVERIFY(!says(made.taken, "GPUs"));
        QVERIFY(says(made.assumed, "How many GPUs a node has is not told by run.sh: 8"));
        QVERIFY(says(made.assumed, "H100 SXM 80 GB is assumed"));
        QVERIFY(!says(made.assumed, "as in the plan"));
        QVERIFY(says(imported(list).assumed, "as in the plan"));
    }

    void speedsThatNoKeyTakesAreListedAsLeftOut()
    {
        Recording fabric = told({}, SourceKind::IbNetDiscover);
        fabric.nodes.push_back({ .names = { "a" }, .count = 1, .nics = 1, .nicBytesPerSecond = 1e9, .source = 0 });
        fabric.switches.push_back({ .name = "s", .below = { "a" }, .linkBytesPerSecond = 1e9, .source = 0 });
        fabric.switches.push_back({ .name = "t", .below = { "s" }, .linkBytesPerSecond = 0.25e9, .source = 0 });
        const ImportedPlan made = imported(fabric);
        QVERIFY(says(made.ignored, "NICs of 8.00 Gbit/s (run.sh)"));
        QVERIFY(says(made.ignored, "Links of switches at 2.00 to 8.00 Gbit/s (run.sh)"));
    }

    void aNumberOfAGpuIsNoType()
    {
        Recording log = told({ { "world_size", "8" } });
        log.ranks.push_back({ .rank = 6, .gpu = "gpu6" });
        QVERIFY(!says(imported(log).assumed, "gpu6"));
    }

    void namesOfGpusAreMatched_data()
    {
        QTest::addColumn<QString>("id");
        QTest::addColumn<bool>("isSure");
        QTest::newRow("NVIDIA H100 80GB HBM3") << "h100-sxm-80gb" << true;
        QTest::newRow("NVIDIA H100 PCIe") << "h100-pcie-80gb" << true;
        QTest::newRow("NVIDIA A100-SXM4-80GB") << "a100-sxm-80gb" << true;
        QTest::newRow("NVIDIA A100-PCIE-40GB") << "a100-pcie-40gb" << true;
        QTest::newRow("A100-80GB") << "a100-sxm-80gb" << false;
        QTest::newRow("Tesla V100-SXM2-32GB") << "v100-sxm-32gb" << true;
        QTest::newRow("Tesla T4") << "t4-16gb" << true;
        QTest::newRow("NVIDIA L40S") << "l40s-48gb" << true;
        QTest::newRow("NVIDIA GeForce RTX 4090") << "rtx-4090-24gb" << true;
        QTest::newRow("RTX4090") << "rtx-4090-24gb" << true;
        QTest::newRow("NVIDIA GB200") << "gb200-186gb" << true;
        QTest::newRow("NVIDIA B200") << "b200-sxm-180gb" << true;
        QTest::newRow("AMD Instinct MI300X") << "mi300x-192gb" << true;
        QTest::newRow("gfx942:sramecc+:xnack-") << "mi300x-192gb" << true; // asked by a doubt
        QTest::newRow("NVIDIA A10G") << "a10g-24gb" << true;
        QTest::newRow("h100") << "h100-sxm-80gb" << false;
        QTest::newRow("L40") << "" << false;
        QTest::newRow("Tesla K80") << "" << false;
    }

    void namesOfGpusAreMatched()
    {
        QFETCH(QString, id);
        QFETCH(bool, isSure);
        Recording recording = told({ { "world_size", "8" } });
        recording.ranks.push_back({ .rank = 0, .source = 0, .gpu = QTest::currentDataTag() });
        Plan base = basePlan();
        base.cluster.datacenters[0].pools[0].gpu = "p40-24gb";
        const ImportedPlan made = imported(recording, base);
        QCOMPARE(
            made.plan.cluster.datacenters[0].pools[0].gpu, id.isEmpty() ? std::string("p40-24gb") : id.toStdString());
        QCOMPARE(!says(made.assumed, "does not tell form and memory") && !id.isEmpty(), isSure);
        QCOMPARE(says(made.assumed, "The catalogue has no GPU called"), id.isEmpty());
        // what is counted in another's place is a problem of the plan
        const bool isOfChip = QLatin1String(QTest::currentDataTag()).startsWith(QLatin1String("gfx"));
        QCOMPARE(!made.plan.notUnderstood.empty(), id.isEmpty() || isOfChip);
        if (isOfChip)
            QVERIFY(made.plan.notUnderstood.front().text.find("MI300X, MI300A or MI325X") != std::string::npos);
    }

    void benchmarksBecomeFiguresOfLinksAndDrives()
    {
        Recording recording = told({});
        recording.benchmarks.push_back(
            { .what = "tcp", .streams = 4, .seconds = 10, .bytesPerSecond = 1.25e9, .rttSeconds = 0.06 });
        recording.benchmarks.push_back(
            { .what = "all_reduce", .ranks = 16, .nodes = 2, .bytes = 1e9, .busBytesPerSecond = 320e9 });
        recording.benchmarks.push_back(
            { .what = "all_reduce", .ranks = 16, .nodes = 2, .bytes = 1e3, .busBytesPerSecond = 999e9 });
        recording.benchmarks.push_back({ .what = "write", .bytesPerSecond = 6e9 });
        Plan base = basePlan();
        base.cluster.datacenters.push_back(
            { .id = "there", .pools = { { .id = "q", .gpu = "h100-sxm-80gb", .nodes = 2 } } });
        base.cluster.wanLinks.push_back({ .between = { "here", "there" }, .rttMs = 5 });
        const ImportedPlan made = imported(recording, base);
        QCOMPARE(made.plan.cluster.wanLinks[0].nodePairGbps, 10.0);
        QCOMPARE(made.plan.cluster.wanLinks[0].rttMs, 60.0);
        QCOMPARE(made.plan.cluster.datacenters[0].fabricMeasuredGBps.value_or(0), 40.0); // 320 / 8 GPUs a node
        QCOMPARE(made.plan.cluster.datacenters[0].pools[0].ssd->writeGBps, 6.0);
        QVERIFY(says(made.assumed, "Drives are taken to read as fast as they write"));
        base.cluster.wanLinks.clear();
        QVERIFY(says(imported(recording, base).ignored, "TCP throughput"));
    }

    void aProbeTellsWhatAMachineIsLikeAndNotHowManyRan()
    {
        Recording probe = told({}, SourceKind::Probe);
        probe.nodes.push_back({ .count = 1,
            .gpu = "Some Accelerator",
            .gpus = 8,
            .source = 0,
            .gpuMemoryBytes = 64e9,
            .gpuProcessors = 100 });
        const auto add = [&](KernelPoint point, double seconds) {
            point.gpu = "Some Accelerator";
            point.leastSeconds = point.seconds = seconds;
            point.source = 0;
            probe.kernels.push_back(point);
        };
        // 2 · 8192³ / 4 ms = 275 TFLOP/s; 2 GB / 1 ms = 2,000 GB/s
        add({ .what = "gemm", .precision = "bf16", .m = 8192, .n = 8192, .k = 8192 }, 4e-3);
        add({ .what = "memory", .precision = "fp32", .bytes = 2e9 }, 1e-3);
        const ImportedPlan machine = imported(probe);
        const Pool &pool = machine.plan.cluster.datacenters.at(0).pools.at(0);
        QVERIFY(pool.inlineGpu.has_value());
        QVERIFY(std::abs(pool.inlineGpu->peakFlops(Precision::Bf16) / (2 * 8192.0 * 8192 * 8192 / 4e-3) - 1) < 1e-9);
        QCOMPARE(pool.inlineGpu->memoryGBps, 2000.0);
        QCOMPARE(pool.inlineGpu->memoryBytes, std::int64_t(64'000'000'000));
        QCOMPARE(pool.nodes, 1);
        QCOMPARE(pool.gpusPerNode, 8);
        QVERIFY(evaluated(machine.plan) > 0);
        // The file gives the plan back, its GPU too.
        const auto again = parsePlan(formatPlan(machine.plan), "again");
        QVERIFY(again.has_value());
        QCOMPARE(again->cluster.datacenters[0].pools[0].inlineGpu->peakTflops, pool.inlineGpu->peakTflops);

        // The run's own world goes before the machine that was probed.
        const Recording run = told({ { "world_size", "64" } });
        const ImportedPlan both = imported(mergeRecordings({ run, probe }));
        QCOMPARE(both.plan.cluster.gpus(), 64);
        // A GPU of the catalogue keeps its data sheet.
        probe.nodes[0].gpu = "NVIDIA H200";
        QCOMPARE(imported(probe).plan.cluster.datacenters.at(0).pools.at(0).gpu, std::string("h200-sxm-141gb"));
    }

    void aPlanGivesItsArgumentsBack()
    {
        // put(get(plan)) is the plan, whatever the key
        Plan plan = basePlan();
        plan.parallelism.tensor = 4;
        plan.moe.capacityFactor = 1.25;
        plan.moe.expertOverlap = ExpertOverlap::OneFOneB;
        plan.memory.recompute = Recompute::Full;
        Plan other = plan;
        std::set<std::string> names;
        for (const MegatronArgument &one : megatronArguments()) {
            QVERIFY(names.insert(one.name).second);
            QCOMPARE(one.get == nullptr, one.how == ArgumentHow::Rule);
            QCOMPARE(one.put == nullptr, one.how == ArgumentHow::Rule);
            if (one.put)
                one.put(other, one.get(plan));
            const auto set = withKeySet(plan, one.key, "null"); // every key is one of the plan
            QVERIFY2(set || set.error().front().code != ErrorCode::UnknownKey, one.key);
        }
        other.parallelism.sequenceParallel = plan.parallelism.sequenceParallel;
        QVERIFY(other == plan);
        QCOMPARE(flagOf("seq_length"), std::string("--seq-length"));
    }
};

TRAINYARD_APPLESS_TEST(TestImportedCluster)
#include "tst_imported_cluster.moc"

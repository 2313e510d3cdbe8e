// SPDX-License-Identifier: GPL-3.0-or-later
// What recordings give as their tools wrote them: links of a trace of all ranks, one factor of a log, links and drives
// of benchmarks; and what they do not tell is told. Of a job and files of ours, whose links are known, and of real ones
// where they are.
#include "core/runs/calibrate/calibrate.h"
#include "core/runs/telemetry/read_sources.h"
#include "tests/core/runs/overlay/small_runs.h"
#include "tests/core/runs/telemetry/kineto_job.h"
#include "tests/support/own_inputs.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace trainyard;
using namespace trainyard::test;

namespace {

Plan lab(const std::string &gpu, int nodes, const std::string &model = "gpt-3-6.7b")
{
    Plan plan;
    plan.cluster.datacenters = { site("lab", nodes, gpu, 8) };
    plan.workload.model = model;
    plan.workload.globalBatch = 16;
    plan.parallelism.tensor = 8;
    plan.parallelism.data = nodes;
    return plan;
}

std::optional<CalibrationProposal> taught(const Plan &plan, const std::string &path, std::string *why = nullptr)
{
    auto recording = readSources({ path }, {}, 2);
    if (!recording)
        return std::nullopt;
    const auto proposal = calibrate(*evaluated(plan), *makeRun(*std::move(recording)), builtinCatalogue());
    if (!proposal && why)
        *why = toString(proposal.error());
    return proposal ? std::optional(*proposal) : std::nullopt;
}

const FittedFactor *factorOf(const CalibrationProposal &proposal, const std::string &id)
{
    const auto found = std::ranges::find(proposal.factors, id, &FittedFactor::id);
    return found == proposal.factors.end() ? nullptr : &*found;
}

} // namespace

class CalibrateRealTest : public QObject {
    Q_OBJECT
private slots:
    /// Our own: all-reduces of 64 MiB in 600 µs and of 32 KiB in 40: by the line through both, 1.75 times the bytes
    /// over the time. Megatron's: 81 of 64 MiB and 3 of 32 KiB over the NVLink of 8 A100: a bus bandwidth between 150
    /// and 270 GB/s, as nccl-tests measure of such nodes, and a latency of tens of microseconds. One step tells no step
    /// error.
    void eightRanksOfMegatronTellTheirNvlink()
    {
        testing::KinetoJob job { .ranks = 8, .layers = 40 };
        job.exchanges = { {}, {}, {}, { .elements = 16'384, .microseconds = 40 } };
        const QTemporaryDir folder;
        testing::writeKineto(job, folder.path().toStdString());
        const auto own = taught(lab("a100-sxm-80gb", 1), folder.path().toStdString());
        QVERIFY(own);
        const FittedFactor *link = factorOf(*own, "nvlink-a100-sxm-80gb");
        QVERIFY(link && link->refused.empty());
        const double reached = 1.75 * (67'108'864 - 32'768) / (600 - 40) * 1e-3; // GB/s
        QVERIFY2(std::abs(*link->factor.gbytesPerS / reached - 1) < 0.005,
            qPrintable(QString::number(*link->factor.gbytesPerS)));
        QVERIFY(*link->factor.latencyUs > 5 && *link->factor.latencyUs < 40);
        QVERIFY(link->residual < 1e-6 && link->factor.samples == 40);
        QVERIFY(hasNote(own->notes, "One step alone"));
        const std::string traces = "traces/megatron_tp8_a100_8rank";
        if (!tests::isShared(traces))
            return;
        const auto proposal = taught(lab("a100-sxm-80gb", 1), tests::sharedInput(traces));
        QVERIFY(proposal);
        const FittedFactor *nvlink = factorOf(*proposal, "nvlink-a100-sxm-80gb");
        QVERIFY(nvlink && nvlink->refused.empty());
        QVERIFY(*nvlink->factor.gbytesPerS > 150 && *nvlink->factor.gbytesPerS < 270);
        QVERIFY(*nvlink->factor.latencyUs > 5 && *nvlink->factor.latencyUs < 60);
        QVERIFY(nvlink->residual < 0.1 && nvlink->factor.samples == 84);
        QVERIFY(hasNote(proposal->notes, "One step alone"));
    }

    /// A recommender is no transformer: nothing of its kernels is taken for one, nor of exchanges whose times do not
    /// follow their sizes.
    void anotherJobTeachesNothingOfKernels()
    {
        testing::KinetoJob job { .ranks = 8, .layers = 12, .kernel = "void embedding_bag_kernel<float>(int)" };
        const auto exchange = [](std::int64_t elements, std::int64_t microseconds) {
            return testing::KinetoExchange {
                .kernel = "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
                .elements = elements,
                .microseconds = microseconds,
                .shapesOf = "c10d::alltoall_base_"
            };
        };
        job.exchanges = { exchange(6000, 900), exchange(400, 50), exchange(9000, 20), exchange(30, 500) };
        const QTemporaryDir folder;
        testing::writeKineto(job, folder.path().toStdString());
        std::string why;
        QVERIFY(!taught(lab("a100-sxm-80gb", 1), folder.path().toStdString(), &why));
        QVERIFY2(why.find("hardly the plan of this run") != std::string::npos, why.c_str());
        QVERIFY2(why.find("needed: collectives of several sizes") != std::string::npos, why.c_str());
        const std::string traces = "traces/dlrm_a100_8rank";
        if (!tests::isShared(traces))
            return;
        const auto proposal = taught(lab("a100-sxm-80gb", 1), tests::sharedInput(traces));
        QVERIFY(proposal);
        for (const FittedFactor &fitted : proposal->factors)
            QVERIFY2(!fitted.refused.empty() || fitted.id == "host", fitted.id.c_str());
        QVERIFY(hasNote(proposal->notes, "hardly the plan of this run"));
    }

    void aLogGivesOneFactorAndTellsTheDoubt_data()
    {
        QTest::addColumn<QString>("log");
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("batch"); // as the log prints
        QTest::newRow("own") << QString::fromStdString(tests::ownInput("formats/logs/megatron_experts.log"))
                             << "gpt-3-1.3b" << 64;
        if (const std::string log = "formats/logs/megatron_lm_2024.log"; tests::isShared(log))
            QTest::newRow("captured") << QString::fromStdString(tests::sharedInput(log)) << "gpt-3-2.7b" << 128;
    }

    void aLogGivesOneFactorAndTellsTheDoubt()
    {
        QFETCH(QString, log);
        QFETCH(QString, model);
        QFETCH(int, batch);
        Plan plan = lab("a100-sxm-80gb", 1, model.toStdString());
        plan.workload.globalBatch = batch;
        plan.parallelism.tensor = 1; // on eight tensor ranks the host would be the limit
        plan.parallelism.data = 8;
        std::string why;
        const auto proposal = taught(plan, log.toStdString(), &why);
        QVERIFY2(proposal && proposal->factors.size() == 1, why.c_str());
        const FittedFactor &fitted = proposal->factors.front();
        QCOMPARE(fitted.factor.what, CalibratedPart::Products);
        QVERIFY(!fitted.refused.empty()); // one step that counts, or two
        QVERIFY(hasNote(proposal->notes, "Step times alone"));
        // Steps of 2 and 2.5 s are fitted, that of 2.125 is held out: products take longer where the plan is faster
        if (batch == 64)
            QCOMPARE(*fitted.factor.factor > 1, *evaluated(plan)->metrics.iterationTime < (2.0 + 2.5) / 2);
    }

    /// 16 H100 in two nodes: an all-reduce between nodes cannot carry more than the NICs, and is held out points within
    /// a few percent.
    void ncclTestsGiveTheFabric()
    {
        std::vector<std::string> tables { tests::ownInput("formats/nccl/all_reduce_two_nodes.txt") };
        if (const std::string table = "formats/nccl/nccl_tests_all_reduce_h100_2node.txt"; tests::isShared(table))
            tables.push_back(tests::sharedInput(table));
        for (const std::string &table : tables) {
            const auto proposal = taught(lab("h100-sxm-80gb", 2), table);
            QVERIFY(proposal);
            const FittedFactor *fabric = factorOf(*proposal, "fabric-lab");
            QVERIFY(fabric && fabric->refused.empty());
            QVERIFY(*fabric->factor.errorAfter < 0.05);
            QVERIFY(*fabric->factor.errorAfter < *fabric->factor.errorBefore);
        }
    }

    void iperfGivesTheLinkBetweenDatacenters()
    {
        Plan plan = lab("h100-sxm-80gb", 1);
        plan.cluster.datacenters.push_back(site("far", 1));
        plan.cluster.wanLinks = { wanLink("lab", "far") };
        const std::string own = tests::ownInput("formats/misc/iperf3_tcp.json");
        const auto told = taught(plan, own);
        QVERIFY(told);
        const FittedFactor *link = factorOf(*told, "wan-lab-far");
        QVERIFY(link && link->refused.empty());
        QVERIFY(std::abs(*link->factor.gbytesPerS - 1.24) < 1e-9); // 9.92 Gbit/s were received
        QVERIFY(std::abs(*link->factor.latencyUs - 125) < 1e-9); // half of a round trip of 250 µs
        std::string why;
        QVERIFY(!taught(lab("h100-sxm-80gb", 1), own, &why));
        QVERIFY2(why.find("no link between datacenters") != std::string::npos, why.c_str());
        const std::string captured = "formats/misc/iperf3_tcp_P4.json";
        if (!tests::isShared(captured))
            return;
        const auto proposal = taught(plan, tests::sharedInput(captured));
        QVERIFY(proposal);
        const FittedFactor *wan = factorOf(*proposal, "wan-lab-far");
        QVERIFY(wan && wan->refused.empty() && *wan->factor.gbytesPerS > 0);
    }

    void fioGivesTheDrives()
    {
        Plan plan = lab("h100-sxm-80gb", 1);
        plan.cluster.datacenters.front().pools.front().ssd.emplace();
        plan.cluster.datacenters.front().pools.front().ssd->writeGBps = 4;
        plan.cluster.datacenters.front().pools.front().ssd->readGBps = 6;
        const auto own = taught(plan, tests::ownInput("formats/misc/fio_write.json"));
        QVERIFY(own);
        const FittedFactor *told = factorOf(*own, "drive-h100-sxm-80gb");
        QVERIFY(told && told->refused.empty());
        QVERIFY(std::abs(*told->factor.gbytesPerS - 0.536870912) < 1e-9);
        const std::string captured = "formats/misc/fio_write_jsonplus.json";
        if (!tests::isShared(captured))
            return;
        const auto proposal = taught(plan, tests::sharedInput(captured));
        QVERIFY(proposal);
        const FittedFactor *drive = factorOf(*proposal, "drive-h100-sxm-80gb");
        QVERIFY(drive && drive->refused.empty() && *drive->factor.gbytesPerS > 0);
    }
};

TRAINYARD_APPLESS_TEST(CalibrateRealTest)
#include "tst_calibrate_real.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// What real recordings give: links of a trace of all ranks, one factor of a log, links and drives of benchmarks; and
// what they do not tell is told.
#include "core/calibrate/calibrate.h"
#include "core/telemetry/read_sources.h"
#include "tests/core/overlay/small_runs.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <filesystem>

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

std::optional<CalibrationProposal> taught(const Plan &plan, const std::string &file, std::string *why = nullptr)
{
    const std::string path = std::string(TRAINYARD_SHARED_DIR) + "/" + file;
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

#define NEEDS(file)                                                                                                    \
    if (!std::filesystem::exists(std::string(TRAINYARD_SHARED_DIR) + "/" + (file)))                                    \
    QSKIP("the shared folder of real files is not there")

class CalibrateRealTest : public QObject {
    Q_OBJECT
private slots:
    /// 81 all-reduces of 64 MiB and 3 of 32 KiB over the NVLink of 8 A100: a bus bandwidth between 150 and 270 GB/s, as
    /// nccl-tests measure of such nodes, and a latency of tens of microseconds. One step tells no step error.
    void eightRanksOfMegatronTellTheirNvlink()
    {
        NEEDS("traces/megatron_tp8_a100_8rank");
        const auto proposal = taught(lab("a100-sxm-80gb", 1), "traces/megatron_tp8_a100_8rank");
        QVERIFY(proposal);
        const FittedFactor *nvlink = factorOf(*proposal, "nvlink-a100-sxm-80gb");
        QVERIFY(nvlink && nvlink->refused.empty());
        QVERIFY(*nvlink->factor.gbytesPerS > 150 && *nvlink->factor.gbytesPerS < 270);
        QVERIFY(*nvlink->factor.latencyUs > 5 && *nvlink->factor.latencyUs < 60);
        QVERIFY(nvlink->residual < 0.1 && nvlink->factor.samples == 84);
        QVERIFY(hasNote(proposal->notes, "One step alone"));
    }

    /// A recommender is no transformer: nothing of its kernels is taken for one.
    void anotherJobTeachesNothingOfKernels()
    {
        NEEDS("traces/dlrm_a100_8rank");
        const auto proposal = taught(lab("a100-sxm-80gb", 1), "traces/dlrm_a100_8rank");
        QVERIFY(proposal);
        for (const FittedFactor &fitted : proposal->factors)
            QVERIFY2(!fitted.refused.empty() || fitted.id == "host", fitted.id.c_str());
        QVERIFY(hasNote(proposal->notes, "hardly the plan of this run"));
    }

    void aLogGivesOneFactorAndTellsTheDoubt()
    {
        NEEDS("formats/logs/megatron_lm_2024.log");
        Plan plan = lab("a100-sxm-80gb", 1, "gpt-3-2.7b");
        plan.workload.globalBatch = 128; // as the log prints
        std::string why;
        const auto proposal = taught(plan, "formats/logs/megatron_lm_2024.log", &why);
        QVERIFY2(proposal && proposal->factors.size() == 1, why.c_str());
        QCOMPARE(proposal->factors.front().factor.what, CalibratedPart::Products);
        QVERIFY(!proposal->factors.front().refused.empty()); // one step that counts
        QVERIFY(hasNote(proposal->notes, "Step times alone"));
    }

    /// 16 H100 in two nodes: an all-reduce between nodes cannot carry more than the NICs, and is held out points within
    /// a few percent.
    void ncclTestsGiveTheFabric()
    {
        NEEDS("formats/nccl/nccl_tests_all_reduce_h100_2node.txt");
        const auto proposal = taught(lab("h100-sxm-80gb", 2), "formats/nccl/nccl_tests_all_reduce_h100_2node.txt");
        QVERIFY(proposal);
        const FittedFactor *fabric = factorOf(*proposal, "fabric-lab");
        QVERIFY(fabric && fabric->refused.empty());
        QVERIFY(*fabric->factor.errorAfter < 0.05);
        QVERIFY(*fabric->factor.errorAfter < *fabric->factor.errorBefore);
    }

    void iperfGivesTheLinkBetweenDatacenters()
    {
        NEEDS("formats/misc/iperf3_tcp_P4.json");
        Plan plan = lab("h100-sxm-80gb", 1);
        plan.cluster.datacenters.push_back(site("far", 1));
        plan.cluster.wanLinks = { wanLink("lab", "far") };
        const auto proposal = taught(plan, "formats/misc/iperf3_tcp_P4.json");
        QVERIFY(proposal);
        const FittedFactor *wan = factorOf(*proposal, "wan-lab-far");
        QVERIFY(wan && wan->refused.empty() && *wan->factor.gbytesPerS > 0);
        std::string why;
        QVERIFY(!taught(lab("h100-sxm-80gb", 1), "formats/misc/iperf3_tcp_P4.json", &why));
        QVERIFY2(why.find("no link between datacenters") != std::string::npos, why.c_str());
    }

    void fioGivesTheDrives()
    {
        NEEDS("formats/misc/fio_write_jsonplus.json");
        Plan plan = lab("h100-sxm-80gb", 1);
        plan.cluster.datacenters.front().pools.front().ssd.emplace();
        plan.cluster.datacenters.front().pools.front().ssd->writeGBps = 4;
        plan.cluster.datacenters.front().pools.front().ssd->readGBps = 6;
        const auto proposal = taught(plan, "formats/misc/fio_write_jsonplus.json");
        QVERIFY(proposal);
        const FittedFactor *drive = factorOf(*proposal, "drive-h100-sxm-80gb");
        QVERIFY(drive && drive->refused.empty() && *drive->factor.gbytesPerS > 0);
    }
};

TRAINYARD_APPLESS_TEST(CalibrateRealTest)
#include "tst_calibrate_real.moc"

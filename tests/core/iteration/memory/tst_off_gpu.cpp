// SPDX-License-Identifier: GPL-3.0-or-later
// Main memory of a node: the sum over its GPUs of 1.5 times the states there and of the activations that are away at
// once.
#include "core/iteration/memory/off_gpu.h"
#include "tests/support/test_program.h"
#include "tests/support/workloads.h"

#include "core/facts/workload/model_math.h"
#include "tests/core/evaluation/memory_fit/ladder_plans.h"
#include "tests/support/most_replicas.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;
using test::evaluated;
using test::oneNode;
using test::with;

namespace {

std::vector<HostMemory> hostOf(const Plan &plan)
{
    const auto evaluation = test::evaluatedWithMost(plan);
    const Workload workload = test::workloadOf(*evaluation);
    return hostMemory(workload, evaluation->metrics.memory->perStage);
}

Plan statesInHost(double hostGib)
{
    return with(oneNode(), [=](Plan &p) {
        p.memory.optimizerOffload = OptimizerOffload::Host;
        p.parallelism.zeroStage = 2;
        p.cluster.datacenters[0].pools[0].host->memoryGib = hostGib;
    });
}

/// Those that speak of host memory per node.
std::vector<Problem> hostProblems(const Plan &plan)
{
    std::vector<Problem> found = test::evaluatedWithMost(plan)->problems;
    std::erase_if(found, [](const Problem &p) { return p.text.find("host memory per node") == std::string::npos; });
    return found;
}

} // namespace

class OffGpuTest : public QObject {
    Q_OBJECT
private slots:
    /// ZeRO-2: 12 bytes of states and 4 of gradients a parameter lie on the node once, whatever its GPUs.
    void statesAreCountedOneAndAHalfTimes()
    {
        const auto hosts = hostOf(statesInHost(2048));
        QCOMPARE(hosts.size(), std::size_t(1));
        const double parameters = totalParameters(*builtinCatalogue().model("llama-3-8b"));
        QVERIFY(std::abs(hosts[0].states / (1.5 * 16 * parameters) - 1) < 0.001);
        QCOMPARE(hosts[0].activations, 0.0);
        QCOMPARE(hosts[0].capacity, 2048 * 0x1p30);
        QVERIFY(hosts[0].fits());
    }

    /// A node of four GPUs of eight in use keeps the states of four.
    void idleGpusKeepNothing()
    {
        Plan plan = statesInHost(2048);
        const double all = hostOf(plan)[0].states;
        plan.parallelism.data = 4; // shards twice as large on half of the GPUs
        QVERIFY(std::abs(hostOf(plan)[0].states / all - 1) < 0.001);
    }

    void whatLiesOnDrivesTakesNoHostMemory()
    {
        QVERIFY(hostOf(with(statesInHost(2048), [](Plan &p) {
            p.memory.optimizerOffload = OptimizerOffload::Ssd;
        })).empty());
        QVERIFY(hostOf(with(oneNode(), [](Plan &p) { p.memory.activationOffload = ActivationOffload::Ssd; })).empty());
        QVERIFY(hostOf(oneNode()).empty());
    }

    /// Either would fit alone; the node needs both.
    void statesAndActivationsAreCheckedTogether()
    {
        Plan both = statesInHost(2048);
        both.memory.activationOffload = ActivationOffload::Host;
        const HostMemory host = hostOf(both)[0];
        QVERIFY(host.states > 0 && host.activations > 0);
        const double enoughForEither =
            std::max(host.states, host.activations) + 0.5 * std::min(host.states, host.activations);
        both.cluster.datacenters[0].pools[0].host->memoryGib = enoughForEither / 0x1p30;
        const auto problems = hostProblems(both);
        QCOMPARE(problems.size(), std::size_t(1));
        QCOMPARE(problems[0].severity, Severity::Blocking);
        QVERIFY2(problems[0].text.starts_with("States and activations off the GPU need "), problems[0].text.c_str());
        QVERIFY(
            hostProblems(with(both, [](Plan &p) { p.memory.activationOffload = ActivationOffload::None; })).empty());
        QVERIFY(hostProblems(with(both, [](Plan &p) { p.memory.optimizerOffload = OptimizerOffload::None; })).empty());
    }

    void memoryThatNobodyStatedIsSaidToBeTakenAsEnough()
    {
        Plan plan = statesInHost(0);
        for (const bool hasHost : { true, false }) {
            if (!hasHost)
                plan.cluster.datacenters[0].pools[0].host.reset();
            const auto problems = hostProblems(plan);
            QCOMPARE(problems.size(), std::size_t(1));
            QCOMPARE(problems[0].severity, Severity::Note);
            QVERIFY(problems[0].text.find("say host.memory_gib") != std::string::npos);
            QCOMPARE(problems[0].where, std::string("cluster.datacenters[0].pools[0].host.memory_gib"));
        }
        QVERIFY(hostProblems(statesInHost(2048)).empty());
    }

    /// 10^9 bytes, as everywhere: 8 billion parameters x 16 x 1.5 are 193 GB, and 128 GiB are 137.
    void amountsAreInTheUnitsOfThePage()
    {
        const auto problems = hostProblems(statesInHost(128));
        QCOMPARE(problems.size(), std::size_t(1));
        QVERIFY2(
            problems[0].text.find("need 193 GB of host memory per node, and there are 137 GB") != std::string::npos,
            problems[0].text.c_str());
    }
};

TRAINYARD_APPLESS_TEST(OffGpuTest)
#include "tst_off_gpu.moc"

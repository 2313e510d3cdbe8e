// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan says of its fabric and its stack, against the catalogue: contradictions are errors that name what would
// be right.
#include "core/iteration/placement/resolve.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace trainyard;
using namespace trainyard::test;

namespace {

Errors errorsOf(const Plan &plan, const Catalogue &catalogue = builtinCatalogue())
{
    const auto workload = resolve(std::make_shared<const Plan>(plan), catalogue);
    return workload ? Errors {} : workload.error();
}

/// The built-in catalogue with made-up releases of megatron-core, twice as slow and half as slow again with experts.
Catalogue withReleases()
{
    Catalogue catalogue = builtinCatalogue();
    for (StackSpec &stack : catalogue.stacks)
        stack.releases.clear();
    auto stack = std::ranges::find(catalogue.stacks, std::string("megatron-core"), &StackSpec::id);
    stack->releases = { { "1.0", 2, 3, 2, 2 }, { "2.0", 1, 1, 2, 2 } };
    return catalogue;
}

StackSpec stackOf(const Plan &plan, const Catalogue &catalogue)
{
    const auto workload = resolve(std::make_shared<const Plan>(plan), catalogue);
    if (!workload)
        qFatal("%s", toString(workload.error().front()).c_str());
    return workload->stack;
}

} // namespace

class TestResolve : public QObject {
    Q_OBJECT

private slots:
    void aMeasuredFabricIsNoFasterThanItsNics();
    void aReleaseScalesKernelAndHostTimeByWhatItsKindOfModelTakes();
    void whatAPlanSetsItselfIsMeantAsItIs();
    void anUnknownReleaseNamesTheKnownOnes();
};

void TestResolve::aMeasuredFabricIsNoFasterThanItsNics()
{
    Plan plan = oneSite(2, 1);
    Datacenter &datacenter = plan.cluster.datacenters.front();
    datacenter.fabricGbpsPerGpu = 400;
    datacenter.fabricMeasuredGBps = 50; // 400 / 8
    QVERIFY(errorsOf(plan).empty());
    datacenter.fabricMeasuredGBps = 390; // of all eight GPUs of a node, as nccl-tests prints it
    const Errors errors = errorsOf(plan);
    QCOMPARE(errors.size(), std::size_t { 1 });
    QCOMPARE(errors[0].where, std::string("cluster.datacenters[0].fabric_measured_gbytes_per_s"));
    QVERIFY2(errors[0].what.find("50 GB/s") != std::string::npos && errors[0].right.find("divide") != std::string::npos,
        toString(errors[0]).c_str());
    // Where the plan names no NIC, the catalogue's counts; the fastest of a datacenter's.
    datacenter.fabricGbpsPerGpu.reset();
    datacenter.pools = { { .id = "slow", .gpu = "a100-sxm-80gb", .nodes = 1 },
        { .id = "fast", .gpu = "h100-sxm-80gb", .nodes = 1 } };
    datacenter.fabricMeasuredGBps = builtinCatalogue().gpu("h100-sxm-80gb")->fabricGbps / 8;
    QVERIFY(errorsOf(plan).empty());
    *datacenter.fabricMeasuredGBps += 1;
    QCOMPARE(errorsOf(plan).size(), std::size_t { 1 });
}

void TestResolve::aReleaseScalesKernelAndHostTimeByWhatItsKindOfModelTakes()
{
    const Catalogue catalogue = withReleases();
    StackSpec base = *catalogue.stack("megatron-core");
    base.sources.clear(); // which a workload has not, nor its releases
    base.releases.clear();
    Plan plan = oneSite(2, 1);
    QVERIFY(stackOf(plan, catalogue) == base);
    plan.stack.release = "1.0";
    QVERIFY(stackOf(plan, catalogue) == slowedBy(base, 2));
    plan.workload.model = "mixtral-8x7b";
    QVERIFY(stackOf(plan, catalogue) == slowedBy(base, 3));
    // All compute of an iteration follows: one GPU without graphs, where nothing communicates.
    Plan alone = oneSite(1, 1);
    alone.cluster.datacenters = { site("a", 1, "h100-sxm-80gb", 1) };
    alone.workload.model = "gpt-3-1.3b";
    alone.workload.sequenceLength = 2048;
    alone.parallelism.tensor = 1;
    alone.parallelism.zeroStage = 0;
    const auto time = [&](const std::string &release) {
        alone.stack.release = release;
        EvaluationWorkspace workspace;
        const auto result = evaluate(std::make_shared<const Plan>(alone), catalogue, workspace);
        return *(*result)->metrics.iterationTime;
    };
    const double twice = time("1.0") / time("2.0");
    QVERIFY2(twice > 1.95 && twice < 2.001, qPrintable(QString::number(twice))); // the optimizer's step is the memory's
    QCOMPARE(time(""), time("2.0"));
}

void TestResolve::whatAPlanSetsItselfIsMeantAsItIs()
{
    Plan plan = oneSite(2, 1);
    plan.stack.release = "1.0";
    plan.stack.overrides = { { "host_us_per_kernel", 7 } };
    const StackSpec stack = stackOf(plan, withReleases());
    QCOMPARE(stack.hostUsPerKernel, 7.0);
    QCOMPARE(stack.iterationOverheadMs, 2 * builtinCatalogue().stack("megatron-core")->iterationOverheadMs);
}

void TestResolve::anUnknownReleaseNamesTheKnownOnes()
{
    Plan plan = oneSite(2, 1);
    plan.stack.release = "3.0";
    const Errors errors = errorsOf(plan, withReleases());
    QCOMPARE(errors.size(), std::size_t { 1 });
    QCOMPARE(toString(errors[0]),
        std::string("stack.release: no release of megatron-core is known as \"3.0\"; expected one of 1.0, 2.0"));
    plan.stack.name = "ideal";
    QVERIFY(errorsOf(plan, withReleases()).at(0).right.find("nothing is known") != std::string::npos);
}

TRAINYARD_APPLESS_TEST(TestResolve)
#include "tst_resolve.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan says of its fabric, against the catalogue: contradictions are errors that name what would be right.
#include "core/placement/resolve.h"
#include "tests/support/plans.h"

#include <QtTest>

using namespace trainyard;
using namespace trainyard::test;

namespace {

Errors errorsOf(const Plan &plan, const Catalogue &catalogue = builtinCatalogue())
{
    const auto workload = resolve(std::make_shared<const Plan>(plan), catalogue);
    return workload ? Errors{} : workload.error();
}

} // namespace

class TestResolve : public QObject
{
    Q_OBJECT

private slots:
    void aMeasuredFabricIsNoFasterThanItsNics();
};

void TestResolve::aMeasuredFabricIsNoFasterThanItsNics()
{
    Plan plan = oneSite(2, 1);
    Datacenter &datacenter = plan.cluster.datacenters.front();
    datacenter.fabricGbpsPerGpu = 400;
    datacenter.fabricMeasuredGBps = 50;   // 400 / 8
    QVERIFY(errorsOf(plan).empty());
    datacenter.fabricMeasuredGBps = 390;  // of all eight GPUs of a node, as nccl-tests prints it
    const Errors errors = errorsOf(plan);
    QCOMPARE(errors.size(), std::size_t{1});
    QCOMPARE(errors[0].where, std::string("cluster.datacenters[0].fabric_measured_gbytes_per_s"));
    QVERIFY2(errors[0].what.find("50 GB/s") != std::string::npos && errors[0].right.find("divide") != std::string::npos, toString(errors[0]).c_str());
    // Where the plan names no NIC, the catalogue's counts; the fastest of a datacenter's.
    datacenter.fabricGbpsPerGpu.reset();
    datacenter.pools = {{.id = "slow", .gpu = "a100-sxm-80gb", .nodes = 1}, {.id = "fast", .gpu = "h100-sxm-80gb", .nodes = 1}};
    datacenter.fabricMeasuredGBps = builtinCatalogue().gpu("h100-sxm-80gb")->fabricGbps / 8;
    QVERIFY(errorsOf(plan).empty());
    *datacenter.fabricMeasuredGBps += 1;
    QCOMPARE(errorsOf(plan).size(), std::size_t{1});
}

QTEST_APPLESS_MAIN(TestResolve)
#include "tst_resolve.moc"

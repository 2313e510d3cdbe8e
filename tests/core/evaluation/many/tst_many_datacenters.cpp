// SPDX-License-Identifier: GPL-3.0-or-later
// Hundreds of datacenters with unlike GPUs: the work of an evaluation grows with the datacenters and their links, never
// with the pairs of datacenters. Work is what memory was asked for in all, which is the same on every machine: a table
// of all pairs, or a copy of the plan for each datacenter, shows in it.
#include "core/evaluation/advice/alternatives.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <array>
#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t bytesAsked = 0;

} // namespace

void *operator new(std::size_t size)
{
    bytesAsked += size;
    if (void *memory = std::malloc(size > 0 ? size : 1))
        return memory;
    throw std::bad_alloc();
}
void operator delete(void *memory) noexcept
{
    std::free(memory);
}
void operator delete(void *memory, std::size_t) noexcept
{
    std::free(memory);
}

using namespace trainyard;

namespace {

enum class Links { Chain, Star, Ring };

/// Four types of GPUs in turn, one to three nodes each, and a second pool of the next type.
Plan mixed(int datacenters, Links links, int pipeline)
{
    static constexpr std::array kGpus { "a100-sxm-80gb", "h100-sxm-80gb", "v100-sxm-32gb", "a100-sxm-40gb" };
    Plan plan = test::oneSite(1, pipeline);
    plan.cluster.datacenters.clear();
    for (int d = 0; d < datacenters; ++d) {
        const std::string id = "dc" + std::to_string(d);
        Datacenter here = test::site(id, 1 + d % 3, kGpus[std::size_t(d % 4)]);
        here.pools.push_back(test::site(id + "-more", 1, kGpus[std::size_t((d + 1) % 4)]).pools.front());
        plan.cluster.datacenters.push_back(here);
        if (d == 0)
            continue;
        const int peer = links == Links::Star ? 0 : d - 1;
        plan.cluster.wanLinks.push_back(test::wanLink("dc" + std::to_string(peer), id, 20 + d % 30));
    }
    if (links == Links::Ring)
        plan.cluster.wanLinks.push_back(test::wanLink("dc0", "dc" + std::to_string(datacenters - 1)));
    plan.workload.sequenceLength = 4096;
    plan.workload.globalBatch = 1024;
    return plan;
}

/// Bytes that a whole evaluation asks for, fixes of its problems included.
double workOf(const Plan &plan)
{
    EvaluationWorkspace workspace;
    const std::size_t before = bytesAsked;
    const auto answer = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
    return answer && (*answer)->metrics.iterationTime ? double(bytesAsked - before) : 0;
}

} // namespace

class TestManyDatacenters : public QObject {
    Q_OBJECT

private slots:
    void anEvaluationTakesWorkInLineWithTheDatacenters_data();
    void anEvaluationTakesWorkInLineWithTheDatacenters();
    void movesThatCannotBeAmongTheNearestAreCountedAndNotLookedAt();
};

void TestManyDatacenters::anEvaluationTakesWorkInLineWithTheDatacenters_data()
{
    QTest::addColumn<int>("links");
    QTest::addColumn<int>("pipeline");
    QTest::addColumn<int>("mode");
    QTest::addColumn<int>("few");
    QTest::addColumn<int>("many");
    QTest::addColumn<bool>("isOfPairs");
    QTest::newRow("a chain, stages across")
        << int(Links::Chain) << 8 << int(PlacementMode::Auto) << 300 << 1000 << false;
    // A replica in each: the memory of each over the times of all is of pairs, and of no more than that.
    QTest::newRow("a star, whole pipelines")
        << int(Links::Star) << 1 << int(PlacementMode::DataAcross) << 100 << 300 << true;
    QTest::newRow("a ring, whole pipelines")
        << int(Links::Ring) << 1 << int(PlacementMode::DataAcross) << 100 << 300 << true;
}

void TestManyDatacenters::anEvaluationTakesWorkInLineWithTheDatacenters()
{
    QFETCH(int, links);
    QFETCH(int, pipeline);
    QFETCH(int, mode);
    QFETCH(int, few);
    QFETCH(int, many);
    QFETCH(bool, isOfPairs);
    const auto workFor = [&](int datacenters) {
        Plan plan = mixed(datacenters, Links(links), pipeline);
        plan.placement.mode = PlacementMode(mode);
        return workOf(plan);
    };
    // Twice as much beside what grows in line: 1,000 / 300 is 3.3; of all pairs it would be 11.
    const double less = workFor(few), more = workFor(many), growth = double(many) / few;
    QVERIFY(less > 0 && more > 0);
    QVERIFY2(more < less * growth * (isOfPairs ? growth : 2),
        qPrintable(QStringLiteral("%1 and %2 bytes").arg(less).arg(more)));
}

void TestManyDatacenters::movesThatCannotBeAmongTheNearestAreCountedAndNotLookedAt()
{
    constexpr std::size_t kCount = 1000;
    Plan plan = mixed(int(kCount), Links::Chain, 8);
    std::size_t moves = 0; // 1, 2, 4 or 8 nodes, where there are so many, to each other datacenter
    for (const Datacenter &datacenter : plan.cluster.datacenters)
        for (const int nodes : { 1, 2, 4, 8 })
            moves += nodes * datacenter.pools.back().gpusPerNode <= datacenter.gpus() ? kCount - 1 : 0;
    const auto now = test::evaluated(plan);
    const BetterParts without = rearrangements(plan, &now->layout);
    QCOMPARE(without.list.size() + without.leftOut, moves); // no window, as connections are not counted; no pins
    QVERIFY2(without.looked < 200 * kCount, qPrintable(QString::number(without.looked)));
}

TRAINYARD_APPLESS_TEST(TestManyDatacenters)
#include "tst_many_datacenters.moc"

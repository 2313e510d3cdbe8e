// SPDX-License-Identifier: GPL-3.0-or-later
// Spaces that are too large to be looked at whole, with limits that only plans much smaller than the one asked about
// keep: the search starts from small ones as well.
#include "tests/core/planner/search/small_search.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Around good plans, with few tasks.
SearchOptions around(Objective objective = Objective::Throughput)
{
    SearchOptions options = asked(objective);
    options.mostEnumerated = 10;
    options.mostTasks = 3'000'000;
    return options;
}

} // namespace

class TstSmallStart : public QObject {
    Q_OBJECT

private slots:
    void aBudgetThatOnlySmallPlansKeepIsMet_data()
    {
        QTest::addColumn<int>("nodes");
        QTest::addColumn<int>("gpus");
        QTest::newRow("a node of 64") << 64 << 8;
        QTest::newRow("two nodes of 32") << 32 << 16;
    }
    /// USD per hour = GPUs of whole nodes × price: a budget of G and a half GPUs is kept by plans of at most G.
    void aBudgetThatOnlySmallPlansKeepIsMet()
    {
        QFETCH(int, nodes);
        QFETCH(int, gpus);
        const double price = builtinCatalogue().gpu("h100-sxm-80gb")->usdPerHour;
        SearchOptions options = around();
        std::erase(options.fixed, "memory");
        options.constraints.mostUsdPerHour = (gpus + 0.5) * price;
        const SearchResult result = found(small(nodes), options);
        QVERIFY(!result.isComplete);
        QCOMPARE(result.rows[*result.own].state, RowState::OutOfConstraint);
        QVERIFY2(!result.best.empty(), result.summary.c_str());
        for (const std::size_t row : result.best) {
            QVERIFY(result.rows[row].gpus <= gpus);
            QVERIFY(result.rows[row].usdPerHour <= *options.constraints.mostUsdPerHour);
        }
        // whole, the same space has nothing that is much better
        options.mostEnumerated = SearchOptions {}.mostEnumerated;
        options.mostTasks = SearchOptions {}.mostTasks;
        const SearchResult whole = found(small(nodes), options);
        QVERIFY(whole.isComplete);
        QVERIFY(bestValue(result) >= bestValue(whole) * (1 - 1e-9));
        QVERIFY2(
            bestValue(result) <= bestValue(whole) * 1.02, std::to_string(bestValue(result) / bestValue(whole)).c_str());
    }

    /// With every key open, at least as good as the best of a part of the space that is looked at whole; the plan asked
    /// about has 32 times as many GPUs. From that plan on alone the search ends 3 % behind.
    void withEveryKeyOpenItIsAsGoodAsAPartLookedAtWhole()
    {
        Plan plan = *small(32);
        plan.workload.globalBatch = 1024;
        plan.parallelism.data = 8;
        SearchOptions options = around(), part = asked();
        options.fixed.clear();
        std::erase(part.fixed, "memory");
        options.constraints.mostUsdPerHour = part.constraints.mostUsdPerHour =
            4.5 * builtinCatalogue().gpu("h100-sxm-80gb")->usdPerHour;
        const auto shared = std::make_shared<const Plan>(plan);
        const SearchResult some = found(shared, options), all = found(shared, part);
        QVERIFY(all.isComplete && !some.isComplete);
        QVERIFY2(
            bestValue(some) <= bestValue(all) * (1 + 1e-9), std::to_string(bestValue(some) / bestValue(all)).c_str());
    }

    void theFewestGpusAreFoundFromALargePlanOn()
    {
        SearchOptions options = around(Objective::Gpus), whole = asked(Objective::Gpus);
        options.constraints.mostGpus = whole.constraints.mostGpus = 8;
        const SearchResult some = found(small(32), options), all = found(small(32), whole);
        QVERIFY(all.isComplete && !some.best.empty());
        QCOMPARE(some.rows[some.best.front()].gpus, all.rows[all.best.front()].gpus);
    }
};

TRAINYARD_GUILESS_TEST(TstSmallStart)
#include "tst_small_start.moc"

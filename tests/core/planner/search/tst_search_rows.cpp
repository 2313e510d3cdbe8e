// SPDX-License-Identifier: GPL-3.0-or-later
// What a search tells of its rows and of itself beside values: the world that decides, and what was left where it
// ended early.
#include "core/planner/search/search.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <set>

using namespace trainyard;
using namespace trainyard::test;

namespace {

SearchOptions asked()
{
    SearchOptions options;
    options.fixed = { "memory", "parallelism.context", "parallelism.sequence_parallel", "workload", "placement.layers",
        "wan" };
    options.threads = 2;
    return options;
}

SearchResult found(const PlanPtr &plan, const SearchOptions &options, std::stop_token stop = {},
    const std::function<void(const SearchProgress &)> &tell = {})
{
    auto result = search(plan, builtinCatalogue(), options, std::move(stop), tell);
    if (!result)
        qFatal("%s", toString(result.error().front()).c_str());
    return std::move(*result);
}

} // namespace

class TstSearchRows : public QObject {
    Q_OBJECT

private slots:
    /// worst world = argmax over worlds of 1 / rate, the own one where none is slower.
    void theWorldThatDecidesIsTold()
    {
        const auto plan = std::make_shared<const Plan>(threeSites(1, 3));
        SearchOptions options = asked();
        options.fixed.emplace_back("schedule");
        for (const char *text : { "half:a-b", "half:b-c", "prices+30%" })
            options.scenarios.push_back(*parseScenario(*plan, builtinCatalogue(), text));
        const SearchResult result = found(plan, options);
        QVERIFY(!result.best.empty());
        EvaluationWorkspace workspace;
        std::set<int> told;
        for (const std::size_t at : result.best) {
            const SearchRow &row = result.rows[at];
            double slowest = row.tokensPerSecond;
            int expected = -1;
            for (std::size_t i = 0; i < options.scenarios.size(); ++i) {
                const auto there = run(*inScenario(result.plan(at), options.scenarios[i]), Depth::Score,
                    { builtinCatalogue(), workspace, {} });
                if (const double rate = *(*there)->metrics.tokensPerSecond; rate < slowest * (1 - 1e-12)) {
                    slowest = rate;
                    expected = int(i);
                }
            }
            QCOMPARE(row.worstScenario, expected);
            QVERIFY(std::abs(row.value * slowest - 1) < 1e-9);
            told.insert(expected);
        }
        QVERIFY(*told.rbegin() >= 0); // some plan depends on a link
    }

    /// candidates that go together = simulated + outdone or out by their scores + left
    void whatIsLeftOfASpaceIsCounted()
    {
        const auto plan = std::make_shared<const Plan>(oneSite(4));
        SearchOptions options = asked();
        std::erase(options.fixed, "memory");
        const SearchResult whole = found(plan, options);
        QVERIFY(whole.isComplete);
        QCOMPARE(whole.left, std::uint64_t(0));
        options.mostTasks = 1; // the plan itself
        const SearchResult one = found(plan, options);
        QVERIFY(!one.isComplete);
        QCOMPARE(one.simulated, std::uint64_t(1));
        std::uint64_t outdone = 0;
        for (const SearchRow &row : one.rows)
            outdone += row.state == RowState::Outdone;
        QVERIFY(one.left > 0 && one.left + one.simulated + outdone <= one.looked);
        QVERIFY(one.left >= whole.simulated - 1); // all that had to be simulated
    }

    /// Stopped while candidates are listed, nobody knows how many there are: neither in all nor left. Stopped among
    /// those that are simulated: all = the plan + what is out, outdone or feasible + left.
    void aStopLeavesNoCountTooSmall()
    {
        const auto plan = std::make_shared<const Plan>(oneSite(4));
        SearchOptions options = asked();
        std::erase(options.fixed, "memory");
        std::uint64_t all = 0;
        (void)found(plan, options, {}, [&](const SearchProgress &now) { all = now.total; });
        QVERIFY(all > 100);
        for (const int last : { 1, 2, 3 }) {
            std::stop_source stop;
            int calls = 0;
            std::uint64_t total = 0;
            const SearchResult result = found(plan, options, stop.get_token(), [&](const SearchProgress &now) {
                total = std::max(total, now.total);
                if (++calls == last) // the first comes before anything is listed
                    stop.request_stop();
            });
            QVERIFY(result.isStopped && !result.isComplete);
            QCOMPARE(total, last == 1 ? 0 : all);
            std::uint64_t settled = 0;
            for (const PruneCount &one : result.pruned)
                settled += one.isRule ? 0 : one.count;
            for (const SearchRow &row : result.rows)
                settled += row.state == RowState::Feasible;
            if (last == 1)
                QCOMPARE(result.left, std::uint64_t(0));
            else
                QCOMPARE(result.left + settled, all);
        }
    }
};

TRAINYARD_GUILESS_TEST(TstSearchRows)
#include "tst_search_rows.moc"

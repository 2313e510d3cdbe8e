// SPDX-License-Identifier: GPL-3.0-or-later
// What a search says of itself: a proof and a search that was cut off are told apart, reasons of one kind stand
// together, and plans that would read alike do not.
#include "core/planner/search/search_report.h"
#include "core/planner/search/search_state_internal.h"
#include "core/planner/search/tell_result.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

using namespace trainyard;
using nlohmann::json;

namespace {

/// Two axes; the second changes what no sentence about plans tells.
SearchResult result()
{
    const auto plan = std::make_shared<const Plan>(test::oneSite(4));
    std::vector<Axis> axes;
    axes.push_back({ "tensor", { "parallelism.tensor" }, "Tensor parallel",
        { { "8", [](Plan &p) { p.parallelism.tensor = 8; } }, { "4", [](Plan &p) { p.parallelism.tensor = 4; } } },
        0 });
    axes.push_back({ "way", {}, "Way", { { "left", [](Plan &) {} }, { "right", [](Plan &) {} } }, 0 });
    SearchResult result { .space = std::make_shared<const SearchSpace>(plan, std::move(axes)) };
    SearchRow own { .number = 0, .state = RowState::OutOfConstraint, .reason = "it costs more per hour than allowed" };
    own.seconds = own.value = 10;
    own.tokensPerSecond = 0.1;
    own.shortfall = "needs $20 an hour, allowed $10";
    own.missedBy = 1;
    result.rows = { own };
    result.own = 0;
    result.looked = 4;
    result.simulated = 3;
    result.asked = std::make_shared<const SearchOptions>();
    return result;
}

/// As search() does at its end.
void tell(SearchResult &result)
{
    detail::tellResult(result);
    detail::tellAnswer(result);
}

SearchRow feasible(std::uint64_t number, double value)
{
    SearchRow row { .number = number, .state = RowState::Feasible };
    row.seconds = row.value = value;
    row.tokensPerSecond = 1 / value;
    row.gpus = 16;
    row.usdPerHour = 5;
    row.clusterUsdPerHour = 10;
    return row;
}

bool has(const std::string &text, const char *part)
{
    return text.find(part) != std::string::npos;
}

} // namespace

class TstSearchReport : public QObject {
    Q_OBJECT

private slots:
    void aProofIsNotASearchThatWasCutOff()
    {
        SearchResult none = result();
        none.isComplete = true;
        tell(none);
        QCOMPARE(none.summary,
            std::string("no plan of this space keeps the constraints (proven); 4 combinations looked at, 3 simulated; "
                        "the nearest needs $20 an hour, allowed $10"));
        SearchResult cut = result();
        cut.isStopped = true;
        tell(cut);
        QVERIFY(!has(cut.summary, "proven"));
        QVERIFY(has(cut.summary, "the search is not finished"));
        SearchResult found = result();
        found.rows.push_back(feasible(2, 5));
        found.best = { 1 };
        found.isComplete = true;
        tell(found);
        QCOMPARE(found.summary,
            std::string("your plan does not keep the constraints; this one does; proven best of 4 combinations, 3 "
                        "simulated"));
        QVERIFY(!found.nearest);
    }

    /// The value of fewest GPUs has an iteration of t seconds as t / (1 + t): a quarter of a long one is little of it.
    void aGainIsHardlyOneByItsOwnShare()
    {
        SearchResult found = result();
        found.objective = Objective::Gpus;
        for (const double seconds : { 1'000.0, 800.0 }) {
            SearchRow row = feasible(std::uint64_t(2 + found.rows.size()), 64 + seconds / (1 + seconds));
            row.seconds = seconds;
            row.gpus = 64;
            found.rows.push_back(row);
        }
        found.own = 1;
        found.best = { 2 };
        tell(found);
        QVERIFY2(has(found.summary, "25.0 % faster on as many GPUs than your plan"), found.summary.c_str());
        found.rows[2].seconds = 1'000 * (1 - 1e-6);
        tell(found);
        QVERIFY2(has(found.summary, "hardly better"), found.summary.c_str());
    }

    /// What can run and misses a constraint is nearer than what does not fit; of such the one that misses least.
    void theNearestIsThatWhichMissesLeast()
    {
        SearchResult none = result();
        SearchRow full { .number = 1, .state = RowState::Infeasible, .reason = "it does not fit" };
        full.missedBy = 0.01;
        SearchRow close = none.rows[0];
        close.number = 2;
        close.missedBy = 0.2;
        close.shortfall = "needs $12 an hour, allowed $10";
        none.rows.insert(none.rows.end(), { full, close });
        tell(none);
        QCOMPARE(none.nearest, std::optional<std::size_t>(2));
        const std::string table = searchTable(none);
        QVERIFY2(has(table, "it costs more per hour than allowed: needs $12 an hour, allowed $10"), table.c_str());
        QVERIFY(has(table, "The nearest: Tensor parallel 8 → 4"));
        QCOMPARE(json::parse(searchJson(none))["nearest"]["number"].get<int>(), 2);
    }

    void reasonsOfOneKindStandTogether()
    {
        SearchResult some = result();
        some.pruned = { { "4 stages of 1 GPU cannot be placed: too few", 5 }, { "another", 6 },
            { "2 stages of 8 GPUs cannot be placed: too few", 7 } };
        some.pruned[1].isRule = true;
        tell(some);
        QCOMPARE(some.pruned.size(), std::size_t(2));
        QCOMPARE(some.pruned[0].reason, std::string("it cannot be placed"));
        QCOMPARE(some.pruned[0].count, std::uint64_t(12));
        QCOMPARE(some.pruned[0].details.front().count, std::uint64_t(7));
        const std::string table = searchTable(some);
        QVERIFY(has(table, "12  it cannot be placed\n") && !has(table, "2 stages of 8 GPUs"));
        QVERIFY(table.find("Left out, of those looked at") < table.find("Not looked at"));
        const json told = json::parse(searchJson(some))["pruned"];
        QCOMPARE(told[0]["details"].size(), std::size_t(2));
        QVERIFY(told[0]["looked_at"].get<bool>() && !told[1]["looked_at"].get<bool>());
        // One alone says what it is.
        SearchResult one = result();
        one.pruned = { { "4 stages of 1 GPU cannot be placed: too few", 5 } };
        tell(one);
        QCOMPARE(one.pruned[0].reason, std::string("4 stages of 1 GPU cannot be placed: too few"));
    }

    void plansThatReadAlikeSayInWhichAxesTheyDiffer()
    {
        SearchResult found = result();
        found.rows.insert(found.rows.end(), { feasible(2, 5), feasible(3, 6) });
        found.best = { 1, 2 };
        const auto changes = changesOf(found, found.best);
        QCOMPARE(changes[0], (std::vector<std::string> { "Tensor parallel 8 → 4", "Way: left" }));
        QCOMPARE(changes[1], (std::vector<std::string> { "Tensor parallel 8 → 4", "Way: right" }));
        QCOMPARE(changesOf(found, std::vector<std::size_t> { 1 })[0],
            (std::vector<std::string> { "Tensor parallel 8 → 4" }));
    }

    void bothPricesStandWhereGpusIdle()
    {
        SearchResult found = result();
        found.rows.push_back(feasible(2, 5));
        found.best = { 1 };
        QVERIFY(has(searchTable(found), "all GPUs per hour"));
        found.rows[1].clusterUsdPerHour = 5;
        QVERIFY(!has(searchTable(found), "all GPUs per hour"));
    }

    /// A plan that runs in its own world and fails in another is not said to fail.
    void theWorldInWhichThePlanFailsIsNamed()
    {
        SearchResult found = result();
        found.isComplete = true;
        found.scenarios = { "Ohio lost", "prices +30 %" };
        found.rows[0].worstScenario = 1;
        SearchResult none = found;
        found.rows.push_back(feasible(2, 5));
        found.best = { 1 };
        const auto starts = [](const SearchResult &told, const char *with) {
            const bool isSo = told.summary.starts_with(with);
            if (!isSo)
                qWarning("%s", told.summary.c_str());
            return isSo;
        };
        tell(found);
        QVERIFY(starts(found,
            "your plan does not keep the constraints in the world \"prices +30 %\"; this one does in all worlds; "));
        found.rows[0].state = RowState::Infeasible;
        found.rows[0].worstScenario = 0;
        tell(found);
        QVERIFY(starts(found, "your plan cannot run in the world \"Ohio lost\"; this one can in all worlds; "));
        found.rows[0].worstScenario = -1; // nor in its own
        tell(found);
        QVERIFY(starts(found, "your plan cannot run; this one can; "));
        tell(none);
        QVERIFY(has(none.summary, "; the nearest needs $20 an hour, allowed $10 in the world \"prices +30 %\""));
    }

    void theWorldOfAValueIsNamed()
    {
        SearchResult found = result();
        found.rows.push_back(feasible(2, 5));
        found.best = { 1 };
        QVERIFY(!has(searchTable(found), "world"));
        found.scenarios = { "Ohio lost", "prices +30 %" };
        found.rows[1].worstScenario = 1;
        const std::string table = searchTable(found);
        QVERIFY(has(table, "in its worst world") && has(table, "prices +30 %") && has(table, "as planned"));
        found.robustness = Robustness::Expectation;
        QVERIFY(has(searchTable(found), "mean of all worlds"));
    }
};

TRAINYARD_APPLESS_TEST(TstSearchReport)
#include "tst_search_report.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/search/search_front.h"
#include "tests/core/planner/search/small_search.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Times and prices of few values, so that many are equal; of every third nothing but bounds is known.
std::vector<SearchRow> cloud()
{
    std::vector<SearchRow> rows(300);
    std::uint32_t seed = 1;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        seed = seed * 1664525 + 1013904223;
        rows[i].number = i;
        rows[i].seconds = 1 + double((seed >> 8) % 50);
        rows[i].usdPerMillionTokens = 1 + double((seed >> 16) % 50);
        rows[i].state = RowState((seed >> 4) % 5);
        rows[i].isExact = rows[i].state == RowState::Outdone && i % 3 != 0;
        if (rows[i].state == RowState::Outdone && !rows[i].isExact)
            rows[i].usdPerMillionTokens = 0; // lanes know no prices
    }
    rows[1].state = RowState::Outdone; // exact, and its money is not told
    rows[1].isExact = true;
    rows[1].usdPerMillionTokens = 0;
    rows[1].seconds = 0.5;
    return rows;
}

/// By the definition: candidates that can run, none of which is as good in both and better in one, or equal and first.
std::vector<std::size_t> byDefinition(const std::vector<SearchRow> &rows, bool takesExact)
{
    const auto takes = [&](const SearchRow &row) {
        return row.state == RowState::Feasible || (takesExact && row.isExact && row.usdPerMillionTokens > 0);
    };
    std::vector<std::size_t> front;
    for (const SearchRow &row : rows) {
        const auto beats = [&](const SearchRow &other) {
            const bool isFirst = std::pair(other.isExact, other.number) < std::pair(row.isExact, row.number);
            return takes(other) && other.seconds <= row.seconds && other.usdPerMillionTokens <= row.usdPerMillionTokens
                && (other.seconds < row.seconds || other.usdPerMillionTokens < row.usdPerMillionTokens || isFirst);
        };
        if (takes(row) && std::ranges::none_of(rows, beats))
            front.push_back(row.number);
    }
    return front;
}

std::vector<std::size_t> sorted(std::vector<std::size_t> rows)
{
    std::ranges::sort(rows);
    return rows;
}

} // namespace

class TstSearchFront : public QObject {
    Q_OBJECT

private slots:
    void theFrontIsWhatNoneBeatsInBoth()
    {
        const std::vector<SearchRow> rows = cloud();
        const std::vector<std::size_t> front = frontOf(rows, {});
        QVERIFY(std::ranges::is_sorted(front, {}, [&](std::size_t i) { return rows[i].usdPerMillionTokens; }));
        QCOMPARE(sorted(front), byDefinition(rows, true));
        QVERIFY(std::ranges::any_of(front, [&](std::size_t i) { return rows[i].isExact; }));
    }

    /// What was outdone was not judged in scenarios: in the worst case nobody knows that it runs in all.
    void inTheWorstCaseOnlyWhatWasJudgedInAllWorldsIs()
    {
        const std::vector<SearchRow> rows = cloud();
        SearchOptions options;
        options.scenarios.push_back({ .name = "dear" });
        QCOMPARE(sorted(frontOf(rows, options)), byDefinition(rows, false));
        options.robustness = Robustness::Expectation; // asks that it runs in the plan's own world
        QCOMPARE(sorted(frontOf(rows, options)), byDefinition(rows, true));
    }

    /// By throughput what is cheaper and slower is outdone: the front has it all the same.
    void aSearchTellsOutdoneOnesOnItsFront()
    {
        SearchOptions options = asked();
        options.top = 1;
        const SearchResult result = found(small(), options);
        std::vector<std::size_t> told;
        for (std::size_t i = 0; i < result.rows.size(); ++i)
            if (result.rows[i].isOnFront)
                told.push_back(i);
        QCOMPARE(told, sorted(frontOf(result.rows, options)));
        double fastest = result.rows[told.front()].seconds;
        for (const SearchRow &row : result.rows) // every row that ran is beaten or on it
            if (row.state == RowState::Feasible || row.isExact) {
                fastest = std::min(fastest, row.seconds);
                QVERIFY(std::ranges::any_of(told, [&](std::size_t i) {
                    return result.rows[i].seconds <= row.seconds
                        && result.rows[i].usdPerMillionTokens <= row.usdPerMillionTokens;
                }));
            }
        QVERIFY(std::ranges::any_of(told, [&](std::size_t i) { return result.rows[i].seconds == fastest; }));
    }
};

TRAINYARD_GUILESS_TEST(TstSearchFront)
#include "tst_search_front.moc"

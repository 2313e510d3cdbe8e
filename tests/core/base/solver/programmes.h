#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Programmes for tests, and the cheapest values of small ones by trying all of them.

#include "core/base/solver/milp.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

namespace trainyard::test {

inline int draw(std::mt19937 &random, int low, int high)
{
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
}

/// Most value in a sack: cost -value, one row.
inline Milp knapsack(std::mt19937 &random, int things)
{
    Milp problem;
    std::vector<Milp::Term> weight;
    int all = 0;
    for (int i = 0; i < things; ++i) {
        const int heavy = draw(random, 1, 40);
        all += heavy;
        weight.push_back({ problem.column(-draw(random, 1, 60), 0, 1, true), double(heavy) });
    }
    problem.row(weight, -Milp::kInfinity, all / 2);
    return problem;
}

/// Whole columns between small bounds of either sign, rows with one side, two, or both alike.
inline Milp smallBox(std::mt19937 &random)
{
    Milp problem;
    const int columns = draw(random, 1, 4), rows = draw(random, 0, 3);
    for (int i = 0; i < columns; ++i) {
        const int low = draw(random, -3, 2);
        problem.column(draw(random, -9, 9), low, low + draw(random, 0, 4), true);
    }
    for (int i = 0; i < rows; ++i) {
        std::vector<Milp::Term> terms;
        for (int j = draw(random, 1, columns + 1); j > 0; --j) // some columns twice
            terms.push_back({ std::uint32_t(draw(random, 0, columns - 1)), double(draw(random, -5, 5)) });
        const int side = draw(random, -8, 8), kind = draw(random, 0, 3);
        problem.row(terms, kind == 1 ? -Milp::kInfinity : side,
            kind == 0       ? Milp::kInfinity
                : kind == 2 ? side + draw(random, 0, 6)
                            : side);
    }
    return problem;
}

/// The cheapest cost of all whole values between finite bounds.
inline std::optional<double> cheapest(const Milp &problem)
{
    std::optional<double> best;
    std::vector<double> values;
    for (const Milp::Column &column : problem.columns)
        values.push_back(column.low);
    for (;;) {
        double cost = 0;
        for (std::size_t i = 0; i < values.size(); ++i)
            cost += values[i] * problem.columns[i].cost;
        const bool isAllowed = std::ranges::all_of(problem.rows, [&](const Milp::Row &row) {
            double sum = 0;
            for (const Milp::Term &term : row.terms)
                sum += term.factor * values[term.column];
            return row.low <= sum && sum <= row.high;
        });
        if (isAllowed && (!best || cost < *best))
            best = cost;
        std::size_t i = 0;
        while (i < values.size() && values[i] + 1 > problem.columns[i].high) {
            values[i] = problem.columns[i].low;
            ++i;
        }
        if (i == values.size())
            return best;
        values[i] += 1;
    }
}

/// Things to be split so that both halves weigh the same in each of four ways: easy to nearly do, long to do.
inline Milp marketSplit(int things)
{
    std::mt19937 random(3);
    Milp problem;
    for (int i = 0; i < things; ++i)
        problem.column(0, 0, 1, true);
    for (int way = 0; way < 4; ++way) {
        std::vector<Milp::Term> terms;
        double all = 0;
        for (int i = 0; i < things; ++i) {
            terms.push_back({ std::uint32_t(i), double(draw(random, 0, 99)) });
            all += terms.back().factor;
        }
        terms.push_back({ problem.column(1, 0, Milp::kInfinity, false), 1 });
        terms.push_back({ problem.column(1, 0, Milp::kInfinity, false), -1 });
        problem.row(terms, std::floor(all / 2), std::floor(all / 2));
    }
    return problem;
}

} // namespace trainyard::test

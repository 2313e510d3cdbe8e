// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/solver/milp.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trainyard {

namespace {

constexpr double kTolerance = 1e-6;

} // namespace

std::uint32_t Milp::column(double cost, double low, double high, bool isWhole)
{
    columns.push_back({ cost, low, high, isWhole });
    return static_cast<std::uint32_t>(columns.size() - 1);
}

void Milp::row(std::vector<Term> terms, double low, double high)
{
    rows.push_back({ std::move(terms), low, high });
}

bool holds(const Milp &problem, const std::vector<double> &values)
{
    if (values.size() != problem.columns.size())
        return false;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Milp::Column &column = problem.columns[i];
        const double slack = kTolerance * std::max(1.0, std::abs(values[i]));
        if (!(values[i] >= column.low - slack && values[i] <= column.high + slack)
            || (column.isWhole && std::abs(values[i] - std::round(values[i])) > kTolerance))
            return false;
    }
    return std::ranges::all_of(problem.rows, [&](const Milp::Row &row) {
        double sum = 0, size = 1;
        for (const Milp::Term &term : row.terms) {
            sum += term.factor * values[term.column];
            size += std::abs(term.factor * values[term.column]);
        }
        return sum >= row.low - kTolerance * size && sum <= row.high + kTolerance * size;
    });
}

double costOf(const Milp &problem, const std::vector<double> &values)
{
    double cost = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
        cost += problem.columns[i].cost * values[i];
    return cost;
}

} // namespace trainyard

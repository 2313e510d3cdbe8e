#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Mixed-integer linear programmes, for whoever has one: minimise c·x, rows lo <= a·x <= hi, bounds, some x whole.
// Solved by COIN-OR CBC as a program of its own (Debian: coinor-cbc), which may be absent: its licence (EPL) and the
// GPL do not go together in one binary, and what runs beside can be stopped and cannot take anything down with it.

#include "core/base/error.h"

#include <limits>
#include <stop_token>
#include <string>
#include <vector>

namespace trainyard {

struct Milp {
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    struct Term {
        std::uint32_t column;
        double factor;
    };
    struct Column {
        double cost = 0, low = 0, high = kInfinity;
        bool isWhole = false;
    };
    struct Row {
        std::vector<Term> terms;
        double low = -kInfinity, high = kInfinity;
    };
    std::vector<Column> columns;
    std::vector<Row> rows;

    std::uint32_t column(double cost, double low, double high, bool isWhole);
    void row(std::vector<Term> terms, double low, double high);
};

struct MilpLimits {
    double seconds = 10;
    /// of the search: ends alike on every machine where it is reached first
    int nodes = 200000;
    /// rows that CBC adds: they raise bounds, and slow down a search that asks for any answer at all
    bool cuts = true;
    std::stop_token stop = {};
    /// a name that is looked for where programs are, or a path
    std::string program = "cbc";
};

struct MilpAnswer {
    /// empty where none was found; to eight digits, whole ones below 1e8 exactly
    std::vector<double> values;
    double cost = 0;
    /// no answer is cheaper; minus infinity where the search ended before it knew
    double bound = 0;
    /// proven
    bool isOptimal = false;
};

/// `start`: values of an answer that is known, to begin with; may be empty. No answer is dearer than one that holds.
/// The same answer each time where nodes end the search or nothing does. Blocks; any thread. What the solver writes is
/// checked against the programme before anybody sees it.
/// Errors: CannotRead where the solver is not installed, saying which package has it, or broke down; CannotWrite;
/// Cancelled; BadValue where the programme has no answer (rows that no values meet, or a cost without a bottom);
/// Internal where it is not a programme (a term of no column, not a number).
[[nodiscard]] Expected<MilpAnswer> solve(
    const Milp &problem, const MilpLimits &limits, const std::vector<double> &start = {});

/// Whether the values are in their bounds, whole where they have to be, and meet all rows, up to 1e-6 of what a row
/// adds up.
[[nodiscard]] bool holds(const Milp &problem, const std::vector<double> &values);
[[nodiscard]] double costOf(const Milp &problem, const std::vector<double> &values);

} // namespace trainyard

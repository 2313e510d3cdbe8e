// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/solver/mps_internal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace trainyard::detail {

namespace {

constexpr double kInfinite = 1e20; // and above, for a solver

void add(std::string &text, double value)
{
    std::array<char, 32> digits {};
    const auto [end, error] = std::to_chars(digits.begin(), digits.end(), value);
    text.append(digits.data(), end);
}

void add(std::string &text, std::string_view before, std::size_t number)
{
    text += before;
    text += std::to_string(number);
}

/// Rows without terms are not for a solver, and those without sides say nothing.
bool isWritten(const Milp::Row &row)
{
    return !row.terms.empty() && (row.low > -kInfinite || row.high < kInfinite);
}

struct Entry {
    std::size_t row;
    double factor;
};

/// The matrix column by column; factors of a column that a row names twice are added up.
std::vector<std::vector<Entry>> byColumn(const Milp &problem)
{
    std::vector<std::vector<Entry>> entries(problem.columns.size());
    for (std::size_t row = 0; row < problem.rows.size(); ++row)
        if (isWritten(problem.rows[row]))
            for (const Milp::Term &term : problem.rows[row].terms) {
                std::vector<Entry> &column = entries[term.column];
                if (!column.empty() && column.back().row == row)
                    column.back().factor += term.factor;
                else
                    column.push_back({ row, term.factor });
            }
    return entries;
}

char typeOf(const Milp::Row &row)
{
    if (row.low == row.high)
        return 'E';
    return row.high < kInfinite ? 'L' : 'G';
}

void addColumns(std::string &text, const Milp &problem)
{
    const auto entries = byColumn(problem);
    text += "COLUMNS\n";
    bool isWhole = false;
    std::size_t markers = 0;
    const auto mark = [&](bool whole) {
        if (whole != isWhole)
            add(text, " M", markers++), text += whole ? " 'MARKER' 'INTORG'\n" : " 'MARKER' 'INTEND'\n";
        isWhole = whole;
    };
    for (std::size_t i = 0; i < entries.size(); ++i) {
        mark(problem.columns[i].isWhole);
        add(text, " x", i); // with its cost, be it zero: a column has to be named once
        text += " cost ";
        add(text, problem.columns[i].cost);
        text += '\n';
        for (const Entry &entry : entries[i]) {
            add(text, " x", i);
            add(text, " r", entry.row);
            text += ' ';
            add(text, entry.factor);
            text += '\n';
        }
    }
    mark(false);
}

void addSides(std::string &text, const Milp &problem)
{
    const auto line = [&](std::string_view set, std::size_t row, double value) {
        add(text, set, row);
        text += ' ';
        add(text, value);
        text += '\n';
    };
    text += "RHS\n";
    for (std::size_t i = 0; i < problem.rows.size(); ++i)
        if (const Milp::Row &row = problem.rows[i]; isWritten(row))
            line(" side r", i, typeOf(row) == 'G' ? row.low : row.high);
    text += "RANGES\n";
    for (std::size_t i = 0; i < problem.rows.size(); ++i)
        if (const Milp::Row &row = problem.rows[i]; isWritten(row) && typeOf(row) == 'L' && row.low > -kInfinite)
            line(" range r", i, row.high - row.low);
}

void addBounds(std::string &text, const Milp &problem)
{
    text += "BOUNDS\n";
    const auto line = [&](std::string_view type, std::size_t column, double value) {
        add(text, type, column);
        text += ' ';
        add(text, value);
        text += '\n';
    };
    for (std::size_t i = 0; i < problem.columns.size(); ++i) {
        const auto &[cost, low, high, isWhole] = problem.columns[i];
        if (low == high) {
            line(" FX b x", i, low);
            continue;
        }
        if (low > -kInfinite)
            line(" LO b x", i, low);
        else
            add(text, " MI b x", i), text += '\n';
        if (high < kInfinite)
            line(" UP b x", i, high);
        else
            add(text, " PL b x", i), text += '\n';
    }
}

} // namespace

bool isProgramme(const Milp &problem)
{
    return std::ranges::all_of(problem.columns, [](const Milp::Column &column) {
        return std::isfinite(column.cost) && !std::isnan(column.low) && !std::isnan(column.high);
    }) && std::ranges::all_of(problem.rows, [&](const Milp::Row &row) {
        return !std::isnan(row.low) && !std::isnan(row.high)
            && std::ranges::all_of(row.terms, [&](const Milp::Term &term) {
                   return term.column < problem.columns.size() && std::isfinite(term.factor);
               });
    });
}

std::string mpsText(const Milp &problem)
{
    std::string text = "NAME programme FREE\nROWS\n N cost\n";
    for (std::size_t i = 0; i < problem.rows.size(); ++i)
        if (isWritten(problem.rows[i])) {
            text += { ' ', typeOf(problem.rows[i]) };
            add(text, " r", i);
            text += '\n';
        }
    addColumns(text, problem);
    addSides(text, problem);
    addBounds(text, problem);
    text += "ENDATA\n";
    return text;
}

std::string startText(const std::vector<double> &values, double cost)
{
    std::string text = "Stopped - objective value ";
    add(text, cost);
    text += '\n';
    for (std::size_t i = 0; i < values.size(); ++i) {
        add(text, "", i);
        add(text, " x", i);
        text += ' ';
        add(text, values[i]);
        text += " 0\n";
    }
    return text;
}

} // namespace trainyard::detail

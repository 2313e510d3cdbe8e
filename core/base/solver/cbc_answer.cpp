// SPDX-License-Identifier: GPL-3.0-or-later
// Reads what CBC 2.10 writes. "Optimal - objective value 12.0", then a line for each column that is not zero: its
// number, its name, its value to eight digits, its reduced cost; lines of rows or columns that do not hold begin with
// two asterisks.
#include "core/base/solver/mps_internal.h"

#include <array>
#include <charconv>
#include <cmath>

namespace trainyard::detail {

namespace {

std::string_view nextLine(std::string_view &text)
{
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

std::string_view nextWord(std::string_view &line)
{
    const std::size_t start = line.find_first_not_of(' ');
    if (start == std::string_view::npos)
        return {};
    line.remove_prefix(start);
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(end);
    return word;
}

template <class Number> std::optional<Number> number(std::string_view word)
{
    Number value {};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc {} || end != word.data() + word.size() || word.empty())
        return std::nullopt;
    return value;
}

std::optional<CbcStatus> statusOf(std::string_view line)
{
    struct Sentence {
        std::string_view beginning;
        CbcStatus status;
    };
    constexpr std::array sentences {
        Sentence { "Optimal - ", CbcStatus::Optimal },
        Sentence { "Optimal (", CbcStatus::Optimal }, // "(within gap tolerance) - "
        Sentence { "Infeasible - ", CbcStatus::Infeasible },
        Sentence { "Integer infeasible - ", CbcStatus::Infeasible },
        Sentence { "Unbounded - ", CbcStatus::Unbounded },
        Sentence { "Stopped on ", CbcStatus::Stopped },
    };
    for (const Sentence &sentence : sentences)
        if (line.starts_with(sentence.beginning))
            return sentence.status;
    return std::nullopt;
}

} // namespace

std::optional<CbcSolution> readSolution(std::string_view text, const Milp &problem)
{
    const std::optional<CbcStatus> status = statusOf(nextLine(text));
    if (!status)
        return std::nullopt;
    CbcSolution solution { *status, std::vector<double>(problem.columns.size()) };
    while (!text.empty()) {
        std::string_view line = nextLine(text);
        std::string_view first = nextWord(line);
        if (first == "**")
            first = nextWord(line);
        if (first.empty())
            continue;
        const auto index = number<std::size_t>(first);
        const std::string_view name = nextWord(line);
        const auto value = number<double>(nextWord(line));
        if (!index || *index >= problem.columns.size() || !value || !std::isfinite(*value)
            || name != "x" + std::to_string(*index) || !number<double>(nextWord(line)) || !nextWord(line).empty())
            return std::nullopt;
        const double whole = std::round(*value);
        const bool isWhole = problem.columns[*index].isWhole && std::abs(*value - whole) < 1e-5;
        solution.values[*index] = isWhole ? whole : *value;
    }
    return solution;
}

double readBound(std::string_view log)
{
    constexpr std::string_view title = "\nLower bound:";
    const std::size_t found = log.rfind(title);
    if (found == std::string_view::npos)
        return -Milp::kInfinity;
    std::string_view rest = log.substr(found + title.size());
    std::string_view line = nextLine(rest);
    const auto bound = number<double>(nextWord(line));
    if (!bound || !(std::abs(*bound) < 1e30))
        return -Milp::kInfinity;
    return *bound - 0.0005 - 1e-9 * std::abs(*bound); // three decimals are printed
}

} // namespace trainyard::detail

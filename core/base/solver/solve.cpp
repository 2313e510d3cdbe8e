// SPDX-License-Identifier: GPL-3.0-or-later
// Runs CBC on a programme: files in a directory of their own, one thread, seeds as they are by default, so that a
// search that nodes end is the same each time.
#include "core/base/solver/child_internal.h"
#include "core/base/solver/mps_internal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>

namespace trainyard {

namespace {

Error noAnswer(std::string what)
{
    return { ErrorCode::BadValue, "mixed-integer programme", std::move(what), {} };
}

bool write(const std::filesystem::path &path, const std::string &text)
{
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    return file.good();
}

std::optional<std::string> contents(const std::filesystem::path &path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string secondsArgument(double seconds)
{
    std::array<char, 64> digits {};
    const auto [end, error] =
        std::to_chars(digits.begin(), digits.end(), std::clamp(seconds, 0.001, 1e6), std::chars_format::fixed, 3);
    return { digits.data(), end };
}

/// What can be told without a solver: it is one, and neither bounds nor empty rows contradict themselves.
std::optional<Error> fault(const Milp &problem)
{
    if (!detail::isProgramme(problem))
        return Error { ErrorCode::Internal, "mixed-integer programme",
            "a term is of no column, or a cost, factor or bound is not a number", {} };
    for (const Milp::Column &column : problem.columns)
        if (column.low > column.high)
            return noAnswer("a column has no value between its bounds");
    for (const Milp::Row &row : problem.rows)
        if (row.low > row.high || (row.terms.empty() && (row.low > 0 || row.high < 0)))
            return noAnswer("a row has no value between its bounds");
    return std::nullopt;
}

struct Raw {
    bool isLate = false;
    std::string solution, log;
};

Expected<Raw> runCbc(const Milp &problem, const MilpLimits &limits, const std::vector<double> &start)
{
    const detail::PrivateDirectory directory;
    const std::filesystem::path &path = directory.path();
    const bool isReady = !path.empty() && write(path / "programme.mps", detail::mpsText(problem))
        && (start.empty() || write(path / "start.txt", detail::startText(start, costOf(problem, start))));
    if (!isReady)
        return std::unexpected(Error { ErrorCode::CannotWrite, "temporary files of the solver",
            "no directory for them could be made or filled", "room in the directory that TMPDIR names, or in /tmp" });
    std::vector<std::string> command { limits.program, (path / "programme.mps").string(), "-threads", "0", "-timeMode",
        "elapsed", "-sec", secondsArgument(limits.seconds), "-maxN", std::to_string(std::max(limits.nodes, 0)) };
    if (!start.empty())
        command.insert(command.end(), { "-mips", (path / "start.txt").string() });
    if (!limits.cuts)
        command.insert(command.end(), { "-cuts", "off" });
    command.insert(command.end(), { "-solve", "-solution", (path / "solution.txt").string(), "-quit" });
    // It looks at its clock now and then alone.
    const auto end = detail::runChild(command, path / "log.txt", 1.25 * std::max(limits.seconds, 0.0) + 2, limits.stop);
    if (!end && end.error().code == ErrorCode::Cancelled)
        return std::unexpected(end.error());
    if (!end)
        return std::unexpected(Error { ErrorCode::CannotRead, limits.program,
            "the solver of mixed-integer programmes cannot be run (" + end.error().what + ")",
            "COIN-OR CBC, which is in the package coinor-cbc of Debian and Ubuntu: apt install coinor-cbc" });
    const auto solution = contents(path / "solution.txt");
    if (!end->isLate && (end->exitCode != 0 || !solution))
        return std::unexpected(Error { ErrorCode::CannotRead, limits.program,
            "the solver of mixed-integer programmes broke down before it had written an answer",
            "COIN-OR CBC 2.10, as in the package coinor-cbc" });
    return Raw { end->isLate, end->isLate ? std::string() : *solution,
        contents(path / "log.txt").value_or(std::string()) };
}

} // namespace

Expected<MilpAnswer> solve(const Milp &problem, const MilpLimits &limits, const std::vector<double> &start)
{
    if (const auto error = fault(problem))
        return std::unexpected(*error);
    if (problem.columns.empty())
        return MilpAnswer { {}, 0, 0, true };
    const bool isStarted = holds(problem, start);
    const auto raw = runCbc(problem, limits, isStarted ? start : std::vector<double> {});
    if (!raw)
        return std::unexpected(raw.error());
    MilpAnswer answer { .bound = -Milp::kInfinity };
    if (isStarted)
        answer.values = start, answer.cost = costOf(problem, start);
    if (raw->isLate)
        return answer;
    const auto solution = detail::readSolution(raw->solution, problem);
    if (!solution)
        return std::unexpected(
            Error { ErrorCode::CannotRead, limits.program, "what the solver wrote is not an answer to this programme",
                "COIN-OR CBC 2.10, as in the package coinor-cbc" });
    if (solution->status == detail::CbcStatus::Infeasible)
        return std::unexpected(noAnswer("no values meet all of its rows"));
    if (solution->status == detail::CbcStatus::Unbounded)
        return std::unexpected(noAnswer("its cost has no bottom"));
    const bool isProven = solution->status == detail::CbcStatus::Optimal;
    const bool doesHold = holds(problem, solution->values);
    if (isProven && !doesHold)
        return std::unexpected(Error { ErrorCode::CannotRead, limits.program,
            "the solver's answer does not meet the rows of the programme", "factors of closer sizes" });
    const double cost = costOf(problem, solution->values);
    if (doesHold && (answer.values.empty() || cost < answer.cost))
        answer.values = solution->values, answer.cost = cost;
    answer.isOptimal = isProven;
    answer.bound = isProven ? answer.cost : detail::readBound(raw->log);
    if (!answer.values.empty())
        answer.bound = std::min(answer.bound, answer.cost);
    return answer;
}

} // namespace trainyard

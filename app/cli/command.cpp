// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"

#include "core/base/output_file.h"
#include "core/base/printable.h"
#include "core/facts/plan/plan_io.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <unistd.h>

namespace trainyard::cli {

namespace {

constexpr const char *kStandardInput = "stdin";

std::string label(const std::string &path)
{
    return path == "-" ? kStandardInput : path;
}

/// A packed file is no plan: whoever names a recording where the plan goes hears so.
bool isPacked(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    char head[2] {};
    return file.read(head, 2) && head[0] == '\x1f' && head[1] == '\x8b';
}

ExpectedAll<Plan> readAny(const std::string &path)
{
    if (path != "-") {
        auto plan = readPlan(path, FileKinds::StreamsToo);
        std::error_code ignored;
        if (!plan && std::filesystem::is_regular_file(path, ignored) && isPacked(path))
            return std::unexpected(Errors {
                { ErrorCode::BadSyntax, path, "it is packed, as a recording of a run or a trace is, and no plan",
                    "a plan (*.trainyard.json) in its "
                    "place" } });
        return plan;
    }
    const auto text = readStandardInput(kPlanFile);
    if (!text)
        return std::unexpected(Errors { text.error() });
    std::error_code ignored;
    return parsePlan(*text, kStandardInput, std::filesystem::current_path(ignored).string());
}

} // namespace

ExpectedAll<Plan> withSettings(Plan plan, const std::vector<std::string> &settings)
{
    Errors errors;
    std::vector<KeySetting> told;
    for (const std::string &setting : settings) {
        const std::size_t equals = setting.find('=');
        if (equals == std::string::npos || equals == 0)
            errors.push_back({ ErrorCode::BadValue, "--set " + setting, "is not KEY=VALUE",
                "for example --set parallelism.pipeline=8" });
        else
            told.push_back({ setting.substr(0, equals), setting.substr(equals + 1) });
    }
    // All at once: keys may only fit each other together.
    ExpectedAll<Plan> next = told.empty() ? std::move(plan) : withKeysSet(plan, told);
    for (Error &error : next ? Errors {} : std::move(next.error())) {
        if (!error.where.starts_with("--set"))
            error.where = "--set" + (error.where.empty() ? "" : " " + error.where);
        errors.push_back(std::move(error));
    }
    if (!errors.empty())
        return std::unexpected(errors);
    return next;
}

void addSetOption(const Subcommand &command, std::vector<std::string> &settings)
{
    command.texts("--set", settings, "Set a dotted key of the plan first, e.g. memory.recompute=full; may be repeated")
        .shownAs("KEY=VALUE")
        .oneEach();
}

void addFormatOption(const Subcommand &command, std::string &format, const std::vector<std::string> &allowed)
{
    format = allowed.front();
    command.text("--format", format, "How to print the answer").oneOf(allowed).showingDefault();
}

ExpectedAll<PlanPtr> loadPlan(const std::string &path, const std::vector<std::string> &settings)
{
    ExpectedAll<Plan> plan = readAny(path);
    if (plan)
        plan = withSettings(std::move(*plan), settings);
    if (!plan)
        return std::unexpected(plan.error());
    return std::make_shared<const Plan>(std::move(*plan));
}

namespace {

/// "cluster.datacenters[0].id" as the JSON pointer "/cluster/datacenters/0/id".
std::string pointerOf(const std::string &dottedKey)
{
    std::string pointer = "/";
    for (const char c : dottedKey) {
        if (c == '.' || c == '[')
            pointer += '/';
        else if (c != ']')
            pointer += c;
    }
    return pointer;
}

/// Whether the fault lies in another file that the plan names: its `where` is then a file with a line or a pointer.
bool isInOtherFile(const Error &error)
{
    return error.code == ErrorCode::CannotRead || error.code == ErrorCode::BadSyntax
        || error.where.find_first_of(":/\\") != std::string::npos;
}

} // namespace

ExpectedAll<EvaluationPtr> evaluateFile(const std::string &path, const std::vector<std::string> &settings, Depth depth)
{
    const ExpectedAll<PlanPtr> plan = loadPlan(path, settings);
    if (!plan)
        return std::unexpected(plan.error());
    return evaluateLoaded(*plan, path, depth);
}

ExpectedAll<EvaluationPtr> evaluateLoaded(const PlanPtr &plan, const std::string &path, Depth depth)
{
    EvaluationWorkspace workspace;
    ExpectedAll<EvaluationPtr> evaluation = evaluate(plan, builtinCatalogue(), workspace, {}, depth);
    if (!evaluation)
        return std::unexpected(inFile(std::move(evaluation.error()), path));
    return evaluation;
}

Errors inFile(Errors errors, const std::string &path)
{
    for (Error &error : errors)
        if (!isInOtherFile(error))
            error.where = label(path) + (error.where.empty() ? "" : ": " + pointerOf(error.where));
    return errors;
}

Plan renamed(Plan plan, std::string_view how)
{
    const std::string made = ", " + std::string(how);
    if (!plan.name.empty() && !plan.name.ends_with(made))
        plan.name += made;
    return plan;
}

Errors refusedForJobs(const Plan &plan, const std::string &path, const std::string &about)
{
    if (!hasJobs(plan))
        return {};
    return inFile({ { ErrorCode::BadValue, plan.jobs.empty() ? "job_grid" : "jobs",
                      about + " one model's iteration, and this plan trains jobs",
                      "a plan without jobs; `explain` compares what could be done with these" } },
        path);
}

namespace {

constexpr std::size_t kMostFaults = 100;

/// What was read may be quoted at any length; a message tells begin and end of it.
Error inLength(Error error)
{
    error.where = shortened(error.where, 400);
    error.what = shortened(error.what, 400);
    error.right = shortened(error.right, 600);
    return error;
}

} // namespace

std::string displayName(const Plan &plan, const std::string &path)
{
    return plan.name.empty() ? label(path) : plan.name;
}

int fail(const Errors &errors)
{
    bool isInternal = errors.empty();
    for (std::size_t i = 0; i < errors.size(); ++i) {
        isInternal |= errors[i].code == ErrorCode::Internal;
        if (i < kMostFaults)
            std::cerr << toString(inLength(errors[i])) << '\n';
    }
    if (errors.size() > kMostFaults)
        std::cerr << "and " << errors.size() - kMostFaults << " more\n";
    return isInternal ? kInternal : kBadInput;
}

int print(const std::string &text, const std::string &format)
{
    // JSON has its own escapes. A CSV file keeps its bytes, unless it goes to a terminal.
    const bool isForPeople = format != "json" && (format != "csv" || ::isatty(STDOUT_FILENO) == 1);
    const std::string shown = isForPeople ? printable(text, LineBreaks::Kept) : text;
    const Expected<void> written = writeOutputFile("-", [&](std::ostream &out) { out << shown; });
    return written ? kDone : fail({ written.error() });
}

} // namespace trainyard::cli

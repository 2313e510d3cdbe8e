// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/progress.h"
#include "app/cli/signals.h"

#include "core/evaluation/validation/validation_report.h"

#include <algorithm>
#include <iostream>

namespace trainyard::cli {

namespace {

struct ValidateOptions {
    std::vector<std::string> sources, files;
    std::string role, format;
};

std::vector<std::string> sourceNames(const std::vector<RowSet> &sets)
{
    std::vector<std::string> names;
    for (const RowSet &set : sets) {
        if (std::ranges::find(names, set.source) == names.end())
            names.push_back(set.source);
    }
    return names;
}

ExpectedAll<std::vector<RowSet>> readAll(const std::vector<std::string> &files)
{
    if (files.empty())
        return builtinRows();
    std::vector<RowSet> sets;
    Errors errors;
    for (const std::string &file : files) {
        ExpectedAll<RowSet> set = readRows(file, FileKinds::StreamsToo);
        if (set)
            sets.push_back(std::move(*set));
        else
            errors.insert(errors.end(), set.error().begin(), set.error().end());
    }
    if (!errors.empty())
        return std::unexpected(std::move(errors));
    return sets;
}

Errors unknownSources(const std::vector<std::string> &wanted, const std::vector<std::string> &names)
{
    Errors errors;
    for (const std::string &source : wanted) {
        if (std::ranges::find(names, source) != names.end())
            continue;
        std::string right = nearestName(source, names);
        if (right.empty()) {
            for (const std::string &name : names)
                right += (right.empty() ? "one of " : ", ") + name;
        }
        errors.push_back({ ErrorCode::UnknownName, "--source " + source, "no rows are from this source", right });
    }
    return errors;
}

/// Keeps the rows that were asked for.
void filter(std::vector<RowSet> &sets, const ValidateOptions &options)
{
    std::erase_if(sets, [&](const RowSet &set) {
        return !options.sources.empty() && std::ranges::find(options.sources, set.source) == options.sources.end();
    });
    for (RowSet &set : sets)
        std::erase_if(set.rows,
            [&](const ValidationRow &row) { return !options.role.empty() && options.role != toString(row.role); });
}

std::string text(const Validation &validation, const ValidateOptions &options)
{
    if (options.format == "json")
        return validationJson(validation);
    if (options.format == "csv")
        return validationCsv(validation);
    if (options.format == "markdown")
        return validationMarkdown(
            validation, options.files.empty() && options.sources.empty() ? leftOutRows() : std::vector<LeftOutRow>());
    return validationTable(validation, !options.sources.empty() || !options.files.empty());
}

RowsOrigin origin(const ValidateOptions &options)
{
    if (!options.files.empty())
        return RowsOrigin::Own;
    return options.sources.empty() && options.role.empty() ? RowsOrigin::Builtin : RowsOrigin::SomeBuiltin;
}

int runValidate(const ValidateOptions &options)
{
    ExpectedAll<std::vector<RowSet>> sets = readAll(options.files);
    if (!sets)
        return fail(sets.error());
    if (const Errors errors = unknownSources(options.sources, sourceNames(*sets)); !errors.empty())
        return fail(errors);
    filter(*sets, options);
    if (std::ranges::all_of(*sets, [](const RowSet &set) { return set.rows.empty(); }))
        return fail({ { ErrorCode::BadValue, options.files.empty() ? "--source, --role" : "--rows",
            "no row is left to compare", "a file with rows, or fewer filters" } });
    Interruption interruption;
    Progress progress("rows");
    ValidationRun run = runRows(*sets, builtinCatalogue(),
        { .stop = interruption.token(),
            .progress = [&](std::size_t done, std::size_t all) { progress.show(done, all); } });
    progress.clear();
    const bool isComplete = run.isComplete;
    std::vector<LabelCoverage> coverage = coverageOf(run, origin(options), builtinCatalogue(), interruption.token());
    const bool isAnyPredicted =
        std::ranges::any_of(run.results, [](const ValidationResult &r) { return r.predicted.has_value(); });
    const int printed =
        print(text(summarised(*sets, std::move(run), builtinGates(), std::move(coverage)), options), options.format);
    if (printed != kDone)
        return printed;
    if (isComplete)
        return isAnyPredicted ? kDone : kInfeasible;
    std::cerr << "stopped: the rows that were done are printed\n";
    return kInterrupted;
}

} // namespace

void addValidateCommand(CLI::App &app, int &exitCode)
{
    const auto options = std::make_shared<ValidateOptions>();
    const Subcommand command(app, "validate", "Compare the model with published measurements, row by row");
    command.texts("--source", options->sources, "Only rows of this source; may be repeated").shownAs("NAME").oneEach();
    command.texts("--rows", options->files, "Rows of your own instead of the built-in ones").shownAs("FILE...");
    command.text("--role", options->role, "Only rows that parameters were fitted to (fit) or never (test)")
        .oneOf({ "fit", "test" });
    addFormatOption(command, options->format, { "table", "json", "csv", "markdown" });
    command.callback([options, &exitCode] { exitCode = runValidate(*options); });
}

} // namespace trainyard::cli

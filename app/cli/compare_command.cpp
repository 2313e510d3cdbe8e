// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"

#include "core/evaluation/report/comparison.h"

#include <algorithm>

namespace trainyard::cli {

namespace {

struct CompareOptions {
    std::vector<std::string> plans, settings;
    std::string format;
};

int runCompare(const CompareOptions &options)
{
    Errors errors;
    if (std::count(options.plans.begin(), options.plans.end(), "-") > 1)
        return fail(
            { { ErrorCode::BadValue, "-", "standard input can be only one of the plans", "one - among the plans" } });
    std::vector<NamedEvaluation> plans;
    for (const std::string &path : options.plans) {
        const auto evaluation = evaluateFile(path, options.settings, Depth::Everything);
        if (evaluation)
            plans.push_back({ displayName(*(*evaluation)->plan, path), path, *evaluation });
        else
            errors.insert(errors.end(), evaluation.error().begin(), evaluation.error().end());
    }
    if (!errors.empty())
        return fail(errors);
    return print(options.format == "json" ? comparisonJson(plans)
            : options.format == "csv"     ? comparisonCsv(plans)
                                          : comparisonTable(plans),
        options.format);
}

} // namespace

void addCompareCommand(CLI::App &app, int &exitCode)
{
    const auto options = std::make_shared<CompareOptions>();
    const Subcommand command(app, "compare", "Evaluate several plans and print them side by side, against the first");
    command.texts("PLAN", options->plans, "Two or more plan files; one may be -").required().times(2, 1000);
    addSetOption(command, options->settings);
    addFormatOption(command, options->format, { "table", "json", "csv" });
    command.callback([options, &exitCode] { exitCode = runCompare(*options); });
}

} // namespace trainyard::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"

#include "core/evaluation/report/comparison.h"
#include "core/facts/session/session_io.h"

#include <algorithm>
#include <iterator>

namespace trainyard::cli {

namespace {

struct CompareOptions {
    std::vector<std::string> plans, settings;
    std::string format;
};

using NamedPlans = std::vector<NamedEvaluation>;

/// Every variant, the baseline first, then as on the board.
ExpectedAll<NamedPlans> evaluateSession(const std::string &path, const std::vector<std::string> &settings)
{
    auto session = readSession(path);
    if (!session)
        return std::unexpected(std::move(session.error()));
    std::ranges::stable_partition(
        session->variants, [&](const Variant &variant) { return variant.id == session->baseline; });
    NamedPlans plans;
    Errors errors;
    for (const Variant &variant : session->variants) {
        const std::string where = path + ", " + variant.name;
        auto plan = withSettings(*variant.plan, settings);
        if (!plan)
            return std::unexpected(std::move(plan.error())); // of the settings, as for every other variant
        const auto evaluation =
            evaluateLoaded(std::make_shared<const Plan>(std::move(*plan)), where, Depth::Everything);
        if (evaluation)
            plans.push_back({ variant.name, where, *evaluation });
        else
            errors.insert(errors.end(), evaluation.error().begin(), evaluation.error().end());
    }
    if (!errors.empty())
        return std::unexpected(std::move(errors));
    return plans;
}

ExpectedAll<NamedPlans> evaluateOne(const std::string &path, const std::vector<std::string> &settings)
{
    if (isSessionPath(path))
        return evaluateSession(path, settings);
    const auto evaluation = evaluateFile(path, settings, Depth::Everything);
    if (!evaluation)
        return std::unexpected(evaluation.error());
    return NamedPlans { { displayName(*(*evaluation)->plan, path), path, *evaluation } };
}

int runCompare(const CompareOptions &options)
{
    Errors errors;
    if (std::count(options.plans.begin(), options.plans.end(), "-") > 1)
        return fail(
            { { ErrorCode::BadValue, "-", "standard input can be only one of the plans", "one - among the plans" } });
    NamedPlans plans;
    for (const std::string &path : options.plans) {
        auto found = evaluateOne(path, options.settings);
        if (found)
            std::ranges::move(*found, std::back_inserter(plans));
        else
            std::ranges::move(found.error(), std::back_inserter(errors));
    }
    if (errors.empty() && plans.size() < 2)
        errors.push_back({ ErrorCode::BadValue, options.plans.front(), "one plan alone has nothing to be compared with",
            "two plans or more, or a session with two variants or more" });
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
    command
        .texts("PLAN|SESSION", options->plans,
            "Two or more plan files, of which one may be -; a session stands for its variants, the baseline first")
        .required()
        .times(1, 1000);
    addSetOption(command, options->settings);
    addFormatOption(command, options->format, { "table", "json", "csv" });
    command.callback([options, &exitCode] { exitCode = runCompare(*options); });
}

} // namespace trainyard::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/outputs.h"

#include "core/base/output_file.h"
#include "core/evaluation/report/comparison.h"
#include "core/evaluation/report/timeline_comparison.h"
#include "core/facts/session/session_io.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

namespace trainyard::cli {

namespace {

struct CompareOptions {
    std::vector<std::string> plans, settings, variants;
    std::string format, timeline, range;
};

using NamedPlans = std::vector<NamedEvaluation>;

/// The variants of these names or ids, in the order in which they are named.
ExpectedAll<std::vector<Variant>> namedVariants(const Session &session, const CompareOptions &options)
{
    std::vector<Variant> found;
    Errors errors;
    std::string known;
    for (const Variant &variant : session.variants)
        known += (known.empty() ? "" : ", ") + variant.name;
    for (const std::string &name : options.variants) {
        const auto isNamed = [&](const Variant &variant) { return variant.name == name || variant.id == name; };
        const auto at = std::ranges::find_if(session.variants, isNamed);
        if (at == session.variants.end())
            errors.push_back({ ErrorCode::UnknownName, "--variant " + name, "no variant has this name", known });
        else if (std::ranges::count_if(session.variants, isNamed) > 1)
            errors.push_back(
                { ErrorCode::BadValue, "--variant " + name, "several variants have this name", "the id of one" });
        else
            found.push_back(*at);
    }
    if (!errors.empty())
        return std::unexpected(std::move(errors));
    return found;
}

/// Every variant, the baseline first, then as on the board; or those that are named.
ExpectedAll<NamedPlans> evaluateSession(const std::string &path, const CompareOptions &options)
{
    const std::vector<std::string> &settings = options.settings;
    auto session = readSession(path);
    if (!session)
        return std::unexpected(std::move(session.error()));
    std::ranges::stable_partition(
        session->variants, [&](const Variant &variant) { return variant.id == session->baseline; });
    if (!options.variants.empty()) {
        auto named = namedVariants(*session, options);
        if (!named)
            return std::unexpected(std::move(named.error()));
        session->variants = *std::move(named);
    }
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

ExpectedAll<NamedPlans> evaluateOne(const std::string &path, const CompareOptions &options)
{
    if (isSessionPath(path))
        return evaluateSession(path, options);
    const auto evaluation = evaluateFile(path, options.settings, Depth::Everything);
    if (!evaluation)
        return std::unexpected(evaluation.error());
    return NamedPlans { { displayName(*(*evaluation)->plan, path), path, *evaluation } };
}

/// Seconds from the start of an iteration: "1.5..2", "..2", "1.5..".
Expected<TimeWindow> windowOf(const std::string &text)
{
    TimeWindow window;
    if (text.empty())
        return window;
    const std::size_t dots = text.find("..");
    const auto seconds = [&](std::size_t first, std::size_t count) -> std::optional<double> {
        const std::string part = text.substr(first, count);
        double value = 0;
        const auto [end, fault] = std::from_chars(part.data(), part.data() + part.size(), value);
        return fault == std::errc() && end == part.data() + part.size() && value >= 0 ? std::optional(value)
                                                                                      : std::nullopt;
    };
    bool isRead = dots != std::string::npos && text.size() > 2;
    if (isRead && dots > 0) {
        const auto from = seconds(0, dots);
        isRead = from.has_value();
        window.from = toNanoseconds(Seconds { from.value_or(0) });
    }
    if (isRead && dots + 2 < text.size()) {
        const auto to = seconds(dots + 2, std::string::npos);
        isRead = to.has_value();
        window.to = toNanoseconds(Seconds { to.value_or(0) });
    }
    if (!isRead || window.from >= window.to)
        return std::unexpected(Error { ErrorCode::BadValue, "--range " + text, "is no range of time",
            "seconds from the start of the iteration, the smaller first: 1.5..2, ..2 or 1.5.." });
    return window;
}

/// What of the options does not go together; before anything is evaluated.
Errors comparisonFaults(const CompareOptions &options)
{
    const bool hasSession = std::ranges::any_of(options.plans, isSessionPath);
    Errors errors = outputClashes({ { "--timeline", options.timeline } }, options.plans);
    if (!options.range.empty() && options.timeline.empty())
        errors.push_back({ ErrorCode::BadValue, "--range", "is about the page of --timeline alone",
            "--timeline OUT.html beside it" });
    if (auto window = windowOf(options.range); !window)
        errors.push_back(window.error());
    if (!options.variants.empty() && !hasSession)
        errors.push_back({ ErrorCode::BadValue, "--variant", "is about the variants of a session, and none is named",
            "a file that ends in .trainyard-session" });
    return errors;
}

/// The page of --timeline, where it is asked for.
Errors writeTimeline(const CompareOptions &options, const NamedPlans &plans)
{
    if (options.timeline.empty())
        return {};
    if (plans.size() != 2)
        return { { ErrorCode::BadValue, "--timeline",
            "sets two plans beside each other, and " + std::to_string(plans.size()) + " are named",
            "two plan files, or --variant NAME twice for two variants of a session" } };
    Errors errors;
    for (const NamedEvaluation &plan : plans) {
        const Errors clashes =
            outputClashes({ { "--timeline", options.timeline } }, filesNamedIn(*plan.evaluation->plan));
        errors.insert(errors.end(), clashes.begin(), clashes.end());
    }
    if (!errors.empty())
        return errors;
    const auto written = writeOutputFile(options.timeline,
        [&](std::ostream &out) { out << timelineComparison(plans[0], plans[1], *windowOf(options.range)); });
    return written ? Errors {} : Errors { written.error() };
}

int runCompare(const CompareOptions &options)
{
    Errors errors = comparisonFaults(options);
    if (!errors.empty())
        return fail(errors);
    if (std::count(options.plans.begin(), options.plans.end(), "-") > 1)
        return fail(
            { { ErrorCode::BadValue, "-", "standard input can be only one of the plans", "one - among the plans" } });
    NamedPlans plans;
    for (const std::string &path : options.plans) {
        auto found = evaluateOne(path, options);
        if (found)
            std::ranges::move(*found, std::back_inserter(plans));
        else
            std::ranges::move(found.error(), std::back_inserter(errors));
    }
    if (errors.empty() && plans.size() < 2)
        errors.push_back({ ErrorCode::BadValue, options.plans.front(), "one plan alone has nothing to be compared with",
            "two plans or more, or a session with two variants or more" });
    if (errors.empty())
        errors = writeTimeline(options, plans);
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
    command
        .texts("--variant", options->variants,
            "Of a session only this variant, by name or id, in the order named; may be repeated")
        .oneEach()
        .shownAs("NAME");
    command
        .text("--timeline", options->timeline,
            "Also write a page with the timelines of two plans under one axis and what differs: one self-contained "
            ".html")
        .shownAs("OUT.html");
    command.text("--range", options->range, "Of --timeline only this part of the iteration, in seconds from its start")
        .shownAs("FROM..TO");
    addSetOption(command, options->settings);
    addFormatOption(command, options->format, { "table", "json", "csv" });
    command.callback([options, &exitCode] { exitCode = runCompare(*options); });
}

} // namespace trainyard::cli

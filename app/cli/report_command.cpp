// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/outputs.h"
#include "app/cli/pdf_report.h"

#include "core/base/output_file.h"
#include "core/evaluation/report/html_report.h"
#include "core/evaluation/report/markdown_report.h"
#include "core/evaluation/report/useful_parts.h"
#include "core/facts/catalogue/catalogue.h"

namespace trainyard::cli {

namespace {

struct ReportOptions {
    std::vector<std::string> plans, settings;
    std::string out;
};

int runReport(const ReportOptions &options)
{
    const bool isHtml = options.out.ends_with(".html") || options.out.ends_with(".htm");
    const bool isMarkdown = options.out.ends_with(".md"), isPdf = options.out.ends_with(".pdf");
    if (!isHtml && !isMarkdown && !isPdf)
        return fail({ { ErrorCode::BadValue, options.out, "is not a kind of report that this version writes",
            "a name that ends in .html, .pdf or .md" } });
    if (isPdf && options.plans.size() > 1)
        return fail({ { ErrorCode::BadValue, options.out,
            "a PDF is about one plan, and " + std::to_string(options.plans.size()) + " are named",
            "one plan, or a name that ends in .html" } });
    Errors errors = outputClashes({ { "--out", options.out } }, options.plans);
    if (!errors.empty())
        return fail(errors);
    std::vector<NamedEvaluation> plans;
    for (const std::string &path : options.plans) {
        const auto evaluation = evaluateFile(path, options.settings);
        const Errors faults = evaluation
            ? outputClashes({ { "--out", options.out } }, filesNamedIn(*(*evaluation)->plan))
            : evaluation.error();
        errors.insert(errors.end(), faults.begin(), faults.end());
        if (evaluation)
            plans.push_back({ displayName(*(*evaluation)->plan, path), path, *evaluation,
                isPdf ? std::vector<PartEffect> {} : usefulParts(**evaluation, builtinCatalogue()) });
    }
    if (!errors.empty())
        return fail(errors);
    if (isPdf) {
        const auto written = writePdfReport(*plans.front().evaluation, options.out);
        return written ? kDone : fail({ written.error() });
    }
    const auto written = writeOutputFile(
        options.out, [&](std::ostream &out) { out << (isHtml ? htmlReport(plans) : markdownReport(plans)); });
    return written ? kDone : fail({ written.error() });
}

} // namespace

void addReportCommand(CLI::App &app, int &exitCode)
{
    const auto options = std::make_shared<ReportOptions>();
    const Subcommand command(app, "report", "Write a page about one plan, or about several against the first");
    command.texts("PLAN", options->plans, "Plan files; one may be -").required();
    command
        .text("--out", options->out,
            "Page to write: one self-contained .html, .pdf (of one plan; made by the program trainyard), or .md")
        .required()
        .shownAs("OUT.html|OUT.pdf|OUT.md");
    addSetOption(command, options->settings);
    command.callback([options, &exitCode] { exitCode = runReport(*options); });
}

} // namespace trainyard::cli

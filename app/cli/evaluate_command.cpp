// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/idle_settings.h"
#include "app/cli/outputs.h"

#include "core/base/output_file.h"
#include "core/evaluation/report/chrome_trace.h"
#include "core/evaluation/report/job_csv.h"
#include "core/evaluation/report/markdown_report.h"
#include "core/evaluation/report/metrics_json.h"
#include "core/evaluation/report/metrics_table.h"
#include "core/evaluation/report/timeline_csv.h"

namespace trainyard::cli {

namespace {

struct EvaluateOptions {
    std::string plan, format, trace, timeline;
    std::vector<std::string> settings;
    bool requireFeasible = false;
};

std::string inFormat(const EvaluateOptions &options, const EvaluationPtr &evaluation)
{
    const std::vector<NamedEvaluation> plans { { displayName(*evaluation->plan, options.plan), options.plan,
        evaluation } };
    if (options.format == "json")
        return metricsJson(*evaluation);
    if (options.format == "csv")
        return evaluation->metrics.jobs ? jobsCsv(*evaluation) : comparisonCsv(plans);
    return options.format == "md" ? markdownReport(plans) : metricsTable(*evaluation);
}

int runEvaluate(const EvaluateOptions &options)
{
    const std::vector<NamedFile> outputs { { "--trace", options.trace }, { "--timeline", options.timeline } };
    if (const Errors clashes = outputClashes(outputs, { options.plan }); !clashes.empty())
        return fail(clashes);
    const auto plans = loadSetPlan(options.plan, options.settings);
    if (!plans)
        return fail(plans.error());
    const auto evaluated = evaluateLoaded(plans->set, options.plan, Depth::Everything);
    if (!evaluated)
        return fail(evaluated.error());
    const EvaluationPtr evaluation = withIdleNotes(*evaluated, plans->written);
    const Evaluation &result = *evaluation;
    if (const Errors clashes = outputClashes(outputs, filesNamedIn(*result.plan)); !clashes.empty())
        return fail(clashes);
    if (!options.trace.empty()) {
        const auto written = writeOutputFile(options.trace, [&](std::ostream &out) { writeChromeTrace(result, out); });
        if (!written)
            return fail({ written.error() });
    }
    if (!options.timeline.empty()) {
        const auto written =
            writeOutputFile(options.timeline, [&](std::ostream &out) { writeTimelineCsv(result, out); });
        if (!written)
            return fail({ written.error() });
    }
    const int printed = print(inFormat(options, evaluation), options.format);
    if (printed == kDone && options.requireFeasible && !result.feasible())
        return kInfeasible;
    return printed;
}

} // namespace

void addEvaluateCommand(CLI::App &app, int &exitCode)
{
    const auto options = std::make_shared<EvaluateOptions>();
    const Subcommand command(
        app, "evaluate", "Simulate one training iteration of a plan, or all of its jobs, and print metrics");
    command.text("PLAN", options->plan, "Plan file, or - for standard input").required();
    addSetOption(command, options->settings);
    addFormatOption(command, options->format, { "table", "json", "csv", "md" });
    command.text("--trace", options->trace, "Also write the timeline as a Chrome trace").shownAs("OUT.json");
    command.text("--timeline", options->timeline, "Also write the timeline as a table").shownAs("OUT.csv");
    command.flag("--require-feasible", options->requireFeasible,
        "Exit with 1 where the plan does not fit or cannot be placed; of a plan with jobs, where none of them can run");
    command.callback([options, &exitCode] { exitCode = runEvaluate(*options); });
}

} // namespace trainyard::cli

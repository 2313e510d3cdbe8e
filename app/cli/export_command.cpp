// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/outputs.h"

#include "core/base/output_file.h"
#include "core/report/chrome_trace.h"
#include "core/report/timeline_csv.h"

namespace trainyard::cli {

namespace {

struct Options {
    std::string plan, to, out = "-";
    std::vector<std::string> settings;
};

int run(const Options &options)
{
    if (const Errors clashes = outputClashes({ { "--out", options.out } }, { options.plan }); !clashes.empty())
        return fail(clashes);
    const auto evaluation = evaluateFile(options.plan, options.settings);
    if (!evaluation)
        return fail(evaluation.error());
    if (const Errors clashes = outputClashes({ { "--out", options.out } }, filesNamedIn(*(*evaluation)->plan));
        !clashes.empty())
        return fail(clashes);
    const auto written = writeOutputFile(options.out, [&](std::ostream &out) {
        if (options.to == "csv")
            writeTimelineCsv(**evaluation, out);
        else
            writeChromeTrace(**evaluation, out);
    });
    return written ? kDone : fail({ written.error() });
}

} // namespace

void addExportCommand(CLI::App &app, int &exitCode)
{
    const auto options = std::make_shared<Options>();
    const Subcommand command(app, "export", "Write the timeline of a plan for other tools");
    command.text("PLAN", options->plan, "Plan file, or - for standard input").required();
    command.text("--to", options->to, "chrome-trace for ui.perfetto.dev, csv for spreadsheets")
        .required()
        .oneOf({ "chrome-trace", "csv" });
    command.text("--out", options->out, "File to write; standard output without it").shownAs("PATH");
    addSetOption(command, options->settings);
    command.callback([options, &exitCode] { exitCode = run(*options); });
}

} // namespace trainyard::cli

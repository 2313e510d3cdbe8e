// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/outputs.h"

#include "core/report/chrome_trace.h"
#include "core/base/output_file.h"
#include "core/report/timeline_csv.h"

#include <CLI/CLI.hpp>

namespace trainyard::cli {

namespace {

struct Options {
    std::string plan, to, out = "-";
    std::vector<std::string> settings;
};

int run(const Options &options)
{
    if (const Errors clashes = outputClashes({{"--out", options.out}}, {options.plan}); !clashes.empty())
        return fail(clashes);
    const auto evaluation = evaluateFile(options.plan, options.settings);
    if (!evaluation)
        return fail(evaluation.error());
    if (const Errors clashes = outputClashes({{"--out", options.out}}, filesNamedIn(*(*evaluation)->plan)); !clashes.empty())
        return fail(clashes);
    const auto written = writeOutputFile(options.out, [&](std::ostream &out) {
        if (options.to == "csv")
            writeTimelineCsv(**evaluation, out);
        else
            writeChromeTrace(**evaluation, out);
    });
    return written ? kDone : fail({written.error()});
}

} // namespace

void addExportCommand(CLI::App &app, int &exitCode)
{
    const auto options = std::make_shared<Options>();
    CLI::App *command = app.add_subcommand("export", "Write the timeline of a plan for other tools");
    command->add_option("PLAN", options->plan, "Plan file, or - for standard input")->required();
    command->add_option("--to", options->to, "chrome-trace for ui.perfetto.dev, csv for spreadsheets")
        ->required()
        ->check(CLI::IsMember({"chrome-trace", "csv"}));
    command->add_option("--out", options->out, "File to write; standard output without it")->option_text("PATH");
    addSetOption(*command, options->settings);
    command->callback([options, &exitCode] { exitCode = run(*options); });
}

} // namespace trainyard::cli

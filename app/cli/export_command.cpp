// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/outputs.h"

#include "core/base/output_file.h"
#include "core/base/printable.h"
#include "core/evaluation/report/chrome_trace.h"
#include "core/evaluation/report/timeline_csv.h"
#include "core/runs/launch/launch.h"

#include <algorithm>
#include <iostream>
#include <utility>

namespace trainyard::cli {

namespace {

constexpr std::pair<const char *, LaunchTarget> kLaunches[] { { "megatron", LaunchTarget::Megatron },
    { "torchtitan", LaunchTarget::Torchtitan }, { "slurm", LaunchTarget::Slurm },
    { "deepspeed", LaunchTarget::DeepSpeed }, { "megatron-bridge", LaunchTarget::MegatronBridge },
    { "trainjob", LaunchTarget::TrainJob }, { "jobset", LaunchTarget::JobSet },
    { "skypilot", LaunchTarget::SkyPilot } };

struct ExportOptions {
    std::string plan, to, out = "-";
    std::vector<std::string> settings;
};

int runExport(const ExportOptions &options)
{
    if (const Errors clashes = outputClashes({ { "--out", options.out } }, { options.plan }); !clashes.empty())
        return fail(clashes);
    const bool isLaunch = std::ranges::any_of(kLaunches, [&](const auto &one) { return options.to == one.first; });
    const auto evaluation = evaluateFile(options.plan, options.settings, isLaunch ? Depth::Score : Depth::Everything);
    if (!evaluation)
        return fail(evaluation.error());
    if (const Errors clashes = outputClashes({ { "--out", options.out } }, filesNamedIn(*(*evaluation)->plan));
        !clashes.empty())
        return fail(clashes);
    LaunchFile launch;
    for (const auto &[name, target] : kLaunches) {
        if (options.to != name)
            continue;
        auto made = launchFile(**evaluation, target);
        if (!made)
            return fail(inFile(std::move(made.error()), options.plan));
        launch = *std::move(made);
    }
    const auto written = writeOutputFile(options.out, [&](std::ostream &out) {
        if (!launch.text.empty())
            out << launch.text;
        else if (options.to == "dot")
            out << dotOf(**evaluation);
        else if (options.to == "csv")
            writeTimelineCsv(**evaluation, out);
        else
            writeChromeTrace(**evaluation, out);
    });
    if (!written)
        return fail({ written.error() });
    if (options.out != "-" || launch.areNotesApart) // a script says them too
        for (const std::string &note : launch.notes)
            std::cerr << "note: " << printable(note) << '\n';
    return kDone;
}

} // namespace

void addExportCommand(CLI::App &app, int &exitCode)
{
    const auto options = std::make_shared<ExportOptions>();
    const Subcommand command(
        app, "export", "Write the timeline of a plan for other tools, or the command that starts its training");
    command.text("PLAN", options->plan, "Plan file, or - for standard input").required();
    command
        .text("--to", options->to,
            "chrome-trace for ui.perfetto.dev, csv for spreadsheets, dot for Graphviz; megatron, torchtitan or "
            "megatron-bridge for a script that starts the training, deepspeed for its JSON; slurm, trainjob, jobset or "
            "skypilot for what starts Megatron-LM there (torchtitan where the plan's stack is fsdp)")
        .required()
        .oneOf({ "chrome-trace", "csv", "dot", "megatron", "torchtitan", "slurm", "deepspeed", "megatron-bridge",
            "trainjob", "jobset", "skypilot" });
    command.text("--out", options->out, "File to write; standard output without it").shownAs("PATH");
    addSetOption(command, options->settings);
    command.callback([options, &exitCode] { exitCode = runExport(*options); });
}

} // namespace trainyard::cli

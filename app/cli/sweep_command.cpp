// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/outputs.h"
#include "app/cli/progress.h"
#include "app/cli/signals.h"
#include "app/cli/sweep_options.h"
#include "app/cli/sweep_script.h"

#include "core/base/number_text.h"
#include "core/base/output_file.h"

#include <chrono>
#include <iostream>

namespace trainyard::cli {

namespace {

struct SweepCommandOptions {
    SweepOptions sweep;
    std::string slurm;
};

int writeScript(const SweepCommandOptions &options)
{
    Errors errors;
    if (options.sweep.plan == "-")
        errors.push_back({ ErrorCode::BadValue, "--slurm", "a job has no standard input", "a plan file" });
    if (options.sweep.out.empty() || options.sweep.out == "-")
        errors.push_back({ ErrorCode::BadValue, "--slurm", "a job needs a file of rows", "--out OUT.csv" });
    if (errors.empty())
        errors =
            outputClashes({ { "--slurm", options.slurm }, { "--out", options.sweep.out } }, { options.sweep.plan });
    if (!errors.empty())
        return fail(errors);
    const auto written =
        writeOutputFile(options.slurm, [&](std::ostream &out) { out << slurmSweepScript(options.sweep); });
    return written ? kDone : fail({ written.error() });
}

int sweep(const SweepCommandOptions &options)
{
    const auto prepared = preparedSweep(options.sweep);
    if (!prepared)
        return fail(prepared.error());
    if (!options.slurm.empty())
        return writeScript(options);
    auto file = prepared->openFile(options.sweep.resume);
    if (!file)
        return fail({ file.error() });
    const auto begun = std::chrono::steady_clock::now();
    Interruption interruption;
    Progress progress("rows");
    const std::uint64_t there = file->rowsThere();
    const auto end = runSweep(prepared->spec, prepared->format, builtinCatalogue(), *file,
        std::size_t(options.sweep.threads), interruption.token(), [&](const SweepProgress &now) {
            progress.show(std::size_t(now.written - there), std::size_t(now.rows - there));
        });
    progress.clear();
    if (!end)
        return fail({ end.error() });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    if (end->isStopped) {
        std::cerr << "stopped: " << wholeText(double(end->written)) << " of "
                  << wholeText(double(prepared->spec.rows())) << " rows are written\n";
        if (file->isRegular())
            std::cerr << "go on with: " << resumeLine("trainyard-cli sweep", options.sweep) << '\n';
        return kInterrupted;
    }
    if (file->isRegular())
        std::cout << sentenceOf(*end, prepared->spec) << "; " << secondsText(seconds) << ", "
                  << wholeText(double(end->counts.all()) / std::max(seconds, 1e-9)) << " rows/s\n";
    return kDone;
}

} // namespace

void addSweepCommand(CLI::App &app, int &exitCode)
{
    const auto options = std::make_shared<SweepCommandOptions>();
    const Subcommand command(app, "sweep",
        "Evaluate a plan with every combination of values of some keys: a row each, as CSV or JSON lines");
    addSweepOptions(command, options->sweep);
    command.number("--threads", options->sweep.threads, "Rows at once; 0: as many as there are cores")
        .between(0, 4096)
        .shownAs("N");
    command
        .text("--slurm", options->slurm,
            "Write a job of Slurm that sweeps over MPI (trainyard-sweep) and can be requeued; nothing is evaluated")
        .shownAs("OUT.sh");
    command.exitCodes("");
    command.callback([options, &exitCode] { exitCode = sweep(*options); });
}

} // namespace trainyard::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/parser_manual.h"
#include "app/cli/signals.h"
#include "core/base/printable.h"

#include <CLI/CLI.hpp>

#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <sstream>

namespace trainyard::cli {

namespace {

constexpr std::size_t kMostUsageBytes = 2000; // arguments are quoted, and may be of any length

int runCommandLine(int argc, char **argv)
{
    CLI::App app(
        "Trainyard without its window: evaluates plans for training large models on GPUs in several datacenters.",
        "trainyard-cli");
    addQuestions(app);
    app.require_subcommand(1);
    app.footer(
        "Exit codes: 0 done; 1 the plan is infeasible and --require-feasible was given, or fit found nothing, or "
        "optimize proved that there is nothing; 2 bad usage or bad input; 3 internal; 4 optimize neither found nor "
        "proved anything; 130 stopped by Ctrl-C.");
    int exitCode = kDone;
    addEvaluateCommand(app, exitCode);
    addCompareCommand(app, exitCode);
    addExplainCommand(app, exitCode);
    addFitCommand(app, exitCode);
    addRokCommand(app, exitCode);
    addOptimizeCommand(app, exitCode);
    addSweepCommand(app, exitCode);
    addReportCommand(app, exitCode);
    addExportCommand(app, exitCode);
    addCatalogCommand(app, exitCode);
    addValidateCommand(app, exitCode);
    addImportCommand(app, exitCode);
    addTelemetryCommand(app, exitCode);
    addSchemaCommand(app, exitCode);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        const bool isHelp = error.get_exit_code() == int(CLI::ExitCodes::Success);
        std::ostringstream wrong;
        app.exit(error, std::cout, wrong);
        std::cerr << shortened(printable(wrong.str(), LineBreaks::Kept), kMostUsageBytes);
        return isHelp ? kDone : kBadInput;
    }
    return exitCode;
}

} // namespace

} // namespace trainyard::cli

int main(int argc, char **argv)
{
    trainyard::cli::cleanUpOnSignals();
    std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is a fault of writing, told like a full disk
    try {
        return trainyard::cli::runCommandLine(argc, argv);
    } catch (const std::bad_alloc &) {
        std::cerr << "trainyard-cli: not enough memory\n";
        return trainyard::cli::kInternal;
    } catch (const std::exception &error) {
        std::cerr << "trainyard-cli: internal error: " << trainyard::shortened(trainyard::printable(error.what()), 400)
                  << '\n';
        return trainyard::cli::kInternal;
    }
}

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the commands of trainyard-cli share: how a plan is named, loaded and evaluated, how faults are printed, and the
// exit codes. One command, one .cpp file, one `add…Command` function that hangs it into the parser. Main thread only.

#include "app/cli/parser.h"
#include "core/evaluation/advice/evaluate.h"

#include <string>
#include <vector>

namespace trainyard::cli {

enum ExitCode : int {
    kDone = 0,
    kInfeasible = 1,
    kBadInput = 2,
    kInternal = 3,
    /// a search ended with nothing found and nothing proven
    kNotFinished = 4,
    /// as shells say it
    kInterrupted = 130
};

void addEvaluateCommand(CLI::App &app, int &exitCode);
void addCompareCommand(CLI::App &app, int &exitCode);
void addExplainCommand(CLI::App &app, int &exitCode);
void addFitCommand(CLI::App &app, int &exitCode);
void addRokCommand(CLI::App &app, int &exitCode);
void addReportCommand(CLI::App &app, int &exitCode);
void addExportCommand(CLI::App &app, int &exitCode);
void addCatalogCommand(CLI::App &app, int &exitCode);
void addOptimizeCommand(CLI::App &app, int &exitCode);
void addSweepCommand(CLI::App &app, int &exitCode);
void addSchemaCommand(CLI::App &app, int &exitCode);
void addValidateCommand(CLI::App &app, int &exitCode);
void addTelemetryCommand(CLI::App &app, int &exitCode);
void addTelemetryCompare(const Subcommand &telemetry, int &exitCode);
void addTelemetryCalibrate(const Subcommand &telemetry, int &exitCode);
void addTelemetryVerdict(const Subcommand &telemetry, int &exitCode);
void addTelemetryRecord(const Subcommand &telemetry, int &exitCode);
/// and queue
void addTelemetryIdle(const Subcommand &telemetry, int &exitCode);
void addTelemetryKernels(const Subcommand &telemetry, int &exitCode);
void addTelemetryPath(const Subcommand &telemetry, int &exitCode);
void addTelemetryRoofline(const Subcommand &telemetry, int &exitCode);
/// and serve
void addTelemetryReplay(const Subcommand &telemetry, int &exitCode);
void addTelemetryWatch(const Subcommand &telemetry, int &exitCode);
void addTelemetryAlarms(const Subcommand &telemetry, int &exitCode);
void addImportCommand(CLI::App &app, int &exitCode);

/// Repeatable `--set KEY=VALUE`.
void addSetOption(const Subcommand &command, std::vector<std::string> &settings);
/// `--format`, one of `allowed`; the first is the default.
void addFormatOption(const Subcommand &command, std::string &format, const std::vector<std::string> &allowed);

/// Reads a plan from a file, or from standard input where `path` is "-", and applies the settings to it.
[[nodiscard]] ExpectedAll<PlanPtr> loadPlan(const std::string &path, const std::vector<std::string> &settings = {});
/// The plan with each KEY=VALUE of `--set` in it. Errors: one for each that is wrong.
[[nodiscard]] ExpectedAll<Plan> withSettings(Plan plan, const std::vector<std::string> &settings);
/// The errors of an evaluation, each with the plan's file unless it lies in another file.
[[nodiscard]] Errors inFile(Errors errors, const std::string &path);
/// Loads and evaluates; every fault names the file.
[[nodiscard]] ExpectedAll<EvaluationPtr> evaluateFile(
    const std::string &path, const std::vector<std::string> &settings, Depth depth = Depth::Everything);
/// Evaluates one that was loaded from there.
[[nodiscard]] ExpectedAll<EvaluationPtr> evaluateLoaded(const PlanPtr &plan, const std::string &path, Depth depth);
/// Of a plan with jobs, which has no iteration: the error of a command that is about one. `about`: what it would do.
[[nodiscard]] Errors refusedForJobs(const Plan &plan, const std::string &path, const std::string &about);
/// With a name that tells it from the plan that it was made from: "GPT-3, made to fit".
[[nodiscard]] Plan renamed(Plan plan, std::string_view how);
/// The plan's name, or that of its file.
[[nodiscard]] std::string displayName(const Plan &plan, const std::string &path);

/// Prints one line a fault on standard error and answers with the exit code for them.
int fail(const Errors &errors);
/// Prints an answer to standard output; what is for people to read without what a terminal would obey.
int print(const std::string &text, const std::string &format);

} // namespace trainyard::cli

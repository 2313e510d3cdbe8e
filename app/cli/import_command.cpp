// SPDX-License-Identifier: GPL-3.0-or-later
// `import`: what a run left behind, as a recording, or as the plan that it tells of.
#include "app/cli/command.h"
#include "app/cli/import_report.h"
#include "app/cli/outputs.h"
#include "app/cli/progress.h"
#include "app/cli/run_sources.h"
#include "app/cli/signals.h"

#include "core/base/output_file.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan_io.h"
#include "core/runs/imports/plan_from_recording.h"
#include "core/runs/telemetry/recording_file.h"

#include <filesystem>

namespace trainyard::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char *kRecordingName = ".trainyard-recording", *kPlanName = ".trainyard.json";

struct ImportOptions {
    std::vector<std::string> sources;
    std::string out, base, format, linePattern;
    [[nodiscard]] bool wantsPlan() const { return out.ends_with(kPlanName); }
};

/// An output that lies in a folder of sources would be one of them when the command runs again.
Errors liesAmongSources(const ImportOptions &options)
{
    std::error_code error;
    const fs::path out = fs::weakly_canonical(outputTarget(options.out), error);
    if (error || !fs::exists(out, error))
        return {};
    for (const std::string &source : options.sources) {
        if (!fs::is_directory(source, error))
            continue;
        const fs::path folder = fs::weakly_canonical(source, error);
        const auto [inFolder, ignored] = std::mismatch(folder.begin(), folder.end(), out.begin(), out.end());
        if (inFolder == folder.end())
            return { { ErrorCode::CannotWrite, "--out " + options.out, "would be read as one of the files of " + source,
                "a file outside of it" } };
    }
    return {};
}

Errors faultsOfOptions(const ImportOptions &options)
{
    if (!options.wantsPlan() && !options.out.ends_with(kRecordingName))
        return { { ErrorCode::BadValue, "--out " + options.out, "does not tell what to write",
            std::string("a name that ends in ") + kPlanName + " for a plan or in " + kRecordingName
                + " for a recording" } };
    if (!options.base.empty() && !options.wantsPlan())
        return { { ErrorCode::BadValue, "--base " + options.base, "is of no use to a recording",
            std::string("--out with a name that ends in ") + kPlanName } };
    std::vector<std::string> inputs = options.sources;
    if (!options.base.empty())
        inputs.push_back(options.base);
    Errors faults = outputClashes({ { "--out", options.out } }, inputs);
    return faults.empty() ? liesAmongSources(options) : faults;
}

Expected<void> writeIt(const Recording &recording, const std::string &path, const std::stop_token &stop)
{
    SourceOptions options;
    options.stop = stop;
    Progress progress("ranks written");
    const auto ranks = static_cast<double>(recording.ranks.size());
    options.progress = [&](double share) { progress.show(std::size_t(share * ranks), recording.ranks.size()); };
    auto written = writeRecording(recording, path, options);
    progress.clear();
    return written;
}

/// Adds what the plan is made of to the report. Errors: those of the sources, and of a base that cannot be read.
Errors writePlanOf(const Recording &recording, const ImportOptions &options, ImportReport &report)
{
    PlanPtr base = std::make_shared<const Plan>();
    if (!options.base.empty()) {
        auto loaded = loadPlan(options.base);
        if (!loaded)
            return loaded.error();
        base = *loaded;
    }
    const auto imported = planFrom(recording, builtinCatalogue(), *base);
    if (!imported)
        return imported.error();
    if (imported->taken.empty() && imported->notUnderstood.empty())
        return { { ErrorCode::BadValue, options.sources.front(),
            "nothing of it goes into a plan"
                + (imported->ignored.empty() ? "" : " (" + imported->ignored.front() + ")"),
            "arguments of a training, a config.json, a topology, prices, or benchmarks of links that the plan has" } };
    const auto add = [](std::vector<ImportReport::Line> &lines, const std::vector<std::string> &sentences) {
        for (const std::string &sentence : sentences)
            lines.push_back({ "", sentence, 0 });
    };
    add(report.planned, imported->taken);
    add(report.assumed, imported->assumed);
    add(report.notUnderstood, imported->notUnderstood);
    add(report.ignored, imported->ignored);
    if (const auto written = writePlan(imported->plan, options.out); !written)
        return { written.error() };
    return {};
}

int runImport(const ImportOptions &options)
{
    if (const Errors faults = faultsOfOptions(options); !faults.empty())
        return fail(faults);
    Interruption interruption;
    const auto recording = readRun(options.sources, interruption.token(), options.linePattern);
    if (!recording)
        return recording.error().code == ErrorCode::Cancelled
            ? stoppedBefore("all files were read; nothing was written")
            : fail({ recording.error() });
    const Errors faults = tellOf(*recording, options.sources);
    if (!hasAnything(*recording)) {
        const Error none { ErrorCode::BadValue, options.sources.front(), "there is nothing of a run in it",
            "traces, logs, benchmarks, arguments or topologies of a run" };
        return fail(faults.empty() ? Errors { none } : faults);
    }
    ImportReport report = reportOf(*recording);
    report.written = options.out;
    if (options.wantsPlan()) {
        if (Errors wrong = writePlanOf(*recording, options, report); !wrong.empty()) {
            wrong.insert(wrong.begin(), faults.begin(), faults.end());
            return fail(wrong);
        }
    } else {
        if (const auto written = writeIt(*recording, options.out, interruption.token()); !written)
            return written.error().code == ErrorCode::Cancelled ? stoppedBefore("the recording was written")
                                                                : fail({ written.error() });
        report.wrote = contentsOf(*recording);
    }
    const int printed = print(options.format == "json" ? jsonOf(report) : tableOf(report), options.format);
    return faults.empty() || printed != kDone ? printed : fail(faults);
}

} // namespace

void addImportCommand(CLI::App &app, int &exitCode)
{
    const auto options = std::make_shared<ImportOptions>();
    const Subcommand command(
        app, "import", "Read what a run left behind, and write it as one recording, or as the plan that it tells of");
    command
        .texts("SOURCE", options->sources,
            "Traces, logs, results of benchmarks, configurations, topologies, recordings, or folders of them")
        .required();
    command.text("--out", options->out, "File to write: *.trainyard.json or *.trainyard-recording")
        .required()
        .shownAs("PLAN|RECORDING");
    command.text("--base", options->base, "Plan that has what the sources do not tell").shownAs("PLAN");
    addLinePatternOption(command, options->linePattern);
    addFormatOption(command, options->format, { "table", "json" });
    command.callback([options, &exitCode] { exitCode = runImport(*options); });
}

} // namespace trainyard::cli

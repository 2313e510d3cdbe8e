// SPDX-License-Identifier: GPL-3.0-or-later
// `import`: what a run left behind, as a recording.
#include "app/cli/command.h"
#include "app/cli/import_report.h"
#include "app/cli/outputs.h"
#include "app/cli/progress.h"
#include "app/cli/run_sources.h"
#include "app/cli/signals.h"

#include "core/base/output_file.h"
#include "core/telemetry/recording_file.h"

#include <filesystem>

namespace trainyard::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char *kRecordingName = ".trainyard-recording";

struct Options {
    std::vector<std::string> sources;
    std::string out, format;
};

bool isRecordingName(const std::string &path)
{
    return path.ends_with(kRecordingName);
}

/// An output that lies in a folder of sources would be one of them when the command runs again.
Errors liesAmongSources(const Options &options)
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

Errors faultsOfOptions(const Options &options)
{
    if (!isRecordingName(options.out))
        return { { ErrorCode::BadValue, "--out " + options.out, "does not tell what to write",
            std::string("a name that ends in ") + kRecordingName } };
    Errors faults = outputClashes({ { "--out", options.out } }, options.sources);
    return faults.empty() ? liesAmongSources(options) : faults;
}

Expected<void> write(const Recording &recording, const std::string &path, const std::stop_token &stop)
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

int run(const Options &options)
{
    if (const Errors faults = faultsOfOptions(options); !faults.empty())
        return fail(faults);
    Interruption interruption;
    const auto recording = readRun(options.sources, interruption.token());
    if (!recording)
        return recording.error().code == ErrorCode::Cancelled
            ? stoppedBefore("all files were read; nothing was written")
            : fail({ recording.error() });
    const Errors faults = tellOf(*recording, options.sources);
    if (!hasAnything(*recording)) {
        const Error none { ErrorCode::BadValue, options.sources.front(), "there is nothing of a run in it",
            "traces, logs, benchmarks, arguments or topologies of a run; docs/recording-file.md lists them" };
        return fail(faults.empty() ? Errors { none } : faults);
    }
    ImportReport report = reportOf(*recording);
    if (const auto written = write(*recording, options.out, interruption.token()); !written)
        return written.error().code == ErrorCode::Cancelled ? stoppedBefore("the recording was written")
                                                            : fail({ written.error() });
    report.written = options.out;
    report.wrote = contentsOf(*recording);
    const int printed = print(options.format == "json" ? jsonOf(report) : tableOf(report), options.format);
    return faults.empty() || printed != kDone ? printed : fail(faults);
}

} // namespace

void addImportCommand(CLI::App &app, int &exitCode)
{
    const auto options = std::make_shared<Options>();
    const Subcommand command(app, "import", "Read what a run left behind, and write it as one recording");
    command
        .texts("SOURCE", options->sources,
            "Traces, logs, results of benchmarks, configurations, topologies, recordings, or folders of them")
        .required();
    command.text("--out", options->out, "File to write: *.trainyard-recording").required().shownAs("RECORDING");
    addFormatOption(command, options->format, { "table", "json" });
    command.callback([options, &exitCode] { exitCode = run(*options); });
}

} // namespace trainyard::cli

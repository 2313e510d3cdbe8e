// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry compare`: a run beside a plan, or beside another run.
#include "app/cli/command.h"
#include "app/cli/run_comparison.h"
#include "app/cli/run_sources.h"
#include "app/cli/signals.h"

#include "core/runs/telemetry/source_stream.h"

#include <filesystem>
#include <limits>
#include <set>

namespace trainyard::cli {

namespace {

constexpr int kNoStep = std::numeric_limits<int>::min();

struct TelemetryCompareOptions {
    std::string reference, format, linePattern;
    std::vector<std::string> sources;
    int step = kNoStep;
};

/// Whether it is a source of a run, or a folder of them: all else is taken for a plan, which tells what is wrong.
bool isRun(const std::string &path)
{
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        return true;
    if (path == "-" || path.ends_with(".trainyard.json"))
        return false;
    const auto stream = openSourceStream(path, {});
    if (!stream)
        return false;
    std::string head(std::size_t(64) << 10, '\0');
    std::size_t size = 0;
    for (std::size_t got = 1; got > 0 && size < head.size(); size += got)
        got = (*stream)->read(head.data() + size, head.size() - size);
    head.resize(size);
    if (head.find("\"trainyard.plan\"") != std::string::npos)
        return false;
    return readerFor(std::filesystem::path(path).filename().string(), head) != nullptr;
}

/// Why no step of a run has a time.
std::string reasonWithoutSteps(const Recording &recording)
{
    std::set<Moment> steps;
    for (const SampleSeries &series : recording.series)
        if (series.isByStep)
            steps.insert(series.at.begin(), series.at.end());
    if (steps.empty())
        return "there is no step of a run in it";
    return "it tells " + std::to_string(steps.size()) + (steps.size() == 1 ? " step" : " steps")
        + ", but no times of them: neither how long they took nor time stamps of two";
}

/// Aligned and taken apart into steps. Errors: Cancelled; those of files that were named; that there are no steps.
ExpectedAll<RunPtr> loadRun(
    const std::vector<std::string> &sources, const std::stop_token &stop, const std::string &linePattern)
{
    auto recording = readRun(sources, stop, linePattern);
    if (!recording)
        return std::unexpected(Errors { recording.error() });
    if (Errors faults = tellOf(*recording, sources); !faults.empty())
        return std::unexpected(std::move(faults));
    RunPtr run = makeRun(*std::move(recording), stop);
    if (stop.stop_requested())
        return std::unexpected(Errors { { ErrorCode::Cancelled, "", "cancelled", "" } });
    if (run->steps.empty() || run->typicalStep < 0)
        return std::unexpected(Errors { { ErrorCode::BadValue, sources.front(), reasonWithoutSteps(*run->recording),
            "traces of PyTorch's profiler, or logs that tell times of steps, or a recording of them" } });
    return run;
}

/// Of a step that the run does not have.
Errors refusedStep(const TelemetryCompareOptions &options, const Run &run)
{
    if (options.step == kNoStep || stepIndex(run, options.step) >= 0)
        return {};
    return { { ErrorCode::BadValue, "--step " + std::to_string(options.step), "the run has no such step",
        "one from " + std::to_string(run.steps.front().number) + " to " + std::to_string(run.steps.back().number) } };
}

int stopped(const Errors &errors)
{
    return errors.front().code == ErrorCode::Cancelled ? stoppedBefore("the runs were compared") : fail(errors);
}

int runTelemetryCompare(const TelemetryCompareOptions &options)
{
    Interruption interruption;
    const bool isOfRuns = isRun(options.reference);
    OverlayOptions asked;
    if (options.step != kNoStep)
        asked.step = options.step;
    EvaluationPtr plan;
    if (!isOfRuns) {
        const auto evaluation = evaluateFile(options.reference, {}, Depth::Spans);
        if (!evaluation)
            return fail(evaluation.error());
        plan = *evaluation;
        if (const Errors refused = refusedForJobs(*plan->plan, options.reference, "comparing is about");
            !refused.empty())
            return fail(refused);
    }
    const auto measured = loadRun(options.sources, interruption.token(), options.linePattern);
    if (!measured)
        return stopped(measured.error());
    if (const Errors refused = refusedStep(options, **measured); !refused.empty())
        return fail(refused);
    RunOverlayPtr overlay;
    if (isOfRuns) {
        const auto reference = loadRun({ options.reference }, interruption.token(), options.linePattern);
        if (!reference)
            return stopped(reference.error());
        overlay = overlayRuns(*reference, *measured, asked);
    } else {
        overlay = overlayRun(plan, *measured, asked);
    }
    return print(options.format == "json" ? comparisonJsonOf(*overlay) : comparisonTableOf(*overlay), options.format);
}

} // namespace

void addTelemetryCompare(const Subcommand &telemetry, int &exitCode)
{
    const auto options = std::make_shared<TelemetryCompareOptions>();
    const Subcommand compare(telemetry, "compare",
        "Where the time of a run's step went, beside a plan or another run: differences by kind of work, steps, "
        "stragglers, slow links");
    compare.text("PLAN|RECORDING", options->reference, "Plan, or a recording or folder of another run").required();
    compare.texts("SOURCE", options->sources, "Recordings, traces and logs of the run, or folders of them").required();
    compare.number("--step", options->step, "Number of the step; the typical one without it").shownAs("N");
    addLinePatternOption(compare, options->linePattern);
    addFormatOption(compare, options->format, { "table", "json" });
    compare.callback([options, &exitCode] { exitCode = runTelemetryCompare(*options); });
}

} // namespace trainyard::cli

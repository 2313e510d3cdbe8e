// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry calibrate`: what a run teaches about a plan's hardware and software, and the plan that has learnt it.
#include "app/cli/calibration_report.h"
#include "app/cli/command.h"
#include "app/cli/outputs.h"
#include "app/cli/run_sources.h"
#include "app/cli/signals.h"

#include "core/base/number_text.h"
#include "core/base/output_file.h"
#include "core/base/text_file.h"
#include "core/facts/plan/plan_io.h"
#include "core/runs/overlay/run_steps.h"

#include <algorithm>
#include <ostream>

namespace trainyard::cli {

namespace {

struct TelemetryCalibrateOptions {
    std::string plan, format, out, factors, use;
    std::vector<std::string> sources, accept;
};

Errors faultsOf(const TelemetryCalibrateOptions &options)
{
    if (options.sources.empty() == options.use.empty())
        return { { ErrorCode::BadValue, options.use.empty() ? "SOURCE" : "--use " + options.use,
            options.use.empty() ? "nothing to learn from is named"
                                : "stands for a run, and sources of one are named too",
            "sources of a run, or --use with factors of one" } };
    if (!options.use.empty() && !options.factors.empty())
        return { { ErrorCode::BadValue, "--factors " + options.factors, "would write what --use reads",
            "one of them" } };
    if (options.out.empty() && !options.accept.empty())
        return { { ErrorCode::BadValue, "--accept", "is of no use without a plan to write", "--out" } };
    std::vector<std::string> inputs = options.sources;
    inputs.push_back(options.plan);
    if (!options.use.empty())
        inputs.push_back(options.use);
    return outputClashes({ { "--out", options.out }, { "--factors", options.factors } }, inputs);
}

/// Named ones, or all that may be accepted. Errors: ids that there are not, or that were refused.
Errors choose(
    const TelemetryCalibrateOptions &options, const CalibrationProposal &proposal, std::vector<std::string> &ids)
{
    Errors faults;
    std::string known;
    for (const FittedFactor &fitted : proposal.factors)
        if (fitted.refused.empty())
            known += (known.empty() ? "" : ", ") + fitted.id;
    for (const std::string &list : options.accept.empty() ? std::vector<std::string> { "all" } : options.accept)
        for (std::size_t at = 0; at <= list.size();) {
            const std::size_t end = std::min(list.find(',', at), list.size());
            const std::string id = list.substr(at, end - at);
            at = end + 1;
            const auto found = std::ranges::find(proposal.factors, id, &FittedFactor::id);
            if (id == "all")
                for (const FittedFactor &fitted : proposal.factors)
                    ids.push_back(fitted.id);
            else if (found == proposal.factors.end())
                faults.push_back({ ErrorCode::BadValue, "--accept " + id, "is no factor of this run", known });
            else if (!found->refused.empty())
                faults.push_back({ ErrorCode::BadValue, "--accept " + id, found->refused, known });
            else
                ids.push_back(id);
        }
    return faults;
}

ExpectedAll<CalibrationProposal> learnt(
    const TelemetryCalibrateOptions &options, const Evaluation &plan, const std::stop_token &stop)
{
    if (!options.use.empty()) {
        const auto text = readTextFile(options.use, "a file that --factors wrote");
        if (!text)
            return std::unexpected(Errors { text.error() });
        return readFactors(*text, options.use);
    }
    auto recording = readRun(options.sources, stop);
    if (!recording)
        return std::unexpected(Errors { recording.error() });
    if (Errors faults = tellOf(*recording, options.sources); !faults.empty())
        return std::unexpected(std::move(faults));
    const RunPtr run = makeRun(*std::move(recording), stop);
    CalibrateOptions asked;
    asked.stop = stop;
    auto proposal = calibrate(plan, *run, builtinCatalogue(), asked);
    if (!proposal)
        return std::unexpected(Errors { proposal.error() });
    return *std::move(proposal);
}

/// What the factors make of this plan, and which of them change nothing of it.
std::string learnedText(const Evaluation &before, const Evaluation &after)
{
    const auto seconds = [](const Evaluation &of) {
        return of.metrics.iterationTime ? secondsText(*of.metrics.iterationTime) : std::string("nothing");
    };
    const Confidence &confidence = after.metrics.confidence;
    std::string text = "With them the plan predicts " + seconds(after) + " a step instead of " + seconds(before) + ": "
        + confidence.label + (confidence.note.empty() ? "" : " (" + confidence.note + ")") + ".\n";
    for (const Problem &problem : after.problems)
        if (problem.where == "calibration")
            text += problem.text + ".\n";
    return text;
}

int runTelemetryCalibrate(const TelemetryCalibrateOptions &options)
{
    if (const Errors faults = faultsOf(options); !faults.empty())
        return fail(faults);
    Interruption interruption;
    const auto plan = loadPlan(options.plan);
    if (!plan)
        return fail(plan.error());
    if (const Errors refused = refusedForJobs(**plan, options.plan, "calibration is about"); !refused.empty())
        return fail(refused);
    const auto evaluation = evaluateLoaded(*plan, options.plan, Depth::Spans);
    if (!evaluation)
        return fail(evaluation.error());
    const auto proposal = learnt(options, **evaluation, interruption.token());
    if (!proposal)
        return proposal.error().front().code == ErrorCode::Cancelled ? stoppedBefore("the plan was calibrated")
                                                                     : fail(proposal.error());
    if (!options.factors.empty())
        if (const auto written =
                writeOutputFile(options.factors, [&](std::ostream &out) { out << factorsJson(*proposal); });
            !written)
            return fail({ written.error() });
    std::vector<std::string> ids;
    if (const Errors faults = choose(options, *proposal, ids); !faults.empty())
        return fail(faults);
    const auto next = std::make_shared<const Plan>(withFactors(**plan, *proposal, ids));
    const auto learned = evaluateLoaded(next, options.plan, Depth::Score);
    if (!learned)
        return fail(learned.error());
    if (!options.out.empty())
        if (const auto written = writePlan(*next, options.out); !written)
            return fail({ written.error() });
    const std::string farther = options.use.empty()
        ? fartherText(*proposal, heldOutError(*proposal, (*learned)->metrics.iterationTime.value_or(0)).value_or(0))
        : std::string();
    return print(options.format == "json" ? factorsJson(*proposal)
                                          : (farther.empty() ? "" : farther + ".\n\n")
                + factorsTable(*proposal, options.use.empty()) + "\n" + learnedText(**evaluation, **learned),
        options.format);
}

} // namespace

void addTelemetryCalibrate(const Subcommand &telemetry, int &exitCode)
{
    const auto options = std::make_shared<TelemetryCalibrateOptions>();
    const Subcommand calibrate(telemetry, "calibrate",
        "What a run teaches about the plan's hardware and software, as factors with their errors, and the plan with "
        "them");
    calibrate.text("PLAN", options->plan, "Plan of the run, or of another one on the same hardware").required();
    calibrate.texts(
        "SOURCE", options->sources, "Recordings, traces, logs and benchmarks of the run, or folders of them");
    calibrate.texts("--accept", options->accept, "Factors to put into the plan of --out, by id; all without it")
        .shownAs("ID,...|all");
    calibrate.text("--out", options->out, "Write the plan with the accepted factors there").shownAs("PLAN");
    calibrate.text("--factors", options->factors, "Write the factors there, for other plans").shownAs("FILE");
    calibrate.text("--use", options->use, "Take factors that --factors wrote, instead of sources").shownAs("FILE");
    addFormatOption(calibrate, options->format, { "table", "json" });
    calibrate.callback([options, &exitCode] { exitCode = runTelemetryCalibrate(*options); });
}

} // namespace trainyard::cli

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/outputs.h"
#include "app/cli/signals.h"

#include "core/evaluation/memory_fit/fit.h"
#include "core/evaluation/memory_fit/headroom_uses.h"
#include "core/evaluation/report/ladder_report.h"
#include "core/facts/plan/plan_io.h"

#include <algorithm>
#include <iostream>

namespace trainyard::cli {

namespace {

struct FitOptions {
    std::string plan, format, out;
    std::vector<std::string> settings;
};

bool isOnlyCancelled(const Errors &errors)
{
    return std::ranges::all_of(errors, [](const Error &error) { return error.code == ErrorCode::Cancelled; });
}

int stoppedEarly()
{
    std::cerr << "stopped before the first step was found\n";
    return kInterrupted;
}

int runFit(const FitOptions &options)
{
    const std::vector<NamedFile> outputs { { "--out", options.out } };
    Errors clashes = outputClashes(outputs, { options.plan });
    if (!clashes.empty())
        return fail(clashes);
    const auto plan = loadPlan(options.plan, options.settings);
    if (!plan)
        return fail(plan.error());
    if (const Errors refused = refusedForJobs(**plan, options.plan, "fitting is about"); !refused.empty())
        return fail(refused);
    clashes = outputClashes(outputs, filesNamedIn(**plan));
    if (!clashes.empty())
        return fail(clashes);
    Interruption interruption;
    EvaluationWorkspace workspace;
    if (auto known = evaluate(*plan, builtinCatalogue(), workspace, interruption.token(), Depth::Score); !known)
        return isOnlyCancelled(known.error()) ? stoppedEarly() : fail(inFile(known.error(), options.plan));
    const Fitting fitting = fitModel(*plan, builtinCatalogue(), workspace, interruption.token());
    HeadroomUses uses;
    if (fitting.fits)
        uses = headroomSuggestions(fitting.plan, builtinCatalogue(), workspace, interruption.token());
    if (!options.out.empty() && fitting.fits && !fitting.isCancelled) {
        const Plan made = fitting.steps.empty() ? *fitting.plan : renamed(*fitting.plan, "made to fit");
        const auto written = writePlan(made, options.out, OutputKinds::StreamsToo);
        if (!written)
            return fail({ written.error() });
    }
    const int printed =
        print(options.format == "json" ? fittingJson(fitting, uses) : fittingTable(fitting, uses), options.format);
    if (printed != kDone)
        return printed;
    return fitting.isCancelled ? kInterrupted : fitting.fits ? kDone : kInfeasible;
}

} // namespace

void addFitCommand(CLI::App &app, int &exitCode)
{
    const auto options = std::make_shared<FitOptions>();
    const Subcommand command(app, "fit",
        "Make a plan fit its GPUs by the cheapest steps of the memory ladder, and suggest uses of the headroom that is "
        "left");
    command.text("PLAN", options->plan, "Plan file, or - for standard input").required();
    command.text("--out", options->out, "Write the plan that fits to this file").shownAs("PLAN");
    addSetOption(command, options->settings);
    addFormatOption(command, options->format, { "table", "json" });
    command.callback([options, &exitCode] { exitCode = runFit(*options); });
}

} // namespace trainyard::cli

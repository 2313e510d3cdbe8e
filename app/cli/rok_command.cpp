// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/signals.h"

#include "core/evaluation/report/rok_report.h"

#include <iostream>

namespace trainyard::cli {

namespace {

struct RokOptions {
    std::string plan, format;
    std::vector<std::string> settings;
};

int runRok(const RokOptions &options)
{
    const auto loaded = loadPlan(options.plan, options.settings);
    if (!loaded)
        return fail(loaded.error());
    if (const Errors refused = refusedForJobs(**loaded, options.plan, "what to recompute or offload is about");
        !refused.empty())
        return fail(refused);
    const auto own = evaluateLoaded(*loaded, options.plan, Depth::Score);
    if (!own)
        return fail(own.error());
    if (const auto unranked = whyUnranked((*own)->model.doubts))
        return fail(inFile({ *unranked }, options.plan));
    const PlanPtr plan = (*own)->plan;
    if (const std::string why = whyNoRok(*plan); !why.empty())
        return fail({ { ErrorCode::BadValue, "profile", why, "a plan without a profile" } });
    Interruption interruption;
    EvaluationWorkspace workspace;
    const RokCurve curve = rokCurve(plan, builtinCatalogue(), workspace, interruption.token());
    const int printed = print(options.format == "json" ? rokJson(curve)
            : options.format == "csv"                  ? rokCsv(curve)
                                                       : rokTable(curve),
        options.format);
    if (curve.isStopped)
        std::cerr << "stopped: the points that were done are printed\n";
    return printed != kDone ? printed : curve.isStopped ? kInterrupted : kDone;
}

} // namespace

void addRokCommand(CLI::App &app, int &exitCode)
{
    const auto options = std::make_shared<RokOptions>();
    const Subcommand command(app, "rok",
        "Recompute, offload or keep: what each way of treating activations takes and reaches, over micro-batch sizes");
    command.text("PLAN", options->plan, "Plan file, or - for standard input").required();
    addSetOption(command, options->settings);
    addFormatOption(command, options->format, { "table", "json", "csv" });
    command.callback([options, &exitCode] { exitCode = runRok(*options); });
}

} // namespace trainyard::cli

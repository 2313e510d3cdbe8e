// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/outputs.h"
#include "app/cli/progress.h"
#include "app/cli/signals.h"

#include "core/base/number_text.h"
#include "core/facts/plan/plan_io.h"
#include "core/planner/search/search_report.h"
#include "core/runs/launch/launch.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <sstream>

namespace trainyard::cli {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN(); // an option that was not named

struct OptimizeOptions {
    std::string plan, format, out, objective = "throughput", robust = "worst";
    std::vector<std::string> settings, fixed, scenarios, datacenters;
    double mostUsdPerHour = kNone, leastTokensPerSecond = kNone, mostDays = kNone, memoryMargin = kNone,
           seconds = kNone;
    int mostGpus = -1, top = 5, seed = 1, threads = 0, rows = 0;
    bool mayTrainOtherwise = false, keepsIdle = false;
};

std::optional<double> named(double value)
{
    return std::isnan(value) ? std::nullopt : std::optional(value);
}

/// "a,b" and again "c": three.
std::vector<std::string> split(const std::vector<std::string> &lists)
{
    std::vector<std::string> parts;
    for (const std::string &list : lists) {
        std::istringstream in(list);
        for (std::string part; std::getline(in, part, ',');)
            if (!part.empty())
                parts.push_back(part);
    }
    return parts;
}

ExpectedAll<SearchOptions> searchOptions(const OptimizeOptions &options, const Plan &plan)
{
    SearchOptions search;
    for (const Objective objective :
        { Objective::Throughput, Objective::Cost, Objective::Energy, Objective::Time, Objective::Gpus })
        if (options.objective == toString(objective))
            search.objective = objective;
    Constraints &c = search.constraints;
    c.mostUsdPerHour = named(options.mostUsdPerHour);
    c.leastTokensPerSecond = named(options.leastTokensPerSecond);
    c.mostDays = named(options.mostDays);
    c.memoryMargin = named(options.memoryMargin);
    if (options.mostGpus > 0)
        c.mostGpus = options.mostGpus;
    c.datacenters = split(options.datacenters);
    search.fixed = split(options.fixed);
    Errors errors;
    const auto needNames = [&](const std::vector<std::string> &given, const std::vector<std::string> &names,
                               const char *option, const char *what) {
        if (!given.empty() && names.empty())
            errors.push_back({ ErrorCode::BadValue, option, "names nothing", what });
    };
    needNames(options.datacenters, c.datacenters, "--datacenter", "ids of datacenters, with commas between them");
    needNames(options.fixed, search.fixed, "--fix", "keys of the plan, with commas between them");
    search.robustness = options.robust == "expected" ? Robustness::Expectation : Robustness::WorstCase;
    search.seconds = named(options.seconds);
    search.seed = std::uint64_t(options.seed);
    search.top = std::size_t(options.top);
    search.threads = std::size_t(options.threads);
    search.mayTrainOtherwise = options.mayTrainOtherwise;
    for (const std::string &text : options.scenarios) {
        auto scenario = parseScenario(plan, builtinCatalogue(), text);
        if (scenario)
            search.scenarios.push_back(std::move(*scenario));
        else
            for (Error &error : scenario.error()) {
                error.where = "--scenario " + text + (error.where.empty() ? "" : ": " + error.where);
                errors.push_back(std::move(error));
            }
    }
    if (!errors.empty())
        return std::unexpected(std::move(errors));
    // Another world may need what idles in this one, and jobs stay as they are.
    search.keepsIdle = options.keepsIdle || !search.scenarios.empty() || hasJobs(plan);
    return search;
}

std::string progressLine(const SearchProgress &now, Objective objective)
{
    std::string line = wholeText(double(now.looked)) + (now.total > 0 ? " of " + wholeText(double(now.total)) : "")
        + " candidates, " + wholeText(double(now.simulated)) + " simulated";
    if (now.best)
        line += objective == Objective::Cost ? ", best " + usdText(now.best->usdPerMillionTokens) + " per 1M tokens"
                                             : ", best " + countText(now.best->tokensPerSecond) + " tokens/s";
    return line;
}

Errors fromOptions(Errors errors, const std::string &path)
{
    for (Error &error : errors) {
        const bool isOption = error.where == "seconds" || error.where == "memory-margin"
            || error.where.starts_with("max-") || error.where.starts_with("min-");
        if (isOption)
            error.where = "--" + error.where;
        else if (error.where == "datacenters")
            error.where = "--datacenter";
        else if (error.code == ErrorCode::UnknownKey)
            error.where = "--fix " + error.where;
        else
            error = inFile({ error }, path).front();
    }
    return errors;
}

/// The plan to write, with a name of its own, and as it is evaluated.
ExpectedAll<Trimmed> bestMade(const SearchResult &found, bool keepsIdle)
{
    const std::size_t best = found.best.front();
    PlanPtr plan = found.plan(best);
    if (best != found.own)
        plan = std::make_shared<const Plan>(renamed(*plan, "optimized"));
    EvaluationWorkspace workspace;
    const RunContext context { .catalogue = builtinCatalogue(), .workspace = workspace };
    if (!keepsIdle)
        return withoutIdleNodes(plan, context);
    auto evaluated = trainyard::run(plan, Depth::Score, context);
    if (!evaluated)
        return std::unexpected(std::move(evaluated.error()));
    return Trimmed { plan, std::move(*evaluated), 0, 0 };
}

std::vector<std::string> notLaunched(const Evaluation &evaluation)
{
    std::vector<std::string> why;
    if (const auto made = launchFile(evaluation, LaunchTarget::Slurm); !made)
        for (const Error &error : made.error())
            why.push_back((error.where.empty() ? "" : error.where + ": ") + error.what);
    return why;
}

int runOptimize(const OptimizeOptions &options)
{
    const std::vector<NamedFile> outputs { { "--out", options.out } };
    Errors clashes = outputClashes(outputs, { options.plan });
    if (!clashes.empty())
        return fail(clashes);
    const auto plan = loadPlan(options.plan, options.settings);
    if (!plan)
        return fail(plan.error());
    clashes = outputClashes(outputs, filesNamedIn(**plan));
    if (!clashes.empty())
        return fail(clashes);
    const auto asked = searchOptions(options, **plan);
    if (!asked)
        return fail(asked.error());
    Interruption interruption;
    Progress progress("candidates");
    const auto found = search(*plan, builtinCatalogue(), *asked, interruption.token(), [&](const SearchProgress &now) {
        if (progress.isDue())
            progress.show(progressLine(now, asked->objective));
    });
    progress.clear();
    if (!found)
        return fail(fromOptions(found.error(), options.plan));
    std::optional<WrittenPlan> written;
    if (!options.out.empty() && !found->best.empty()) {
        auto made = bestMade(*found, asked->keepsIdle);
        if (!made)
            return fail(inFile(made.error(), options.plan));
        const auto done = writePlan(*made->plan, options.out, OutputKinds::StreamsToo);
        if (!done)
            return fail({ done.error() });
        written = writtenPlan(options.out, *made, builtinCatalogue());
        written->isTrimmed = !asked->keepsIdle;
        written->notLaunched = notLaunched(*made->evaluation);
    }
    const WrittenPlan *told = written ? &*written : nullptr;
    const int printed = print(
        options.format == "json" ? searchJson(*found, told, std::size_t(options.rows)) : searchTable(*found, told),
        options.format);
    if (printed != kDone)
        return printed;
    if (interruption.token().stop_requested())
        return kInterrupted;
    return !found->best.empty() ? kDone : found->isComplete ? kInfeasible : kNotFinished;
}

void addConstraints(const Subcommand &command, OptimizeOptions &options)
{
    command.real("--max-usd-per-hour", options.mostUsdPerHour, "Budget of the plan as it is written, egress included")
        .shownAs("X");
    command.number("--max-gpus", options.mostGpus, "GPUs that may be used")
        .between(1, std::numeric_limits<int>::max())
        .shownAs("N");
    command.real("--min-tokens-per-s", options.leastTokensPerSecond, "Throughput that has to be reached").shownAs("X");
    command.real("--max-days", options.mostDays, "Days for all training tokens of the plan").shownAs("X");
    command
        .real("--memory-margin", options.memoryMargin,
            "Share of each GPU's memory that stays free; else 0.05, or what the plan leaves where that is less")
        .shownAs("X");
    command.texts("--datacenter", options.datacenters, "Datacenters that may be used, ids; else all")
        .oneEach()
        .shownAs("ID,...");
    command.texts("--fix", options.fixed, "Keys, or sections of them, that stay as the plan has them")
        .oneEach()
        .shownAs("KEY,...");
    command.flag("--may-train-otherwise", options.mayTrainOtherwise,
        "Try also what affects convergence: precision, optimizer, fewer bits on the WAN, local SGD");
}

} // namespace

void addOptimizeCommand(CLI::App &app, int &exitCode)
{
    const auto options = std::make_shared<OptimizeOptions>();
    const Subcommand command(app, "optimize",
        "Search for the best plan on this cluster: parallel degrees, schedule, memory, placement and WAN use, by an "
        "objective within constraints");
    command.text("PLAN", options->plan, "Plan file, or - for standard input").required();
    command.text("--objective", options->objective, "What is to be best")
        .oneOf({ "throughput", "cost", "energy", "time", "gpus" })
        .showingDefault();
    addConstraints(command, *options);
    command
        .texts("--scenario", options->scenarios,
            "A world that the plan has to stand as well: keys with values, or half:A-B, lost:A, prices+30%, slow; may "
            "end with ,weight=W")
        .oneEach()
        .shownAs("KEY=VALUE,...");
    command.text("--robust", options->robust, "With scenarios: by the worst of all worlds, or by the mean")
        .oneOf({ "worst", "expected" })
        .showingDefault();
    command.real("--seconds", options->seconds, "Stop then, with the best so far").shownAs("S");
    command.number("--seed", options->seed, "Of what is drawn where the space is too large to be looked at whole")
        .between(0, std::numeric_limits<int>::max())
        .showingDefault()
        .shownAs("N");
    command.number("--top", options->top, "Plans that are told").between(1, 1000).showingDefault().shownAs("N");
    command
        .number("--threads", options->threads,
            "Candidates at once; 0: as many as there are cores; the answer is "
            "the same")
        .between(0, 4096)
        .shownAs("N");
    command
        .text("--out", options->out,
            "Write the best plan to this file, without the nodes that it leaves idle (--keep-idle keeps them)")
        .shownAs("PLAN");
    command.flag("--keep-idle", options->keepsIdle,
        "Keep all nodes of the cluster, idle ones too, in the plan that is written and in all prices");
    command
        .number("--rows", options->rows,
            "With --format json: so many of the candidates that were looked at, each with its values and why it is out")
        .between(0, 20'000)
        .shownAs("N");
    addSetOption(command, options->settings);
    addFormatOption(command, options->format, { "table", "json" });
    command.exitCodes("1 no plan of its space keeps the constraints, which is proven; 4 none was found, and the search "
                      "was not finished");
    command.callback([options, &exitCode] { exitCode = runOptimize(*options); });
}

} // namespace trainyard::cli

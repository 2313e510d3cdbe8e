// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/idle_settings.h"
#include "app/cli/signals.h"

#include "core/evaluation/advice/alternatives.h"
#include "core/evaluation/evaluate/comparable.h"
#include "core/evaluation/evaluate/run_cache.h"
#include "core/evaluation/report/because.h"
#include "core/evaluation/report/explanation.h"
#include "core/evaluation/report/job_comparison_report.h"
#include "core/evaluation/report/sharing_report.h"
#include "core/evaluation/selection/selection.h"
#include "core/planner/search/given_back.h"
#include "core/planner/sensitivity/shadow_prices.h"

#include <iostream>

namespace trainyard::cli {

namespace {

struct ExplainOptions {
    std::string plan, format, objective; // objective: throughput where it is not given
    int microBatches = -1; // not given
    bool baselines = false, jobs = false;
    std::vector<std::string> settings;
};

PartPrice priceOf(const ShadowPrice &price)
{
    return { .kind = toString(price.kind),
        .unit = price.unit,
        .amount = price.amount,
        .secondsSaved = price.secondsSaved,
        .gain = price.gain,
        .gainPerUnit = price.gainPerUnit,
        .elasticity = price.elasticity(),
        .lossOfLess = price.lossOfLess,
        .usdPerHour = price.usdPerHour,
        .gainPerUsd = price.gainPerUsd,
        .isLessFeasible = price.isLessFeasible,
        .isKink = price.isKink(),
        .isReplanned = price.isReplanned };
}

/// Prices of all resources, then each rearranged plan and each fix; one that cannot be evaluated has no effect to show.
PartEffects partEffects(const Evaluation &evaluation)
{
    PartEffects effects;
    if (!whyNotCompared(evaluation).empty())
        return effects;
    EvaluationWorkspace workspace;
    const Catalogue &catalogue = builtinCatalogue();
    if (auto prices = shadowPrices(evaluation.plan, catalogue, workspace)) {
        effects.leftOut = prices->leftOut;
        effects.binding = std::move(prices->binding);
        for (const ShadowPrice &price : prices->list)
            if (price.evaluation && price.evaluation->metrics.iterationTime)
                effects.parts.push_back({ price.id, price.label, *price.evaluation->metrics.iterationTime,
                    price.isFeasible, because(evaluation, *price.evaluation), priceOf(price) });
    }
    const BetterParts moved =
        rearrangements(*evaluation.plan, &evaluation.layout, mostParts(evaluation.timeline.spanCount()));
    effects.leftOut += moved.leftOut;
    for (const Alternative &part : moved.list) {
        const auto better = evaluate(part.plan, catalogue, workspace, {}, Depth::Score);
        if (better && (*better)->metrics.iterationTime)
            effects.parts.push_back({ part.id, part.label, *(*better)->metrics.iterationTime, (*better)->feasible(),
                because(evaluation, **better) });
    }
    if (auto retired = retirements(evaluation.plan, catalogue, workspace))
        for (const Retirement &gpus : *retired)
            effects.retired.push_back({ gpus.sentence, gpus.gpus, gpus.isFeasible, gpus.seconds,
                gpus.usdPerMillionTokens, gpus.slowdown, gpus.saving });
    for (const Problem &problem : evaluation.problems) {
        for (const Fix &fix : problem.fixes) {
            const auto fixed = evaluate(fix.plan, catalogue, workspace, {}, Depth::Score);
            if (fixed && (*fixed)->metrics.iterationTime)
                effects.fixes.push_back({ problem.where, fix.label, *(*fixed)->metrics.iterationTime,
                    (*fixed)->feasible(), because(evaluation, **fixed) });
        }
    }
    return effects;
}

/// What other ways of sharing would do with the same GPUs.
int compareSharing(const ExplainOptions &options, const PlanPtr &plan)
{
    RunPool &pool = RunPool::shared();
    const auto baselines = sharingResults(kSharingBaselines, plan, builtinCatalogue(), pool);
    const auto ablations = ablationResults(plan, builtinCatalogue(), pool);
    return print(options.format == "json" ? sharingJson(baselines, ablations) : sharingTable(baselines, ablations),
        options.format);
}

/// What else could be done with the jobs of a plan.
int compareJobs(const ExplainOptions &options, const PlanPtr &plan)
{
    Interruption interruption;
    EvaluationWorkspace workspace;
    RunCache cache;
    const RunContext context { builtinCatalogue(), workspace, interruption.token(), nullptr, &cache };
    const auto own = run(plan, Depth::Score, context);
    if (!own && interruption.token().stop_requested()) {
        std::cerr << "stopped before anything was compared\n";
        return kInterrupted;
    }
    if (!own)
        return fail(inFile(own.error(), options.plan));
    const JobComparisons compared { jobSchedulers(plan, context, true), jobAblation(plan, context),
        jobScaling(plan, context), jobsWithOneMoreGpu(plan, context) };
    const int printed =
        print(options.format == "json" ? jobComparisonJson(**own, compared) : jobComparisonTable(**own, compared),
            options.format);
    if (!interruption.token().stop_requested())
        return printed;
    std::cerr << "stopped: what was compared is printed\n";
    return printed != kDone ? printed : int(kInterrupted);
}

int explain(const ExplainOptions &options)
{
    const auto plans = loadSetPlan(options.plan, options.settings);
    if (!plans)
        return fail(plans.error());
    const PlanPtr &plan = plans->set;
    if (options.baselines)
        if (const Errors refused = refusedForJobs(*plan, options.plan, "sharing between unequal GPUs is about");
            !refused.empty())
            return fail(refused);
    if (hasJobs(*plan)) {
        const char *ranking = "is of the ranking of datacenters, which is about one model, and the plan trains jobs";
        Errors refused;
        if (!options.objective.empty())
            refused.push_back({ ErrorCode::BadValue, "--objective", ranking, "leave it out" });
        if (options.microBatches >= 0)
            refused.push_back({ ErrorCode::BadValue, "--micro-batches", ranking, "leave it out" });
        return refused.empty() ? compareJobs(options, plan) : fail(refused);
    }
    if (options.jobs)
        return fail(inFile(
            { { ErrorCode::BadValue, "jobs", "the plan has none to compare", "a plan with jobs or a job_grid" } },
            options.plan));
    if (options.baselines)
        return compareSharing(options, plan);
    const auto evaluation = evaluateLoaded(plan, options.plan, Depth::Everything);
    if (!evaluation)
        return fail(evaluation.error());
    PartEffects parts = partEffects(**evaluation);
    parts.idle = idleSettings(**evaluation, plans->written);
    EvaluationWorkspace workspace;
    SelectionOptions asked;
    asked.objective = options.objective == "cost" ? SelectionObjective::Cost : SelectionObjective::Throughput;
    if (options.microBatches > 0)
        asked.microBatches = options.microBatches;
    auto selection = selectDatacenters((*evaluation)->plan, builtinCatalogue(), workspace, {}, asked);
    if (selection)
        giveBackIdle(*selection, { builtinCatalogue(), workspace });
    const Selection *ranked = selection ? &*selection : nullptr;
    return print(options.format == "json" ? explanationJson(**evaluation, std::move(parts), ranked)
                                          : explanationTable(**evaluation, std::move(parts), ranked),
        options.format);
}

} // namespace

void addExplainCommand(CLI::App &app, int &exitCode)
{
    const auto options = std::make_shared<ExplainOptions>();
    const Subcommand command(app, "explain",
        "Say where the seconds of an iteration go, what its critical path is, what fills the GPUs, what binds, what "
        "one "
        "more of each resource and each fix of a problem would do and why, which settings change nothing, which GPUs "
        "to "
        "retire, and which datacenters to use");
    command.text("PLAN", options->plan, "Plan file, or - for standard input").required();
    addSetOption(command, options->settings);
    command.text("--objective", options->objective, "Rank datacenters by: throughput, cost")
        .oneOf({ "throughput", "cost" });
    command
        .number("--micro-batches", options->microBatches,
            "Micro-batches of each pipeline in the ranking, whatever the global batch, as the paper of Atlas fixes "
            "them; 0: the global batch stays")
        .between(0, 1'000'000);
    command.flag("--baselines", options->baselines,
        "Instead of all that: what other ways of sharing work and states out to unequal GPUs would reach (even split, "
        "FSDP with accumulation, uneven pipeline, Whale, groups of equal GPUs, Cephalo), and each step between");
    command.flag("--jobs", options->jobs,
        "Of a plan with jobs, as without it: every scheduler beside the plan's own, what spilling, SHARP and double "
        "buffers are worth, more and fewer GPUs, one GPU more");
    addFormatOption(command, options->format, { "table", "json" });
    command.callback([options, &exitCode] { exitCode = explain(*options); });
}

} // namespace trainyard::cli

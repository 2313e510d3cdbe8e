// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/judge_run.h"

#include "core/base/number_text.h"
#include "core/evaluation/evaluate/run.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/runs/overlay/reported_job.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Why there is no iteration to compare with.
Error cannotRun(const Evaluation &evaluation)
{
    const auto blocking = std::ranges::find(evaluation.problems, Severity::Blocking, &Problem::severity);
    const bool isTold = blocking != evaluation.problems.end();
    return { ErrorCode::BadValue, isTold && !blocking->where.empty() ? blocking->where : std::string("the plan"),
        isTold ? "predicts no step: " + blocking->text : std::string("predicts no step"),
        "a plan of one model that can run" };
}

/// Has machines, since a log alone tells none: one node of eight H100.
Plan usualBase()
{
    Plan plan;
    Datacenter &datacenter = plan.cluster.datacenters.emplace_back();
    datacenter.id = "datacenter-1";
    Pool &pool = datacenter.pools.emplace_back();
    pool.id = "pool-1";
    pool.gpu = "h100-sxm-80gb";
    pool.nodes = 1;
    pool.gpusPerNode = 8;
    return plan;
}

std::vector<std::string> poolGpusOf(const Plan &plan)
{
    std::vector<std::string> names;
    for (const Datacenter &datacenter : plan.cluster.datacenters)
        for (const Pool &pool : datacenter.pools)
            names.push_back(gpuNameOf(pool));
    return names;
}

/// What the plan still assumes once it was amended.
std::vector<std::string> assumedBy(const ImportedPlan &imported, const Plan &plan)
{
    std::vector<std::string> assumed = imported.assumed;
    if (poolGpusOf(imported.plan) != poolGpusOf(plan))
        std::erase(assumed, imported.assumedGpu);
    return assumed;
}

/// A percentage would be of the model that was taken in its place.
void withoutModel(RunVerdict &verdict, const Run &run)
{
    leaveMeasured(verdict, run);
    verdict.headline += ". How much was to be expected is open, since nobody told a model: a config.json or the run's "
                        "arguments beside it, or a plan, would";
}

/// A run that died of memory is told so before anything else, and whether the plan has it.
void tellOutOfMemory(RunVerdict &verdict, const Recording &recording, bool isModelTold)
{
    const auto died = std::ranges::find(recording.series, std::string_view(samples::kOutOfMemory), &SampleSeries::name);
    if (died == recording.series.end() || died->value.empty())
        return;
    const auto held = [&](const char *name, const char *words) {
        const auto at = std::ranges::find_if(recording.series, [&](const SampleSeries &series) {
            return series.name == name && series.rank == died->rank && !series.value.empty();
        });
        return at == recording.series.end() ? std::string() : ", " + bytesText(at->value.back()) + words;
    };
    const std::string text = "Out of memory"
        + (died->rank >= 0 ? " on rank " + std::to_string(died->rank) : std::string()) + ", which asked for "
        + bytesText(died->value.back()) + " more" + held(samples::kMemoryAllocated, " were allocated")
        + held(samples::kMemoryReserved, " reserved") + ". ";
    const bool isExplained = isModelTold && !verdict.isTimed && verdict.memory
        && verdict.memory->predictedBytes >= verdict.memory->measuredBytes;
    if (isExplained) // a percentage of what it never reached says nothing
        verdict.headline =
            "The plan has " + bytesText(verdict.memory->predictedBytes) + " there, which explains it; no step is timed";
    verdict.headline = text + verdict.headline;
}

} // namespace

ExpectedAll<JudgedRun> judgeRun(Recording recording, const Catalogue &catalogue, const JudgeOptions &options)
{
    if (const std::string several = severalJobs(recording); !several.empty())
        return std::unexpected(Errors { { ErrorCode::BadValue, "the run",
            "its logs are of several jobs: " + several + ", which make no verdict together",
            "the files of one job" } });
    JudgedRun judged;
    PlanPtr plan = options.plan;
    if (!plan) {
        const bool isRun = !recording.series.empty() || !recording.ranks.empty();
        auto imported = planFrom(recording, catalogue, options.base ? *options.base : usualBase(), isRun);
        if (!imported)
            return std::unexpected(std::move(imported.error()));
        plan = std::make_shared<const Plan>(imported->plan);
        judged.imported = *std::move(imported);
    }
    if (options.amend) {
        auto amended = options.amend(*plan);
        if (!amended)
            return std::unexpected(std::move(amended.error()));
        plan = std::make_shared<const Plan>(*std::move(amended));
    }
    EvaluationWorkspace workspace;
    auto evaluation = run(plan, Depth::Spans, { .catalogue = catalogue, .workspace = workspace, .stop = options.stop });
    if (!evaluation)
        return std::unexpected(std::move(evaluation.error()));
    judged.evaluation = *std::move(evaluation);
    judged.run = makeRun(std::move(recording), options.stop);
    if (options.stop.stop_requested())
        return std::unexpected(Errors { { ErrorCode::Cancelled, "", "cancelled", "" } });
    judged.overlay = overlayRun(judged.evaluation, judged.run, options.overlay);
    const bool isPredicted = judged.overlay->evaluation && judged.evaluation->metrics.breakdown;
    judged.verdict =
        isPredicted ? verdictOf(*judged.overlay, catalogue) : std::unexpected(cannotRun(*judged.evaluation));
    if (judged.verdict && judged.imported) {
        const WorkloadSpec &told = judged.imported->plan.workload;
        if (judged.imported->isModelAssumed && told.model == plan->workload.model && !plan->workload.inlineModel) {
            withoutModel(*judged.verdict, *judged.run);
        }
        std::vector<std::string> &doubts = judged.verdict->doubts;
        const std::vector<std::string> assumed = assumedBy(*judged.imported, *plan);
        doubts.insert(doubts.begin(), assumed.begin(), assumed.end());
        if (!options.base && !assumed.empty())
            doubts.insert(doubts.begin(),
                "No plan of yours is behind this: what no source tells is as of one node of eight H100 SXM. A plan to "
                "start from, or keys that are set, correct what is assumed");
    }
    if (judged.verdict)
        tellOutOfMemory(*judged.verdict, *judged.run->recording, !judged.imported || !judged.imported->isModelAssumed);
    return judged;
}

} // namespace trainyard

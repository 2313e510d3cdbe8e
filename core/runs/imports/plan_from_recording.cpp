// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/imports/plan_from_recording.h"

#include "core/base/printable.h"
#include "core/facts/plan/model_change.h"
#include "core/facts/plan/validate.h"
#include "core/runs/imports/draft.h"
#include "core/runs/imports/logged_job.h"
#include "core/runs/imports/megatron_arguments.h"
#include "core/runs/imports/told_nodes.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>

namespace trainyard {

namespace {

using imports::Draft;
using imports::kMostGpus;
using imports::Told;

/// A number of GPUs or nodes; what is no number ("gpu", "auto", -1 for all, "$NODES") tells none.
std::optional<int> countOf(Draft &draft, std::string_view name, std::int64_t most)
{
    const auto text = draft.arguments.text(name);
    if (!text)
        return std::nullopt;
    const bool isNumber = text->find_first_not_of("0123456789", text->starts_with('-') ? 1 : 0) == text->npos;
    if (isNumber && *text != "-1" && *text != "-")
        return draft.whole(name, 1, most);
    draft.assume(draft.arguments.said(name) + " is " + shortened(*text) + ", which tells no number");
    return std::nullopt;
}

/// GPUs of the run and of a node, by whoever tells it first.
void takeWorldSize(Draft &draft)
{
    auto own = countOf(draft, "nproc_per_node", 1024);
    if (!own)
        if (const auto tasks = countOf(draft, "tasks_per_node", 1024); tasks && *tasks > 1)
            own = tasks;
    if (!own && draft.arguments.has("nnodes"))
        own = imports::gpusOfTopology(draft.recording);
    draft.gpusPerNode = own;
    draft.worldSize = countOf(draft, "world_size", kMostGpus);
    if (draft.worldSize && draft.arguments.isDerived("world_size"))
        draft.assume(std::to_string(*draft.worldSize) + " GPUs: " + draft.arguments.said("world_size"));
    const auto nodes = countOf(draft, "nnodes", 100'000);
    if (!draft.worldSize && nodes && own) {
        const std::int64_t gpus = std::int64_t(*nodes) * *own;
        if (gpus > kMostGpus)
            draft.bad("nnodes", std::to_string(*nodes) + " nodes of " + std::to_string(*own) + " GPUs",
                "at most " + std::to_string(kMostGpus) + " GPUs");
        else
            draft.worldSize = static_cast<int>(gpus);
    }
    for (const RankRecording &rank : draft.recording.ranks)
        if (!draft.worldSize && rank.worldSize > 0 && rank.worldSize <= kMostGpus)
            draft.worldSize = rank.worldSize;
    if (draft.worldSize || !draft.arguments.has("data_parallel_size") || !draft.arguments.isMegatron())
        return;
    const std::size_t told = draft.errors.size();
    std::int64_t ranks = draft.whole("data_parallel_size", 1, 1'000'000).value_or(1);
    for (const char *name : { "tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size" })
        ranks = std::min<std::int64_t>(ranks * draft.whole(name, 1, 4096).value_or(1), kMostGpus + 1);
    if (ranks <= kMostGpus)
        draft.worldSize = static_cast<int>(ranks);
    draft.errors.resize(told); // of degrees: each is told again where it is taken
}

/// A log without arguments tells the batch with each step.
void takeLoggedBatch(Draft &draft)
{
    if (draft.arguments.has("global_batch_size"))
        return;
    for (const SampleSeries &series : draft.recording.series) {
        if (series.name != samples::kGlobalBatch || series.value.empty())
            continue;
        const double batch = series.value.back();
        if (!(batch >= 1) || batch > 1e7)
            continue;
        draft.plan.workload.globalBatch = static_cast<int>(batch);
        draft.taken.push_back("workload.global_batch " + std::to_string(draft.plan.workload.globalBatch)
            + " from the steps of " + draft.sourceOf(series.source));
        return;
    }
}

/// Replicas: what the degrees leave of the world.
void takeReplicas(Draft &draft)
{
    Parallelism &p = draft.plan.parallelism;
    const std::int64_t ranks = std::int64_t(p.tensor) * p.pipeline * p.context;
    const Told &told = draft.arguments;
    const bool hasDegrees = told.isDivided();
    if (!draft.worldSize) {
        if (draft.isClusterTold || hasDegrees)
            p.data.reset();
        return;
    }
    const int world = *draft.worldSize;
    if (world % ranks != 0) {
        if (hasDegrees)
            return draft.bad(told.isTorchtitan() ? "parallelism.tensor_parallel_degree" : "tensor_model_parallel_size",
                "tensor × pipeline × context = " + std::to_string(ranks) + " does not divide the "
                    + std::to_string(world) + " GPUs of the run",
                "degrees that do");
        p.data.reset();
        return draft.assume("The plan's degrees do not divide the " + std::to_string(world)
            + " GPUs of the run, and no source tells others");
    }
    const int data = static_cast<int>(world / ranks);
    if (hasDegrees) {
        p.data = data;
        draft.taken.push_back("parallelism.data " + std::to_string(data) + ": " + std::to_string(world) + " GPUs / "
            + std::to_string(ranks));
        const auto own = draft.whole("data_parallel_size", 1, kMostGpus);
        if (own && *own != data && told.isMegatron())
            draft.bad("data_parallel_size", "is " + std::to_string(*own),
                std::to_string(data) + ", as the world and the other degrees make");
    } else {
        p.data.reset();
    }
}

/// Where the micro-batches of a step are told for each replica, and not for all.
void takeAccumulation(Draft &draft)
{
    if (draft.arguments.has("global_batch_size") || draft.arguments.has("deepspeed.train_batch_size"))
        return;
    const auto steps = draft.whole("gradient_accumulation_steps", 1, 1'000'000);
    const bool isEach = !draft.arguments.translations().empty() && draft.arguments.has("micro_batch_size");
    if (!steps && !isEach)
        return;
    const Parallelism &p = draft.plan.parallelism;
    const int ranks = p.tensor * p.pipeline * p.context;
    const int replicas = p.data.value_or(std::max(1, draft.worldSize.value_or(draft.plan.cluster.gpus()) / ranks));
    const std::int64_t batch = std::int64_t(draft.plan.workload.microBatch) * replicas * steps.value_or(1);
    if (batch > 10'000'000)
        return draft.bad(
            "gradient_accumulation_steps", "makes a batch of " + std::to_string(batch), "at most 10000000");
    draft.plan.workload.globalBatch = static_cast<int>(batch);
    draft.taken.push_back("workload.global_batch " + std::to_string(batch) + ": micro-batch × "
        + std::to_string(replicas) + " replicas × " + std::to_string(steps.value_or(1)) + " from "
        + draft.arguments.said(steps ? "gradient_accumulation_steps" : "micro_batch_size"));
    imports::takeTrainingTokens(draft);
}

std::string modelName(const Draft &draft)
{
    const WorkloadSpec &workload = draft.plan.workload;
    return workload.inlineModel ? workload.inlineModel->name : workload.model;
}

/// What Megatron refuses, and a plan too or deals otherwise.
void checkRules(Draft &draft)
{
    Plan &plan = draft.plan;
    Parallelism &p = plan.parallelism;
    const ModelSpec *model = draft.model ? &*draft.model
        : plan.workload.inlineModel      ? &*plan.workload.inlineModel
                                         : draft.catalogue.model(plan.workload.model);
    const std::string whose = draft.model ? std::string() : " of " + modelName(draft) + ", the plan's model";
    if (model && model->heads > 0 && model->heads % p.tensor != 0)
        draft.bad("tensor_model_parallel_size",
            std::to_string(p.tensor) + " does not divide the " + std::to_string(model->heads) + " attention heads"
                + whose,
            "a divisor of them");
    if (model && model->isMoe() && model->experts % p.expert != 0)
        draft.bad("expert_model_parallel_size",
            std::to_string(p.expert) + " does not divide the " + std::to_string(model->experts) + " experts" + whose,
            "a divisor of them");
    if (model && !model->isMoe() && p.expert > 1) {
        p.expert = p.expertTensor = 1;
        draft.assume("parallelism.expert 1: the model has no experts");
    }
    const int chunks = p.pipeline * p.virtualPipeline;
    if (model && plan.placement.layers.empty() && chunks > 1 && model->layers % chunks != 0)
        draft.assume(std::to_string(model->layers) + " layers do not divide into " + std::to_string(chunks)
            + " stages: they are even but for the first and the last");
    WorkloadSpec &w = plan.workload;
    if (w.globalBatch > 0 && w.globalBatch % w.microBatch != 0 && !draft.arguments.has("micro_batch_size")
        && !draft.arguments.isTorchtitan() && !draft.arguments.isDeepSpeed()) {
        draft.assume("workload.micro_batch 1: the plan's " + std::to_string(w.microBatch)
            + " do not divide the global batch, and no source tells it");
        w.microBatch = 1;
    }
    if (p.data && w.microBatch > 0 && w.globalBatch > 0) {
        const std::int64_t each = std::int64_t(w.microBatch) * *p.data;
        if (w.globalBatch < each && !draft.worldSize) {
            p.data.reset();
            draft.assume("parallelism.data auto: the plan's replicas are more than the micro-batches");
        } else if (w.globalBatch % each != 0) {
            draft.assume("The global batch of " + std::to_string(w.globalBatch)
                + " is no multiple of micro-batch × replicas = " + std::to_string(each)
                + ": some replicas have a micro-batch more");
        }
    }
    if (p.virtualPipeline > 1 && draft.arguments.isMegatron() && p.data
        && w.globalBatch / std::max<std::int64_t>(1, std::int64_t(w.microBatch) * *p.data) % p.pipeline != 0)
        draft.assume("The micro-batches of a replica are no multiple of the stages, as interleaving wants them");
}

/// Without a cluster, a model or a batch there is no plan.
void fillIn(Draft &draft)
{
    WorkloadSpec &w = draft.plan.workload;
    if (lacksModel(draft.plan)) {
        w.model = "llama-3-8b";
        draft.isModelAssumed = true;
        draft.assume("No source tells a model: llama-3-8b");
    }
    const bool hasDegrees = draft.arguments.isDivided() || draft.arguments.isDeepSpeed();
    if (!hasDegrees && !draft.arguments.has("seq_length") && draft.plan.jobs.empty() && !draft.plan.jobGrid)
        draft.assume("No source tells a sequence length: " + std::to_string(w.sequenceLength) + draft.stays());
    if (!hasDegrees && draft.plan.jobs.empty() && !draft.plan.jobGrid)
        draft.assume("No source tells how the job is divided: tensor " + std::to_string(draft.plan.parallelism.tensor)
            + " and pipeline " + std::to_string(draft.plan.parallelism.pipeline)
            + (draft.hasOwnJob ? ", as in the plan" : ", which is assumed"));
    if (w.globalBatch < 1 && draft.plan.jobs.empty() && !draft.plan.jobGrid) {
        const int replicas = draft.plan.parallelism.data.value_or(std::max(1, draft.plan.cluster.gpus()));
        w.globalBatch = static_cast<int>(std::min<std::int64_t>(
            10'000'000, std::int64_t(w.microBatch) * replicas * std::max(1, draft.plan.parallelism.pipeline)));
        draft.assume("No source tells a global batch: " + std::to_string(w.globalBatch)
            + ", a micro-batch for each stage of each replica");
    }
}

/// The title of a plan of another model would be untrue of this one.
void nameAfterModel(Draft &draft, const Plan &base)
{
    const WorkloadSpec &own = draft.plan.workload, &before = base.workload;
    const bool isOther = draft.model && !base.name.empty()
        && (own.model != before.model || own.inlineModel.has_value() != before.inlineModel.has_value()
            || (own.inlineModel && !(*own.inlineModel == *before.inlineModel)));
    if (isOther)
        draft.plan.name = draft.model->name.empty() ? draft.model->id : shortened(draft.model->name);
    if (draft.plan.name.empty() && !draft.recording.name.empty())
        draft.plan.name = shortened(draft.recording.name);
}

/// Whoever imports a file has no plan yet: its keys would say nothing.
Error noGpus(const Draft &draft)
{
    const auto &sources = draft.recording.sources;
    const bool isOne = sources.size() == 1;
    return { ErrorCode::BadValue, sources.empty() ? std::string("the recording") : draft.sourceOf(0),
        std::string(isOne ? "it does not tell" : "neither it nor another of the sources tells")
            + " on how many GPUs the training runs"
            + (!draft.ignored.empty()             ? " (" + draft.ignored.front() + ")"
                    : draft.notUnderstood.empty() ? ""
                                                  : " (" + draft.notUnderstood.front() + ")"),
        "a topology or a log of the run beside it, or a plan that has GPUs (--base PLAN)" };
}

} // namespace

bool tellsOfAPlan(const Recording &recording)
{
    const imports::Told told(recording);
    const bool hasArguments = std::ranges::any_of(
        megatronArguments(), [&](const MegatronArgument &argument) { return told.has(argument.name); });
    const auto isTold = [](const SampleSeries &series) {
        return series.name == samples::kGlobalBatch || series.name == "log.Total number of parameters";
    };
    return hasArguments || told.isMegatron() || told.isTorchtitan() || told.isDeepSpeed() || told.has("world_size")
        || told.has("recipe") || told.has("nnodes") || !recording.models.empty() || !recording.nodes.empty()
        || !recording.prices.empty() || !recording.benchmarks.empty() || std::ranges::any_of(recording.series, isTold)
        || std::ranges::any_of(
            recording.ranks, [](const RankRecording &rank) { return rank.worldSize > 0 || !rank.gpu.empty(); });
}

ExpectedAll<ImportedPlan> planFrom(
    const Recording &recording, const Catalogue &catalogue, const Plan &base, bool mayTellNothing)
{
    if (!mayTellNothing && !tellsOfAPlan(recording))
        return std::unexpected(Errors { { ErrorCode::UnknownName,
            recording.sources.empty() ? std::string("the recording") : recording.sources.front().file,
            "nothing in it tells of a plan",
            "arguments of a training, a config.json, a topology, prices, or benchmarks of links and drives" } });
    Draft draft(recording, catalogue, base);
    imports::takeDoubts(draft);
    takeWorldSize(draft);
    imports::takeModel(draft);
    imports::takeMegatron(draft);
    imports::takeTorchtitan(draft);
    imports::takeDeepSpeed(draft);
    takeLoggedBatch(draft);
    imports::takeCluster(draft);
    takeReplicas(draft);
    takeAccumulation(draft);
    fillIn(draft);
    checkRules(draft);
    imports::takeBenchmarks(draft);
    if (draft.errors.empty() && draft.plan.cluster.gpus() < 1)
        return std::unexpected(Errors { noGpus(draft) });
    if (draft.errors.empty())
        draft.errors = validatePlan(draft.plan);
    if (!draft.errors.empty())
        return std::unexpected(std::move(draft.errors));
    nameAfterModel(draft, base);
    draft.sortDoubts();
    return ImportedPlan { std::move(draft.plan), std::move(draft.taken), std::move(draft.assumed),
        std::move(draft.assumedGpu), draft.isModelAssumed, std::move(draft.ignored), std::move(draft.notUnderstood) };
}

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A plan exported, its script read back, and what of both has to be equal. For tests.

#include "core/evaluation/evaluate/run.h"
#include "core/facts/plan/enum_names.h"
#include "core/runs/imports/plan_from_recording.h"
#include "core/runs/launch/launch.h"
#include "core/runs/telemetry/read_sources.h"

#include <QFile>
#include <QTemporaryDir>

#include <cmath>

namespace trainyard::trial {

inline ExpectedAll<EvaluationPtr> evaluated(const Plan &plan, Depth depth = Depth::Score)
{
    static EvaluationWorkspace workspace;
    return run(std::make_shared<const Plan>(plan), depth, { builtinCatalogue(), workspace });
}

/// A plan of the same machines that has everything else otherwise, so that what import does not set shows.
inline Plan otherPlan(const Plan &plan)
{
    Plan other;
    other.cluster = plan.cluster;
    other.workload.model = "gpt-3-13b";
    other.workload.sequenceLength = 640;
    other.workload.globalBatch = 77;
    other.workload.microBatch = 7;
    other.workload.precision = Precision::Tf32;
    other.workload.optimizer = plan.workload.optimizer == Optimizer::Adam ? Optimizer::Adam : Optimizer::Lion;
    other.parallelism = { .tensor = 3, .pipeline = 5, .data = 11, .context = 2, .virtualPipeline = 4, .zeroStage = 2 };
    other.schedule = ScheduleKind::Hanayo;
    other.memory.recompute = Recompute::Full;
    other.memory.recomputeLayers = 3;
    other.memory.recomputeNorms = other.memory.recomputeActivationFunction = true;
    other.memory.optimizerOffload = OptimizerOffload::Host;
    other.memory.activationOffload = ActivationOffload::Host;
    other.memory.offloadFraction = 0.3;
    return other;
}

inline ExpectedAll<ImportedPlan> readBack(const std::string &script, const Plan &base)
{
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("launch.sh"));
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        qFatal("no temporary file");
    file.write(script.data(), qsizetype(script.size()));
    file.close();
    const auto recording = readSource(path.toStdString(), {});
    if (!recording)
        return std::unexpected(Errors { recording.error() });
    return planFrom(*recording, builtinCatalogue(), base);
}

inline ModelSpec modelOf(const Plan &plan)
{
    return plan.workload.inlineModel ? *plan.workload.inlineModel : *builtinCatalogue().model(plan.workload.model);
}

/// Of two models what training them has to do with: no names, and no width of layers that there are not.
inline ModelSpec shapeOf(ModelSpec model)
{
    bool hasDense = false;
    std::vector<bool> experts;
    for (int layer = 0; layer < model.layers; ++layer)
        hasDense = hasDense || !model.isExpertLayer(layer);
    model.id = model.name = model.source = "";
    model.publishedParameters = 0;
    model.ffn = hasDense ? model.ffn : 0;
    model.queryKeyValueBias = model.queryKeyValueBias && !model.linearBias;
    return model;
}

/// Keys of workload, parallelism, schedule, recompute and offload that differ. `data`: degree that the plan's auto came
/// to. `tokens`: by how many the tokens of a run may differ, which frameworks count in whole samples or steps.
inline std::vector<std::string> differences(const Plan &plan, const Plan &back, int data, double tokens)
{
    std::vector<std::string> keys;
    const auto check = [&](bool isSame, const char *key) {
        if (!isSame)
            keys.emplace_back(key);
    };
    const WorkloadSpec &w = plan.workload, &v = back.workload;
    check(w.model == v.model, "workload.model");
    check(shapeOf(modelOf(plan)) == shapeOf(modelOf(back)), "the model's shape");
    check(w.sequenceLength == v.sequenceLength, "workload.sequence_length");
    check(w.documentLength == v.documentLength, "workload.document_length");
    check(w.globalBatch == v.globalBatch, "workload.global_batch");
    check(w.microBatch == v.microBatch, "workload.micro_batch");
    check(w.precision == v.precision, "workload.precision");
    check(w.optimizer == v.optimizer, "workload.optimizer");
    check(w.trainingTokens.has_value() == v.trainingTokens.has_value()
            && std::abs(w.trainingTokens.value_or(0) - v.trainingTokens.value_or(0)) <= tokens,
        "workload.training_tokens");
    const Parallelism &p = plan.parallelism, &q = back.parallelism;
    check(p.tensor == q.tensor, "parallelism.tensor");
    check(p.pipeline == q.pipeline, "parallelism.pipeline");
    check(q.data == data, "parallelism.data");
    check(p.context == q.context, "parallelism.context");
    check(p.expert == q.expert, "parallelism.expert");
    check(p.expertTensor == q.expertTensor, "parallelism.expert_tensor");
    check(p.virtualPipeline == q.virtualPipeline, "parallelism.virtual_pipeline");
    check((p.tensor > 1 && p.usesSequenceParallel()) == (q.tensor > 1 && q.usesSequenceParallel()),
        "parallelism.sequence_parallel");
    check(p.zeroStage == q.zeroStage, "parallelism.zero_stage");
    check(plan.schedule == back.schedule, "schedule");
    const MemoryStrategy &m = plan.memory, &n = back.memory;
    check(m.recompute == n.recompute, "memory.recompute");
    check(m.recomputeLayers == n.recomputeLayers, "memory.recompute_layers");
    check(m.recomputeNorms == n.recomputeNorms, "memory.recompute_norms");
    check(m.recomputeActivationFunction == n.recomputeActivationFunction, "memory.recompute_activation_function");
    check(m.recomputeUpProjection == n.recomputeUpProjection, "memory.recompute_up_projection");
    check(m.recomputeSharedExperts == n.recomputeSharedExperts, "memory.recompute_shared_experts");
    check(m.activationOffload == n.activationOffload, "memory.activation_offload");
    check(m.optimizerOffload == n.optimizerOffload, "memory.optimizer_offload");
    check(m.parameterOffload == n.parameterOffload, "memory.parameter_offload");
    check(m.offloadExpertInput == n.offloadExpertInput, "memory.offload_expert_input");
    check(m.savedActivationBits == n.savedActivationBits, "memory.saved_activation_bits");
    if (m.optimizerOffload != OptimizerOffload::None)
        check(m.delayedUpdate == n.delayedUpdate, "memory.delayed_update");
    if (m.activationOffload == ActivationOffload::None)
        return keys;
    check(m.offloadFraction == n.offloadFraction, "memory.offload_fraction");
    check(m.offloadPolicy == n.offloadPolicy, "memory.offload_policy");
    check(m.offloadMinElements == n.offloadMinElements, "memory.offload_min_elements");
    check(m.offloadGroup == n.offloadGroup && m.offloadAhead == n.offloadAhead, "memory.offload_ahead");
    return keys;
}

/// "" where the plan is exported and read back alike, or refused with a key for each reason; else what went wrong.
/// `isExported` tells which of the two.
inline std::string roundTrip(const EvaluationPtr &evaluation, LaunchTarget target, bool &isExported)
{
    isExported = false;
    const Plan &plan = *evaluation->plan;
    const auto file = launchFile(*evaluation, target);
    if (!file) {
        for (const Error &error : file.error()) {
            static constexpr std::array kSections { "workload", "parallelism", "schedule", "memory", "moe", "wan",
                "placement", "heterogeneity", "cluster", "profile", "jobs", "job_grid", "bubble_fill" };
            const std::string section = error.where.substr(0, error.where.find_first_of(".["));
            if (std::ranges::find(kSections, section) == kSections.end() || error.what.empty())
                return "refused without a key: " + toString(error);
        }
        return file.error().empty() ? "refused without a reason" : "";
    }
    isExported = true;
    const auto back = readBack(file->text, otherPlan(plan));
    if (!back)
        return toString(back.error().front()) + "\n" + file->text;
    const auto has = [&](const char *part) { return file->text.find(part) != std::string::npos; };
    const bool isInSteps = has("torchtitan.train") || has("run_recipe.py");
    const double sample = plan.workload.sequenceLength;
    const auto keys =
        differences(plan, back->plan, evaluation->layout.data, sample * (isInSteps ? plan.workload.globalBatch : 1));
    std::string text;
    for (const std::string &key : keys)
        text += key + " differs. ";
    return text.empty() ? text : text + "\n" + file->text;
}

} // namespace trainyard::trial

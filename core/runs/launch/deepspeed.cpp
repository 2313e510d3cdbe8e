// SPDX-License-Identifier: GPL-3.0-or-later
// DeepSpeed's JSON: batch, sharding, offload, precision and optimizer. Model, length and degrees are the program's that
// calls deepspeed.initialize, and each of them that the plan tells is named.
#include "core/facts/plan/enum_names.h"
#include "core/runs/launch/launch_internal.h"

namespace trainyard::launch {

namespace {

/// Keys in their order; values as JSON has them.
using Members = std::vector<std::pair<std::string, std::string>>;

std::string quoted(std::string_view word)
{
    return "\"" + std::string(word) + "\"";
}

std::string objectOf(const Members &members, const std::string &indent)
{
    std::string text = "{\n";
    for (std::size_t i = 0; i < members.size(); ++i)
        text += indent + "  " + quoted(members[i].first) + ": " + members[i].second
            + (i + 1 < members.size() ? ",\n" : "\n");
    return text + indent + "}";
}

std::string flag(bool isOn)
{
    return isOn ? "true" : "false";
}

std::string optimizerOf(Draft &draft, Members &members)
{
    const Optimizer optimizer = draft.plan.workload.optimizer;
    const bool isMoved = draft.plan.memory.optimizerOffload != OptimizerOffload::None;
    if (optimizer == Optimizer::Sgd && isMoved)
        draft.refuse("workload.optimizer", "DeepSpeed updates adam and lion in host memory, and no sgd", "adam");
    if (optimizer == Optimizer::Sgd && draft.plan.parallelism.zeroStage > 0)
        members.emplace_back("zero_allow_untested_optimizer", "true");
    switch (optimizer) {
    case Optimizer::Adam:
        return "AdamW";
    case Optimizer::Lion:
        return "Lion";
    case Optimizer::Sgd:
        return "SGD";
    default:
        draft.refuse("workload.optimizer", std::string("DeepSpeed builds no ") + toString(optimizer) + " by its JSON",
            "adam, lion or sgd");
        return {};
    }
}

Members offloadTo(bool isDrive)
{
    Members members { { "device", quoted(isDrive ? "nvme" : "cpu") } };
    if (isDrive)
        members.emplace_back("nvme_path", quoted("/local_nvme"));
    members.emplace_back("pin_memory", "true");
    return members;
}

void refuseOffload(Draft &draft)
{
    const MemoryStrategy &memory = draft.plan.memory;
    const int stage = draft.plan.parallelism.zeroStage;
    if (memory.optimizerOffload == OptimizerOffload::Interleaved)
        draft.refuse("memory.optimizer_offload",
            "DeepSpeed's JSON divides the update by a share of the states, not by every few of them",
            "none, host or ssd");
    if (memory.optimizerOffload == OptimizerOffload::Host && stage < 1)
        draft.refuse("memory.optimizer_offload", "DeepSpeed offloads sharded states alone", "zero_stage 1, 2 or 3");
    if (memory.optimizerOffload == OptimizerOffload::Ssd && stage != 3)
        draft.refuse("memory.optimizer_offload",
            "below ZeRO stage 3 DeepSpeed keeps in host memory what is to go to drives", "zero_stage 3, or host");
    if (memory.parameterOffload != ParameterOffload::None && stage != 3)
        draft.refuse("memory.parameter_offload", "DeepSpeed offloads parameters with ZeRO stage 3", "zero_stage 3");
    if (memory.optimizerOffload == OptimizerOffload::None && memory.parameterOffload != ParameterOffload::None)
        draft.note("With parameters off the GPU DeepSpeed's CPU update is faster: memory.optimizer_offload is none");
    if (memory.optimizerOffload != OptimizerOffload::None && memory.delayedUpdate)
        draft.refuse("memory.delayed_update", "DeepSpeed's JSON has no update that is a step late", "false");
    if (memory.activationOffload != ActivationOffload::None)
        draft.refuse("memory.activation_offload",
            "DeepSpeed moves the inputs of checkpoints that the program makes, and its JSON does not tell which",
            "none");
}

std::string shardingOf(Draft &draft)
{
    const MemoryStrategy &memory = draft.plan.memory;
    const int stage = draft.plan.parallelism.zeroStage;
    refuseOffload(draft);
    Members members { { "stage", std::to_string(stage) } };
    if (stage > 0) {
        members.emplace_back("overlap_comm", flag(stage > 1));
        members.emplace_back("contiguous_gradients", "true");
    }
    const Members none { { "device", quoted("none") } };
    const bool isMoved = memory.optimizerOffload != OptimizerOffload::None;
    members.emplace_back("offload_optimizer",
        objectOf(isMoved ? offloadTo(memory.optimizerOffload == OptimizerOffload::Ssd) : none, "    "));
    if (memory.optimizerOffload == OptimizerOffload::Ssd || memory.parameterOffload == ParameterOffload::Ssd)
        draft.note("nvme_path /local_nvme stands where the folder of your drives goes");
    if (stage == 3)
        members.emplace_back("offload_param",
            objectOf(memory.parameterOffload != ParameterOffload::None
                    ? offloadTo(memory.parameterOffload == ParameterOffload::Ssd)
                    : none,
                "    "));
    return objectOf(members, "  ");
}

void refusePipeline(Draft &draft)
{
    const Parallelism &p = draft.plan.parallelism;
    if (p.pipeline > 1 && p.zeroStage > 1)
        draft.refuse("parallelism.zero_stage", "DeepSpeed's pipelines refuse to shard gradients", "0 or 1");
    if (std::string_view(toString(draft.plan.schedule)) != "1f1b")
        draft.refuse("schedule", std::string("DeepSpeed's pipelines run no ") + toString(draft.plan.schedule), "1f1b");
    if (p.virtualPipeline > 1)
        draft.refuse("parallelism.virtual_pipeline", "a stage of DeepSpeed's pipelines is one chunk", "1");
}

/// Keys that its JSON does not tell, with what the plan has: the program's arguments.
void tellTheProgram(Draft &draft)
{
    const Plan &plan = draft.plan;
    const Parallelism &p = plan.parallelism;
    std::string told = "workload.model "
        + (plan.workload.inlineModel ? plan.workload.inlineModel->name : plan.workload.model)
        + ", workload.sequence_length " + std::to_string(plan.workload.sequenceLength);
    const auto add = [&](bool isTold, const char *key, const std::string &value) {
        if (isTold)
            told += std::string(", ") + key + " " + value;
    };
    for (const auto &[key, degree] : { std::pair("parallelism.tensor", p.tensor),
             std::pair("parallelism.pipeline", p.pipeline), std::pair("parallelism.context", p.context),
             std::pair("parallelism.expert", p.expert), std::pair("parallelism.expert_tensor", p.expertTensor) })
        add(degree > 1, key, std::to_string(degree));
    add(p.tensor > 1 && p.usesSequenceParallel(), "parallelism.sequence_parallel", "true");
    add(plan.memory.recompute != Recompute::None, "memory.recompute", toString(plan.memory.recompute));
    add(plan.workload.trainingTokens.has_value(), "workload.training_tokens",
        plan.workload.trainingTokens ? std::to_string(std::int64_t(*plan.workload.trainingTokens)) : "");
    draft.note("DeepSpeed's JSON does not tell, and your program has to be told: " + told);
}

} // namespace

void makeDeepSpeed(Draft &draft)
{
    draft.commit = "DeepSpeed edaa7221267243c7be7fb49c5d5f5c4fb97b4641";
    refuseOtherKeys(draft,
        { "memory.activation_offload", "memory.optimizer_offload", "memory.parameter_offload",
            "memory.delayed_update" });
    const Plan &plan = draft.plan;
    const WorkloadSpec &w = plan.workload;
    if (w.precision != Precision::Bf16 && w.precision != Precision::Fp16 && w.precision != Precision::Fp32)
        draft.refuse("workload.precision",
            std::string("DeepSpeed's JSON has no ") + toString(w.precision) + " for training", "bf16, fp16 or fp32");
    refusePipeline(draft);
    Members members { { "train_batch_size", std::to_string(w.globalBatch) },
        { "train_micro_batch_size_per_gpu", std::to_string(w.microBatch) },
        { "gradient_accumulation_steps", std::to_string(draft.evaluation.layout.classes.front().microBatches) },
        { "bf16", objectOf({ { "enabled", flag(w.precision == Precision::Bf16) } }, "  ") },
        { "fp16", objectOf({ { "enabled", flag(w.precision == Precision::Fp16) } }, "  ") } };
    const std::string optimizer = optimizerOf(draft, members);
    members.emplace_back("optimizer",
        objectOf({ { "type", quoted(optimizer) }, { "params", objectOf({ { "lr", "1e-4" } }, "    ") } }, "  "));
    members.emplace_back("zero_optimization", shardingOf(draft));
    members.emplace_back("steps_per_print", "1");
    members.emplace_back("wall_clock_breakdown", "true");
    draft.note("The learning rate (optimizer.params.lr) is not the plan's business: set your own");
    draft.note("Start it on "
        + std::to_string(
            std::int64_t(draft.data()) * plan.parallelism.tensor * plan.parallelism.pipeline * plan.parallelism.context)
        + " GPUs: DeepSpeed refuses a batch that is not micro-batch × accumulation × replicas");
    tellTheProgram(draft);
    draft.text = objectOf(members, "") + "\n";
}

} // namespace trainyard::launch

// SPDX-License-Identifier: GPL-3.0-or-later
// What DeepSpeed prints of its configuration when it starts.
#include "core/facts/plan/enum_names.h"
#include "core/runs/imports/draft.h"

namespace trainyard::imports {

void takeDeepSpeed(Draft &draft)
{
    const Told &told = draft.arguments;
    if (!told.isDeepSpeed())
        return;
    WorkloadSpec &w = draft.plan.workload;
    if (const auto batch = draft.whole("deepspeed.train_batch_size", 1, 10'000'000)) {
        w.globalBatch = *batch;
        draft.take("workload.global_batch", std::to_string(*batch), "deepspeed.train_batch_size");
    }
    if (const auto own = draft.whole("deepspeed.train_micro_batch_size_per_gpu", 1, 1'000'000)) {
        w.microBatch = *own;
        draft.take("workload.micro_batch", std::to_string(*own), "deepspeed.train_micro_batch_size_per_gpu");
    }
    if (const auto stage = draft.whole("deepspeed.zero_optimization_stage", 0, 3)) {
        draft.plan.parallelism.zeroStage = *stage;
        draft.take("parallelism.zero_stage", std::to_string(*stage), "deepspeed.zero_optimization_stage");
    }
    const char *const kOn[] = { "deepspeed.bfloat16_enabled", "deepspeed.fp16_enabled" };
    for (const char *name : kOn)
        if (told.isOn(name)) {
            w.precision = name == kOn[0] ? Precision::Bf16 : Precision::Fp16;
            draft.take("workload.precision", toString(w.precision), name);
        }
    if (told.has(kOn[0]) && told.has(kOn[1]) && !told.isOn(kOn[0]) && !told.isOn(kOn[1])) {
        w.precision = Precision::Fp32;
        draft.take("workload.precision", toString(w.precision), kOn[0]);
    }
    takeOffloadedStates(draft, "deepspeed.offload_optimizer", "deepspeed.offload_param");
    if (told.has("deepspeed.offload_ratio"))
        draft.doubt(told.said("deepspeed.offload_ratio"),
            "a part of the optimizer stays on the GPU; all of it is taken to move");
    if (!draft.worldSize)
        if (const auto size = draft.whole("deepspeed.world_size", 1, 10'000'000))
            draft.worldSize = size; // of a replica's ranks, where there is no pipeline
    if (draft.plan.parallelism.zeroStage < 3 && told.has("deepspeed.zero_optimization_stage")
        && !told.has("deepspeed.offload_param"))
        draft.plan.memory.parameterOffload = ParameterOffload::None; // which stage 3 alone has
    const auto steps = draft.whole("gradient_accumulation_steps", 1, 1'000'000);
    const auto batch = draft.whole("deepspeed.train_batch_size", 1, 10'000'000);
    const auto own = draft.whole("deepspeed.train_micro_batch_size_per_gpu", 1, 1'000'000);
    if (!draft.worldSize && !told.isMegatron() && steps && batch && own
        && *batch % (std::int64_t(*steps) * *own) == 0) {
        const Parallelism &p = draft.plan.parallelism;
        const int replicas = static_cast<int>(*batch / (std::int64_t(*steps) * *own));
        draft.worldSize = replicas * p.tensor * p.pipeline * p.context;
        draft.assume(std::to_string(*draft.worldSize) + " GPUs: the batch is one of " + std::to_string(replicas)
            + " replicas, and each is on as many GPUs as the plan has it");
    }
    const char *const microName = own ? "deepspeed.train_micro_batch_size_per_gpu" : "micro_batch_size";
    if (draft.worldSize && batch && told.has(microName)) {
        const Parallelism &p = draft.plan.parallelism;
        const std::int64_t replicas = std::max(1, *draft.worldSize / (p.tensor * p.pipeline * p.context));
        const std::int64_t made = std::int64_t(w.microBatch) * steps.value_or(1) * replicas;
        if (steps ? made != *batch : *batch % made != 0)
            draft.doubt(told.said("deepspeed.train_batch_size"),
                "is " + std::to_string(*batch) + ", and " + told.said(microName) + " × "
                    + (steps ? told.said("gradient_accumulation_steps") + " × " : std::string())
                    + std::to_string(replicas) + " replicas make " + std::to_string(made) + ": "
                    + std::to_string(*batch) + " is taken");
    }
    draft.takeStack(told.isMegatron() && told.translations().empty() ? "megatron-deepspeed" : "deepspeed",
        told.translations().empty() ? "as DeepSpeed printed its configuration" : "whose configuration it is");
}

} // namespace trainyard::imports

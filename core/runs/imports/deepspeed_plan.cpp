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
    if (!draft.worldSize)
        if (const auto size = draft.whole("deepspeed.world_size", 1, 10'000'000))
            draft.worldSize = size; // of a replica's ranks, where there is no pipeline
    draft.plan.stack = {};
    draft.plan.stack.name = told.isMegatron() ? "megatron-deepspeed" : "deepspeed";
    draft.taken.push_back("stack " + draft.plan.stack.name + ", as DeepSpeed printed its configuration");
}

} // namespace trainyard::imports

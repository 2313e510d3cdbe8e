// SPDX-License-Identifier: GPL-3.0-or-later
// What configurations of other trainers tell beside Megatron's arguments.
#include "core/base/ascii_text.h"
#include "core/base/printable.h"
#include "core/runs/imports/draft.h"

namespace trainyard::imports {

void takeOffloadedStates(Draft &draft, const char *optimizer, const char *parameters)
{
    MemoryStrategy &memory = draft.plan.memory;
    const auto device = [&](const char *name) {
        const auto told = draft.arguments.text(name);
        return told && *told != "none" && *told != "False" ? told : std::nullopt;
    };
    const auto isOff = [&](const char *name) { return draft.arguments.text(name) == "none"; };
    if (isOff(optimizer))
        memory.optimizerOffload = OptimizerOffload::None;
    if (isOff(parameters))
        memory.parameterOffload = ParameterOffload::None;
    if (const auto told = device(optimizer)) {
        memory.optimizerOffload = *told == "nvme" ? OptimizerOffload::Ssd : OptimizerOffload::Host;
        draft.take("memory.optimizer_offload", *told == "nvme" ? "ssd" : "host", optimizer);
    }
    if (const auto told = device(parameters)) {
        memory.parameterOffload = *told == "nvme" ? ParameterOffload::Ssd : ParameterOffload::Host;
        draft.take("memory.parameter_offload", *told == "nvme" ? "ssd" : "host", parameters);
    }
}

void takeTrainer(Draft &draft)
{
    const Told &told = draft.arguments;
    if (told.translations().empty())
        return;
    std::string stack = told.text("stack").value_or("");
    if (const auto file = told.text("deepspeed_file")) {
        stack = "deepspeed";
        const auto has = [&](const char *part) { return lowered(*file).find(part) != std::string::npos; };
        const int stage = has("z3") || has("zero3") || has("zero_3") ? 3
            : has("z2") || has("zero2") || has("zero_2")             ? 2
            : has("z1") || has("zero1") || has("zero_1")             ? 1
                                                                     : -1;
        if (!told.has("deepspeed.zero_optimization_stage") && stage >= 0) {
            draft.plan.parallelism.zeroStage = stage;
            draft.take(
                "parallelism.zero_stage", std::to_string(stage) + ", as the file's name has it,", "deepspeed_file");
        } else if (!told.has("deepspeed.zero_optimization_stage")) {
            draft.doubt(
                told.said("deepspeed_file"), "names a file that shards the states; it is not among the sources");
        }
    }
    if (const auto file = told.text("launch_file"))
        draft.doubt(told.said("launch_file"),
            "names Accelerate's configuration, which may shard the states otherwise: it is not among the sources");
    const bool isAll = told.isOn("offload_states");
    takeOffloadedStates(
        draft, isAll ? "offload_states" : "offload_optimizer", isAll ? "offload_states" : "offload_param");
    if (told.has("packing") && !told.isOn("packing"))
        draft.assume(told.has("seq_length")
                ? "Sequences are taken to be as long as " + told.said("seq_length")
                    + " allows: they are not packed, and how long they are is told by no source"
                : "How long the sequences are is told by no source, and they are not packed");
    if (!stack.empty()) {
        draft.takeStack(stack, "on which " + told.trainer() + " trains");
    } else {
        draft.assume("What " + told.trainer() + " reaches is not known apart: the stack is that of the plan");
    }
}

} // namespace trainyard::imports

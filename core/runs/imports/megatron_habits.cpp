// SPDX-License-Identifier: GPL-3.0-or-later
// What Megatron does where it is asked to, and the stack of a plan always: which of the two a script has.
#include "core/runs/imports/draft.h"
#include "core/runs/imports/megatron_arguments.h"

#include <array>

namespace trainyard::imports {

bool isWholeScript(const Draft &draft)
{
    const Told &told = draft.arguments;
    return draft.recording.sources.size() == 1 && draft.recording.sources.front().kind == SourceKind::MegatronArguments
        && told.has("num_layers") && told.has("micro_batch_size")
        && told.namesBehind(std::string(kInDoubt) + "bf16").empty();
}

void tellHabits(Draft &draft)
{
    struct Habit {
        const char *name, *what;
    };
    static constexpr std::array<Habit, 5> kHabits {
        { { "overlap_grad_reduce", "gradients are reduced beside backward" },
            { "overlap_param_gather", "parameters are gathered beside forward" },
            { "tp_comm_overlap", "tensor-parallel communication is hidden in part" },
            { "use_flash_attn", "attention is fused" },
            { "gradient_accumulation_fusion", "gradients are added within their products" } }
    };
    const Told &told = draft.arguments;
    std::string on, off;
    for (const Habit &habit : kHabits)
        if (told.isOn(habit.name))
            on += (on.empty() ? "" : ", ") + told.said(habit.name);
    if (!on.empty())
        draft.taken.push_back("stack " + draft.plan.stack.name + ", to whose habits belong " + on);
    if (draft.plan.stack.name != "megatron-core") // older ones do none of it
        return;
    for (const Habit &habit : kHabits)
        if (told.has(habit.name) ? !told.isOn(habit.name)
                                 : isWholeScript(draft) && std::string_view(habit.name) == "overlap_grad_reduce")
            off += (off.empty() ? "" : "; ") + std::string(habit.what) + " (" + flagOf(habit.name) + " is not on)";
    if (!off.empty())
        draft.assume("As " + draft.plan.stack.name + " does it, " + off);
}

} // namespace trainyard::imports

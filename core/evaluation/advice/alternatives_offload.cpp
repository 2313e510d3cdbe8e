// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/alternatives_internal.h"

#include "core/facts/plan/plan_io.h"
#include "core/iteration/memory/off_gpu.h"
#include "core/iteration/offload/layer_policy.h"

namespace trainyard::detail {

namespace {

std::string percent(double share)
{
    std::string text = std::to_string(int(share * 1000 + 0.5)); // thousandths: one decimal where there is one
    const std::string whole = text.size() > 1 ? text.substr(0, text.size() - 1) : "0";
    return text.back() == '0' ? whole + " %" : whole + "." + text.back() + " %";
}

void addFraction(Alternatives &out, const Plan &plan)
{
    const KeyRow &row = rowOf(&MemoryStrategy::offloadFraction);
    Choices choices = choicesOf(row, plan);
    for (Choice<KeyValue> &c : choices)
        if (c.value) {
            c.key = std::to_string(*c.value);
            c.label = percent(*c.value);
        }
    addChoices(out, plan, row, choices);
}

} // namespace

void addActivationOffload(Alternatives &out, const Plan &plan)
{
    const KeyRow &where = rowOf(&MemoryStrategy::activationOffload), &how = rowOf(&MemoryStrategy::offloadPolicy);
    Choices targets = choicesOf(where, plan);
    if (!allHaveDrives(plan.cluster))
        targets[std::size_t(ActivationOffload::Ssd)].blocked =
            "not every pool of GPUs has drives; a pool's editor on the map adds them";
    addChoices(out, plan, where, targets);
    if (plan.memory.activationOffload == ActivationOffload::None)
        return;
    if (plan.memory.offloadPolicy == OffloadPolicy::SsdTrain
        || plan.memory.offloadPolicy == OffloadPolicy::Memo) // the others go by room
        addFraction(out, plan);
    Choices policies = choicesOf(how, plan);
    for (Choice<KeyValue> &policy : policies) {
        Plan with = plan;
        how.set(with, policy.value);
        policy.blocked = whyPolicyRests(with);
    }
    addChoices(out, plan, how, policies);
}

} // namespace trainyard::detail

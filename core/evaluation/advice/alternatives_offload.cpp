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

void addFraction(std::vector<Alternative> &out, const Plan &plan)
{
    std::set<double> values { 0.25, 0.5, 0.75, 1 };
    if (plan.memory.offloadFraction)
        values.insert(*plan.memory.offloadFraction);
    std::vector<Choice<Auto<double>>> choices { { std::nullopt, "auto", "auto", {} } };
    for (const double v : values)
        choices.push_back({ v, std::to_string(v), percent(v), {} });
    addGroup(out, plan, "offload_fraction", "Offloaded share", choices, plan.memory.offloadFraction,
        [](Plan &p, Auto<double> share) { p.memory.offloadFraction = share; });
}

} // namespace

void addActivationOffload(std::vector<Alternative> &out, const Plan &plan)
{
    const std::string noDrives =
        allHaveDrives(plan.cluster) ? "" : "not every pool of GPUs has drives; a pool's editor on the map adds them";
    std::vector<Choice<ActivationOffload>> targets = choicesOf<ActivationOffload>();
    targets[std::size_t(ActivationOffload::Ssd)].blocked = noDrives;
    addGroup(out, plan, "activation_offload", "Activation offload", targets, plan.memory.activationOffload,
        [](Plan &p, ActivationOffload target) { p.memory.activationOffload = target; });
    if (plan.memory.activationOffload == ActivationOffload::None)
        return;
    if (plan.memory.offloadPolicy == OffloadPolicy::SsdTrain
        || plan.memory.offloadPolicy == OffloadPolicy::Memo) // the others go by room
        addFraction(out, plan);
    std::vector<Choice<OffloadPolicy>> policies = choicesOf<OffloadPolicy>();
    for (Choice<OffloadPolicy> &policy : policies) {
        Plan with = plan;
        with.memory.offloadPolicy = policy.value;
        policy.blocked = whyPolicyRests(with);
    }
    addGroup(out, plan, "offload_policy", "What is offloaded", policies, plan.memory.offloadPolicy,
        [](Plan &p, OffloadPolicy policy) { p.memory.offloadPolicy = policy; });
}

} // namespace trainyard::detail

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/plan_step.h"

#include "core/placement/degrees.h"

#include <tuple>

namespace trainyard {

namespace {

constexpr int kComputedBits = 16;      // what an activation has unless told
constexpr int kReducedBits = 32;       // what a gradient has at most

bool isFewer(const std::optional<int> &from, const std::optional<int> &to, int unlessTold)
{
    return to.value_or(unlessTold) < from.value_or(unlessTold);
}

auto localSgd(const WanStrategy &wan)
{
    return std::tuple(wan.localSgd, wan.localSteps, wan.fragments, wan.exchangeBits);
}

bool approximatesMore(const Plan &from, const Plan &to)
{
    const bool keepsLess = isFewer(from.memory.savedActivationBits, to.memory.savedActivationBits, kComputedBits)
        || (to.memory.fp8Activations && !from.memory.fp8Activations);
    const bool sendsLess = isFewer(from.wan.activationBits, to.wan.activationBits, kComputedBits)
        || isFewer(from.wan.gradientBits, to.wan.gradientBits, kReducedBits);
    const bool isLate = to.memory.delayedUpdate && !from.memory.delayedUpdate;
    const bool isApart = to.wan.localSgd != LocalSgd::None && localSgd(from.wan) != localSgd(to.wan);
    return keepsLess || sendsLess || isLate || isApart;
}

} // namespace

bool changesTraining(const Plan &from, const Plan &to)
{
    const WorkloadSpec &a = from.workload, &b = to.workload;
    return a.optimizer != b.optimizer || a.precision != b.precision || (b.optimizer == Optimizer::Galore && a.galoreRank != b.galoreRank)
        || approximatesMore(from, to);
}

bool isBound(const Plan &plan)
{
    return plan.stack.name == "ideal";
}

std::optional<PinnedData> pinnedData(const Plan &plan)
{
    const Degrees p = degreesOf(plan);
    const int there = plan.cluster.gpus(), group = p.tensor * p.pipeline * p.context;
    if (!p.data || group < 1 || group > there || *p.data * group <= there)
        return std::nullopt;
    return PinnedData{*p.data, there / group, *p.data * group, there};
}

} // namespace trainyard

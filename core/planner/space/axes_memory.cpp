// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/axes_internal.h"

#include "core/facts/cluster/drives.h"

namespace trainyard::detail {

namespace {

/// What is recomputed: the kind, and of whole layers how many quarters of a stage; -1: as the plan says.
struct Recomputed {
    Recompute kind = Recompute::None;
    int quarters = 4;
    bool operator==(const Recomputed &) const = default;
};

void addRecompute(AxisList &axes, const Scope &scope)
{
    const MemoryStrategy &memory = scope.plan.memory;
    std::vector<Recomputed> values { { Recompute::None } };
    // Where attention keeps no matrix of s x s, only a stack that recomputes every second product has something there.
    if (!scope.stack.flashAttention || scope.stack.operatorLevelSelective)
        values.push_back({ Recompute::Selective });
    if (scope.hasLayers)
        for (const int quarters : { 1, 2, 3 })
            values.push_back({ Recompute::Full, quarters });
    values.push_back({ Recompute::Full });
    const bool isOwn = memory.recompute == Recompute::Full && memory.recomputeLayers;
    const int layers = scope.model->layers;
    axes.add(
        "recompute", { "memory.recompute", "memory.recompute_layers" }, "Recompute", values,
        Recomputed { memory.recompute, isOwn ? -1 : 4 },
        [layers](Plan &p, const Recomputed &r) {
            p.memory.recompute = r.kind;
            if (r.quarters < 0)
                return;
            p.memory.recomputeLayers.reset();
            const int ofStage = (layers + p.parallelism.pipeline - 1) / std::max(1, p.parallelism.pipeline);
            if (r.quarters < 4)
                p.memory.recomputeLayers = std::max(1, ofStage * r.quarters / 4);
        },
        [now = memory.recomputeLayers](const Recomputed &r) {
            static constexpr const char *kShares[] = { "", " of a quarter of the layers", " of half the layers",
                " of three quarters of the layers" };
            return r.quarters < 0 ? "full, of " + std::to_string(now.value_or(0)) + " layers per stage"
                                  : std::string(labelOf(r.kind)) + (r.quarters < 4 ? kShares[r.quarters] : "");
        });
}

template <class E> std::set<E> withoutDrives(const Scope &scope)
{
    return allHaveDrives(scope.plan.cluster) ? std::set<E> {} : std::set<E> { E::Ssd };
}

} // namespace

void addMemoryAxes(AxisList &axes, const Scope &scope)
{
    addRecompute(axes, scope);
    if (!scope.hasLayers)
        return;
    const MemoryStrategy &memory = scope.plan.memory;
    const bool mayUseHosts = scope.statesHosts || scope.isScarce;
    std::set<ActivationOffload> targets = withoutDrives<ActivationOffload>(scope);
    if (!mayUseHosts)
        targets.insert(ActivationOffload::Host);
    axes.addChoices(
        "activation_offload", "memory.activation_offload", "Activation offload", memory.activationOffload,
        [](Plan &p, ActivationOffload target) { p.memory.activationOffload = target; }, targets);
    std::set<OptimizerOffload> states = withoutDrives<OptimizerOffload>(scope);
    if (!mayUseHosts)
        states.insert({ OptimizerOffload::Host, OptimizerOffload::Interleaved });
    axes.addChoices(
        "optimizer_offload", "memory.optimizer_offload", "Optimizer states", memory.optimizerOffload,
        [](Plan &p, OptimizerOffload v) { p.memory.optimizerOffload = v; }, states);
}

} // namespace trainyard::detail

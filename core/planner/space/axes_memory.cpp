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
        rowOf(&MemoryStrategy::recompute), values, Recomputed { memory.recompute, isOwn ? -1 : 4 },
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
        },
        { rowOf(&MemoryStrategy::recomputeLayers).path });
}

/// What has no place to go to.
template <class E> std::set<KeyValue> withoutPlace(const Scope &scope, std::set<KeyValue> hosts)
{
    if (scope.statesHosts || scope.isScarce)
        hosts.clear();
    if (!allHaveDrives(scope.plan.cluster))
        hosts.insert(double(E::Ssd));
    return hosts;
}

} // namespace

void addMemoryAxes(AxisList &axes, const Scope &scope)
{
    addRecompute(axes, scope);
    if (!scope.hasLayers)
        return;
    axes.offer(rowOf(&MemoryStrategy::activationOffload),
        withoutPlace<ActivationOffload>(scope, placesOf(ActivationOffload::Host)));
    axes.offer(rowOf(&MemoryStrategy::optimizerOffload),
        withoutPlace<OptimizerOffload>(scope, placesOf(OptimizerOffload::Host, OptimizerOffload::Interleaved)));
}

} // namespace trainyard::detail

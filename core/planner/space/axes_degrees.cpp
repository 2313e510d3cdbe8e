// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/axes_internal.h"

#include "core/engine/schedule/traits.h"

namespace trainyard::detail {

namespace {

/// Tokens of a sequence below which splitting it further leaves kernels nothing to do.
constexpr int kLeastTokensOfContextRank = 2048;
constexpr int kMostTensor = 64, kMostContext = 64;
constexpr int kMostOfGroups = 12; // stages that are looked at for the GPUs' sake

/// In a node or in several whole ones.
bool canHoldGroup(const Cluster &cluster, int tensor)
{
    const auto holds = [tensor](const Pool &pool) {
        return tensor <= pool.gpusPerNode ? pool.gpus() > 0 : tensor % pool.gpusPerNode == 0 && tensor <= pool.gpus();
    };
    return std::ranges::any_of(cluster.datacenters,
        [&](const Datacenter &datacenter) { return std::ranges::any_of(datacenter.pools, holds); });
}

void addTensor(AxisList &axes, const Scope &scope)
{
    std::set<int> values;
    for (const int t : powersOfTwo(std::clamp(scope.largestNode, 8, kMostTensor)))
        if (scope.model->heads % t == 0 && canHoldGroup(scope.plan.cluster, t))
            values.insert(t);
    axes.addNumbers(rowOf(&Parallelism::tensor), values);
}

/// Divisors of the layers, powers of two (the ends then have fewer), within layers and GPUs; on unequal GPUs also
/// numbers by which their tensor groups divide.
void addPipeline(AxisList &axes, const Scope &scope)
{
    const int most = std::min(scope.model->layers, scope.gpus);
    std::set<int> values = powersOfTwo(most);
    for (int p = 1; p <= most; ++p)
        if (scope.model->layers % p == 0)
            values.insert(p);
    for (int groups = scope.gpus; scope.isMixed && groups >= scope.gpus / scope.largestNode && groups > 0; groups /= 2)
        for (int p = 1; p <= std::min(most, kMostOfGroups); ++p)
            if (groups % p == 0)
                values.insert(p);
    axes.addNumbers(rowOf(&Parallelism::pipeline), values);
}

void addContext(AxisList &axes, const Scope &scope)
{
    const int tokens = scope.plan.workload.sequenceLength;
    std::set<int> values { 1 };
    for (const int c : powersOfTwo(kMostContext))
        if (tokens % (2 * c) == 0 && tokens / c >= kLeastTokensOfContextRank)
            values.insert(c);
    axes.addNumbers(rowOf(&Parallelism::context), values);
}

void addExperts(AxisList &axes, const Scope &scope)
{
    std::set<int> experts, tensors;
    for (const int e : powersOfTwo(std::min(scope.model->experts, scope.gpus)))
        if (scope.model->experts % e == 0)
            experts.insert(e);
    for (const int t : powersOfTwo(8))
        if (scope.model->expertFfn % t == 0)
            tensors.insert(t);
    axes.addNumbers(rowOf(&Parallelism::expert), experts);
    axes.addNumbers(rowOf(&Parallelism::expertTensor), tensors);
}

/// As many as there is room for, or powers of two and three times those: whatever is asked for, so that an answer with
/// fewer constraints is never worse. On unequal GPUs and across datacenters, where as many replicas as a power of two
/// leave many GPUs out, also the least that make do with so many micro-batches each.
void addData(AxisList &axes, const Scope &scope)
{
    constexpr int kMostMicroBatches = 8;
    std::set<int> counts;
    const int batch = scope.plan.workload.globalBatch, most = std::min(scope.gpus, batch);
    for (const int d : powersOfTwo(most))
        for (const int value : { d, 3 * d })
            if (value <= most)
                counts.insert(value);
    for (const int size : { 1, 2, 4 })
        for (int each = 5; each <= kMostMicroBatches && (scope.isMixed || scope.sites > 1); ++each)
            if (const int value = (batch + size * each - 1) / (size * each); value <= most)
                counts.insert(value);
    if (const auto now = scope.plan.parallelism.data ? scope.plan.parallelism.data : scope.options.ownReplicas)
        counts.insert(*now);
    std::vector<KeyValue> values(counts.begin(), counts.end());
    values.emplace_back();
    axes.addValues(rowOf(&Parallelism::data), std::move(values));
}

/// A few that the row says.
void addListed(AxisList &axes, const KeyRow &row)
{
    const std::span<const double> values = row.key.choice.values;
    axes.addNumbers(row, { values.begin(), values.end() });
}

/// On wherever there is a tensor group, unless the plan says otherwise; or off.
void addSequenceParallel(AxisList &axes, const Scope &scope)
{
    const KeyRow &row = rowOf(&Parallelism::sequenceParallel);
    const KeyValue now = row.value(scope.plan);
    axes.addValues(row, now ? std::vector<KeyValue> { 1 - *now, now } : std::vector<KeyValue> { 0, now },
        [](const KeyRow &of, KeyValue on) { return of.shownText(on.value_or(1)); });
}

} // namespace

void addDegreeAxes(AxisList &axes, const Scope &scope)
{
    if (scope.hasLayers) {
        addTensor(axes, scope);
        addPipeline(axes, scope);
        addContext(axes, scope);
        if (scope.model->isMoe())
            addExperts(axes, scope);
    }
    addData(axes, scope);
    if (!scope.hasLayers)
        return;
    addListed(axes, rowOf(&Parallelism::virtualPipeline));
    addSequenceParallel(axes, scope);
    addListed(axes, rowOf(&Parallelism::zeroStage));
}

} // namespace trainyard::detail

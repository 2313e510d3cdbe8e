// SPDX-License-Identifier: GPL-3.0-or-later
// Axes as the rows of the keys tell them (core/facts/plan/keys/), and where they stand among others.
#include "core/planner/space/axes_internal.h"

#include "core/facts/catalogue/stack_schedules.h"

namespace trainyard::detail {

void AxisList::addValues(const KeyRow &row, std::vector<KeyValue> values, TextOf text)
{
    add(
        row, std::move(values), row.value(m_scope.plan), [&row](Plan &p, KeyValue value) { row.set(p, value); },
        [&](KeyValue value) { return text(row, value); });
}

void AxisList::addNumbers(const KeyRow &row, std::set<int> values)
{
    const int current = int(row.value(m_scope.plan).value());
    values.insert(current);
    const std::vector<int> kept = thinned(std::move(values), current);
    addValues(row, { kept.begin(), kept.end() });
}

void AxisList::offer(const KeyRow &row, const std::set<KeyValue> &without)
{
    std::vector<KeyValue> values = row.tried();
    std::erase_if(values, [&](KeyValue value) { return without.contains(value) && value != row.value(m_scope.plan); });
    addValues(row, std::move(values));
}

bool AxisList::isOpen(const KeyRow &row) const
{
    const Plan &plan = m_scope.plan;
    return row.applies(plan) && (row.key.training == Training::Same || m_scope.options.mayTrainOtherwise)
        && (m_scope.hasLayers || !row.key.choice.measured)
        && (!row.path.starts_with("moe.") || (m_scope.model && m_scope.model->isMoe()))
        && (!row.path.starts_with("wan.") || m_scope.datacenters > 1)
        && (!row.path.starts_with("heterogeneity.") || m_scope.isMixed || plan.heterogeneity != Heterogeneity {});
}

void AxisList::offerRest()
{
    for (const KeyRow &row : planKeys())
        if (row.key.choice.isTried && isOpen(row) && std::ranges::find(m_axes, row.axisId(), &Axis::id) == m_axes.end())
            offer(row);
}

void addExpertAxes(AxisList &axes, const Scope &scope)
{
    if (!scope.hasLayers || !scope.model->isMoe())
        return;
    const bool isSentOnce = scope.model->expertsPerToken == 1; // no copy is sent twice
    axes.offer(rowOf(&MoeStrategy::dispatch),
        isSentOnce ? placesOf(MoeDispatch::RankDedup, MoeDispatch::Dedup) : std::set<KeyValue> {});
    axes.offer(rowOf(&MoeStrategy::expertOverlap));
    if (scope.model->sharedExpertFfn > 0)
        axes.offer(rowOf(&MoeStrategy::sharedExpertOverlap));
}

void addWanAxes(AxisList &axes, const Scope &scope)
{
    if (scope.datacenters < 2 || scope.plan.cluster.wanLinks.empty())
        return;
    const KeyRow &cell = rowOf(&WanStrategy::cell);
    if (scope.plan.wan.sharing == WanSharing::Temporal || takesTurnsOnTheWan(scope.plan.stack.name)) {
        axes.offer(rowOf(&WanStrategy::sharing));
        axes.addValues(cell, cell.tried(), [](const KeyRow &row, KeyValue number) { return row.fileText(number); });
    }
    axes.addValues(rowOf(&WanStrategy::tcpConnections), { KeyValue() });
    axes.offer(rowOf(&WanStrategy::allReduce));
    if (std::ranges::any_of(scope.plan.cluster.wanLinks, [](const WanLink &link) { return link.lossRate > 0; }))
        axes.offer(rowOf(&WanStrategy::congestion));
}

void addMixedAxes(AxisList &axes, const Scope &scope)
{
    const Heterogeneity &now = scope.plan.heterogeneity;
    if (!scope.isMixed && now == Heterogeneity {})
        return;
    axes.offer(rowOf(&Heterogeneity::compute));
    if (!scope.hasLayers)
        return;
    axes.offer(rowOf(&Heterogeneity::state), // balanced is min-params
        placesOf(now.state == StateSharing::Balanced ? StateSharing::MinParams : StateSharing::Balanced));
    axes.offer(rowOf(&Heterogeneity::layers));
    axes.offer(rowOf(&Heterogeneity::accumulation));
}

/// The solver works against a clock, and two schedulers are not modelled: they are a plan's own choice alone.
void addJobAxes(AxisList &axes)
{
    axes.offer(rowOf(&Plan::jobScheduler), placesOf(JobScheduler::ShardMilp, JobScheduler::Milp, JobScheduler::List));
    axes.offer(rowOf(&JobOptions::spill));
    axes.offer(rowOf(&JobOptions::doubleBuffer));
    axes.offer(rowOf(&JobOptions::lookAhead));
}

void addNumericAxes(AxisList &axes, const Scope &scope)
{
    if (!scope.options.mayTrainOtherwise)
        return;
    if (scope.hasLayers) {
        axes.addValues(rowOf(&WorkloadSpec::precision), { double(Precision::Bf16), double(Precision::Fp8) });
        axes.addValues(rowOf(&WorkloadSpec::optimizer), { double(Optimizer::Adam), double(Optimizer::Adam8bit) });
    }
    if (scope.datacenters < 2)
        return;
    const KeyRow &gradients = rowOf(&WanStrategy::gradientBits);
    axes.offer(rowOf(&WanStrategy::activationBits));
    axes.addValues(gradients, gradients.tried(),
        [](const KeyRow &row, KeyValue bits) { return bits ? row.shownText(bits) : std::string("as computed"); });
    axes.offer(rowOf(&WanStrategy::localSgd));
}

} // namespace trainyard::detail

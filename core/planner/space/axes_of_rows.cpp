// SPDX-License-Identifier: GPL-3.0-or-later
// Axes as the rows of the keys tell them (core/facts/plan/keys/).
#include "core/planner/space/axes_internal.h"

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

} // namespace trainyard::detail

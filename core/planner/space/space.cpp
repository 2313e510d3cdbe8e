// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/space.h"

#include <algorithm>

namespace trainyard {

SearchSpace::SearchSpace(PlanPtr base, std::vector<Axis> axes)
    : m_base(std::move(base))
    , m_axes(std::move(axes))
{
    for (const Axis &axis : m_axes) {
        const std::uint64_t values = axis.values.size();
        m_size = m_size == kTooMany || (values > 0 && m_size > (kTooMany - 1) / values) ? kTooMany : m_size * values;
    }
}

int SearchSpace::axis(std::string_view id) const
{
    const auto found = std::ranges::find(m_axes, id, &Axis::id);
    return found == m_axes.end() ? -1 : static_cast<int>(found - m_axes.begin());
}

Candidate SearchSpace::candidate(std::uint64_t number) const
{
    Candidate result(m_axes.size());
    for (std::size_t i = m_axes.size(); i-- > 0;) {
        const std::uint64_t values = m_axes[i].values.size();
        result[i] = static_cast<std::uint16_t>(number % values);
        number /= values;
    }
    return result;
}

std::uint64_t SearchSpace::number(const Candidate &candidate) const
{
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < m_axes.size(); ++i)
        result = result * m_axes[i].values.size() + candidate[i];
    return result;
}

Candidate SearchSpace::baseCandidate() const
{
    Candidate result;
    for (const Axis &axis : m_axes)
        result.push_back(axis.base);
    return result;
}

PlanPtr SearchSpace::plan(const Candidate &candidate) const
{
    std::shared_ptr<Plan> made;
    for (std::size_t i = 0; i < m_axes.size(); ++i) {
        if (candidate[i] == m_axes[i].base)
            continue;
        if (!made)
            made = std::make_shared<Plan>(*m_base);
        m_axes[i].values[candidate[i]].set(*made);
    }
    return made ? PlanPtr(std::move(made)) : m_base;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/sweep/row_plans.h"

#include "core/facts/plan/plan_io.h"
#include "core/planner/sweep/copy_key.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr std::size_t kMostKept = 256; // plans

/// Whether one is the other, or lies inside it: then their order matters.
bool overlap(const std::string &a, const std::string &b)
{
    const std::string &shorter = a.size() < b.size() ? a : b, &longer = a.size() < b.size() ? b : a;
    return longer.starts_with(shorter)
        && (longer.size() == shorter.size() || longer[shorter.size()] == '.' || longer[shorter.size()] == '[');
}

} // namespace

RowPlans::RowPlans(SweepSpec spec)
    : m_spec(std::move(spec))
    , m_axes(m_spec.vary.size())
{
    for (std::size_t i = 0; i < m_axes.size(); ++i) {
        const auto isInTheWay = [&](const SweepAxis &other) {
            return &other != &m_spec.vary[i] && overlap(other.key, m_spec.vary[i].key);
        };
        m_axes[i].isCopied =
            plainValue(*m_spec.plan, m_spec.vary[i].key).has_value() && std::ranges::none_of(m_spec.vary, isInTheWay);
        m_axes[i].with.resize(m_spec.vary[i].values.size());
    }
}

ExpectedAll<PlanPtr> RowPlans::longWay(const std::vector<std::size_t> &choices)
{
    std::vector<std::size_t> those;
    for (std::size_t i = 0; i < choices.size(); ++i)
        if (!m_axes[i].isCopied)
            those.push_back(choices[i]);
    if (const auto kept = m_kept.find(those); kept != m_kept.end())
        return kept->second;
    ExpectedAll<PlanPtr> plan = m_spec.plan;
    for (std::size_t i = 0; i < choices.size() && plan; ++i) {
        if (m_axes[i].isCopied)
            continue;
        auto next = withKeySet(**plan, m_spec.vary[i].key, m_spec.vary[i].values[choices[i]]);
        if (next)
            plan = std::make_shared<const Plan>(std::move(*next));
        else
            plan = std::unexpected(std::move(next.error()));
    }
    if (m_kept.size() >= kMostKept)
        m_kept.clear();
    m_kept.emplace(those, plan);
    return plan;
}

ExpectedAll<PlanPtr> RowPlans::plan(const std::vector<std::size_t> &choices)
{
    for (std::size_t i = 0; i < choices.size(); ++i) {
        std::any &with = m_axes[i].with[choices[i]];
        if (!m_axes[i].isCopied || with.has_value())
            continue;
        auto read = withKeySet(*m_spec.plan, m_spec.vary[i].key, m_spec.vary[i].values[choices[i]]);
        if (!read)
            return std::unexpected(std::move(read.error()));
        with = plainValue(*read, m_spec.vary[i].key);
        Plan copied = *m_spec.plan;
        if (!setPlainValue(copied, m_spec.vary[i].key, with) || !(copied == *read)) {
            m_axes[i].isCopied = false; // it sets more than itself
            m_kept.clear();
        }
    }
    ExpectedAll<PlanPtr> plan = longWay(choices);
    if (!plan || std::ranges::none_of(m_axes, &Axis::isCopied))
        return plan;
    Plan next = **plan;
    for (std::size_t i = 0; i < choices.size(); ++i)
        if (m_axes[i].isCopied && !setPlainValue(next, m_spec.vary[i].key, m_axes[i].with[choices[i]]))
            return std::unexpected(Errors { { ErrorCode::UnknownKey, m_spec.vary[i].key,
                "the plan of this row has no such key", "keys that every row has" } });
    return std::make_shared<const Plan>(std::move(next));
}

} // namespace trainyard

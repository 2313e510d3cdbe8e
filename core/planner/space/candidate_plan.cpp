// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/candidate_plan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <utility>

namespace trainyard {

namespace {

struct Section {
    std::string_view key; // or, with a point at its end, all keys that begin so
    void (*putBack)(Plan &plan, const Plan &base);
};

constexpr std::array kSections {
    Section { "parallelism.", [](Plan &plan, const Plan &base) { plan.parallelism = base.parallelism; } },
    Section { "schedule", [](Plan &plan, const Plan &base) { plan.schedule = base.schedule; } },
    Section { "workload.micro_batch",
        [](Plan &plan, const Plan &base) { plan.workload.microBatch = base.workload.microBatch; } },
    Section { "workload.global_batch",
        [](Plan &plan, const Plan &base) { plan.workload.globalBatch = base.workload.globalBatch; } },
    Section { "memory.", [](Plan &plan, const Plan &base) { plan.memory = base.memory; } },
    Section { "placement.", [](Plan &plan, const Plan &base) { plan.placement = base.placement; } },
    Section { "moe.", [](Plan &plan, const Plan &base) { plan.moe = base.moe; } },
    Section { "wan.", [](Plan &plan, const Plan &base) { plan.wan = base.wan; } },
    Section { "", [](Plan &plan, const Plan &base) { plan = base; } }, // any other key
};
constexpr std::uint32_t kWhole = 1u << (kSections.size() - 1);

std::uint32_t sectionOf(std::string_view key)
{
    const auto isIn = [&](const Section &section) {
        return section.key.ends_with('.') || section.key.empty() ? key.starts_with(section.key) : key == section.key;
    };
    return 1u << (std::ranges::find_if(kSections, isIn) - kSections.begin());
}

void putBackIn(Plan &plan, const Plan &base, std::uint32_t sections)
{
    if ((sections & kWhole) != 0)
        sections = kWhole;
    for (; sections != 0; sections &= sections - 1)
        kSections[std::size_t(std::countr_zero(sections))].putBack(plan, base);
}

/// By its keys, unless it sets more than they say.
std::uint32_t sectionsOf(const Axis &axis, Plan &plan, const Plan &base)
{
    std::uint32_t sections = axis.keys.empty() ? kWhole : 0;
    for (const std::string &key : axis.keys)
        sections |= sectionOf(key);
    for (const AxisValue &value : axis.values) {
        value.set(plan);
        putBackIn(plan, base, sections);
        if (plan != base) {
            sections = kWhole;
            plan = base;
        }
    }
    return sections;
}

} // namespace

CandidatePlan::CandidatePlan(const SearchSpace &space)
    : m_space(space)
    , m_plan(std::make_shared<Plan>(*space.base()))
    , m_shown(m_plan)
{
    for (const Axis &axis : space.axes())
        m_sections.push_back(sectionsOf(axis, *m_plan, *space.base()));
}

void CandidatePlan::putBack()
{
    putBackIn(*m_plan, *m_space.base(), std::exchange(m_changed, 0));
}

const PlanPtr &CandidatePlan::of(const Candidate &candidate)
{
    putBack();
    const std::vector<Axis> &axes = m_space.axes();
    for (std::size_t a = 0; a < axes.size(); ++a)
        if (candidate[a] != axes[a].base) {
            m_changed |= m_sections[a];
            axes[a].values[candidate[a]].set(*m_plan);
        }
    return m_shown;
}

} // namespace trainyard

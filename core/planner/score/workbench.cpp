// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/score/workbench.h"

#include "core/facts/plan/jobs.h"
#include "core/iteration/layouts/shares.h"
#include "core/iteration/placement/activations_leave.h"

namespace trainyard {

bool isSimple(const Plan &plan)
{
    const MemoryStrategy &memory = plan.memory;
    return !hasJobs(plan) && !plan.jobGrid && plan.cluster.datacenters.size() == 1
        && plan.cluster.datacenters.front().pools.size() == 1 && stageFacts(plan).hasLayers && !plan.layerProfiles
        && !plan.heterogeneity.isLayered() && !sharesOut(plan) && plan.heterogeneity.assign.empty()
        && activationsLeaveTo(memory) == ActivationOffload::None && memory.optimizerOffload == OptimizerOffload::None
        && memory.parameterOffload == ParameterOffload::None && !plan.bubbleFill.enabled;
}

WorkloadInTurn *ScoreBench::of(const Candidate &candidate)
{
    const std::uint64_t rest = m_axes.key(Part::Rest, candidate);
    if (m_turns && m_rest == rest) {
        if (m_now != candidate)
            m_turns->askedBy(m_plans.of(candidate));
        m_now = candidate;
        return &*m_turns;
    }
    m_turns.reset();
    m_names = std::make_shared<const Plan>(*m_plans.of(m_axes.representative(Part::Rest, candidate)));
    auto made = resolve(m_names, m_catalogue);
    if (!made)
        return nullptr;
    m_turns.emplace(std::move(*made));
    m_stack = std::make_shared<const StackSpec>(m_turns->asked().stack);
    m_turns->askedBy(m_plans.of(candidate));
    m_rest = rest;
    m_now = candidate;
    return &*m_turns;
}

Errors ScoreBench::errorsOf(const Candidate &candidate)
{
    const WorkloadInTurn *const turns = of(candidate);
    const PlanPtr &plan = m_plans.of(candidate);
    if (turns && sharesNames(*m_names, *plan))
        return errorsBesideNames(turns->asked());
    m_now.clear();
    const auto resolved = resolve(plan, m_catalogue);
    return resolved ? Errors {} : resolved.error();
}

const Plan &ScoreBench::plan(const Candidate &candidate)
{
    m_now.clear(); // its plan lies where the workload's was
    return *m_plans.of(candidate);
}

} // namespace trainyard

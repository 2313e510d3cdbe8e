#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The plans of many candidates one after the other, in one place: for each only what the last one had changed is put
// back, so that nothing is copied that no axis sets.
//
//   CandidatePlan plans(space);
//   for (const Candidate &candidate : candidates)
//       look(*plans.of(candidate)); // until the next one

#include "core/planner/space/space.h"

namespace trainyard {

/// One a thread; refers to the space.
class CandidatePlan {
public:
    explicit CandidatePlan(const SearchSpace &space);

    /// As SearchSpace::plan(), but whoever was given the one before sees this one in its place.
    [[nodiscard]] const PlanPtr &of(const Candidate &candidate);

private:
    void putBack();

    const SearchSpace &m_space;
    std::shared_ptr<Plan> m_plan;
    /// the same
    PlanPtr m_shown;
    /// [axis]: which parts of a plan it sets, a bit each
    std::vector<std::uint32_t> m_sections;
    /// by the candidate that is there
    std::uint32_t m_changed = 0;
};

} // namespace trainyard

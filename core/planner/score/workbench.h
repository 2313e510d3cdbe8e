#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The workload of one candidate after the other, resolved no more often than its names change: what the parts of a
// score are made from. One a thread; refers to space and catalogue.

#include "core/iteration/placement/resolve.h"
#include "core/planner/score/score_axes.h"
#include "core/planner/space/candidate_plan.h"

#include <memory>
#include <optional>

namespace trainyard {

/// One datacenter with GPUs of one kind, layers that make the times, everything on the GPU and all shares even: then
/// there is one placement, nothing is shared with others, and what parts say adds up to the whole.
[[nodiscard]] bool isSimple(const Plan &plan);

class ScoreBench {
public:
    ScoreBench(const SearchSpace &space, const Catalogue &catalogue, const ScoreAxes &axes)
        : m_catalogue(catalogue)
        , m_axes(axes)
        , m_plans(space)
    {
    }

    /// All that resolve() says of it.
    [[nodiscard]] Errors errorsOf(const Candidate &candidate);
    /// Without its checks. Valid until the next call; nullptr where a name cannot be resolved. It lies where the last
    /// one of the same names was laid.
    [[nodiscard]] WorkloadInTurn *of(const Candidate &candidate);
    /// Of the names of the last workload.
    [[nodiscard]] const std::shared_ptr<const StackSpec> &stack() const { return m_stack; }
    /// The plan alone, until the next call.
    [[nodiscard]] const Plan &plan(const Candidate &candidate);

private:
    const Catalogue &m_catalogue;
    const ScoreAxes &m_axes;
    CandidatePlan m_plans;
    std::optional<WorkloadInTurn> m_turns;
    std::shared_ptr<const StackSpec> m_stack;
    /// of the workload
    PlanPtr m_names;
    /// whose names it has
    std::uint64_t m_rest = 0;
    /// empty: none
    Candidate m_now;
};

} // namespace trainyard

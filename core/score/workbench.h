#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The workload of one candidate after the other, resolved no more often than its names change: what the parts of a
// score are made from. One a thread; refers to space and catalogue.

#include "core/placement/resolve.h"
#include "core/score/score_axes.h"

#include <optional>

namespace trainyard {

/// One datacenter with GPUs of one kind, layers that make the times, everything on the GPU and all shares even: then
/// there is one placement, nothing is shared with others, and what parts say adds up to the whole.
[[nodiscard]] bool isSimple(const Plan &plan);

class ScoreBench {
public:
    ScoreBench(const SearchSpace &space, const Catalogue &catalogue, const ScoreAxes &axes)
        : m_space(space)
        , m_catalogue(catalogue)
        , m_axes(axes)
    {
    }

    /// With every name resolved and all checks: errors as resolve().
    [[nodiscard]] ExpectedAll<Workload> resolved(const Candidate &candidate) const
    {
        return resolve(m_space.plan(candidate), m_catalogue);
    }
    /// Without its checks and without a layout. Valid until the next call; nullptr where a name cannot be resolved.
    [[nodiscard]] Workload *of(const Candidate &candidate);

private:
    const SearchSpace &m_space;
    const Catalogue &m_catalogue;
    const ScoreAxes &m_axes;
    std::optional<Workload> m_workload;
    std::uint64_t m_rest = 0; // whose names it has
    Candidate m_now;
};

} // namespace trainyard

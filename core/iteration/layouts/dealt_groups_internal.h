#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Sets of equal pipelines among which micro-batches are dealt, how fast each is with micro-batches of a size, and the
// deal (dealt_pipelines.h). References live as long as the workload.

#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/layouts/dealt_pipelines.h"
#include "core/iteration/layouts/replica_runs.h"
#include "core/iteration/placement/class_workload.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace trainyard {

/// Equal pipelines, pinned alike.
struct PipelineGroup {
    std::vector<ReplicaRun> parts;
    int pipelines = 0;
    int microBatch = 1;

    [[nodiscard]] const ReplicaRun &like() const { return parts.front(); }
    [[nodiscard]] const RankPin *pin() const { return like().pin; }
    /// Number of the i-th of them.
    [[nodiscard]] int number(int i) const
    {
        for (const ReplicaRun &part : parts) {
            if (i < part.pipelines)
                return part.firstPipeline + i;
            i -= part.pipelines;
        }
        return like().firstPipeline;
    }
};

/// Runs of replicas of a placed layout, those of pins apart.
[[nodiscard]] std::vector<ReplicaRun> runsToDeal(const Workload &workload);
/// With the pin's size of micro-batches, or the plan's.
[[nodiscard]] std::vector<PipelineGroup> groupsOf(const Workload &workload, const std::vector<ReplicaRun> &runs);
/// All of the group, with one micro-batch each.
[[nodiscard]] PipelineClass classOf(const PipelineGroup &group, const Workload &workload);

/// How fast the pipelines of each group are with micro-batches of each size, counted once.
class GroupPaces {
public:
    explicit GroupPaces(const Workload &workload);

    /// Seconds, of the stage that takes longest; `early`: of it that a last backward hides.
    struct Reduction {
        double whole = 0, early = 0;
    };

    /// `number`: that of the group.
    const PipelinePace &of(std::size_t number, const PipelineGroup &group);
    const Reduction &reduction(std::size_t number, const PipelineGroup &group);

private:
    const Workload &m_work;
    ClassWorkloads m_views;
    std::map<const Workload *, StageCoster> m_costers; // of views
    std::map<std::pair<std::size_t, int>, PipelinePace> m_known; // by group and size
    std::map<std::pair<std::size_t, int>, Reduction> m_reductions;
};

class GroupDeal {
public:
    GroupDeal(const Workload &workload, std::vector<PipelineGroup> groups, GroupPaces &paces);

    /// Empty, or why it cannot be.
    std::string run();
    /// Seconds until the slowest has computed and all have reduced together, where compute is balanced.
    [[nodiscard]] double end();
    [[nodiscard]] std::vector<PipelineClass> classes() const;

private:
    [[nodiscard]] EqualPipelines equal(std::size_t number);

    const Workload &m_work;
    std::vector<PipelineGroup> m_groups;
    GroupPaces &m_paces;
    std::vector<std::vector<DealtRun>> m_runs;
};

} // namespace trainyard

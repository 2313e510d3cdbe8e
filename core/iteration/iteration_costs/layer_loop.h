#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What accumulation layer by layer adds to an iteration: collectives that every rank joins once a pass and layer, and
// boundaries that wait in host memory. And the costs of stages by size of micro-batch, which unequal replicas have of
// their own.

#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/placement/class_workload.h"

namespace trainyard {

/// Refers to the workload.
class Costers {
public:
    explicit Costers(const Workload &workload)
        : m_views(workload)
    {
    }
    /// The workload as those pipelines see it, and its costs.
    [[nodiscard]] const Workload &view(const PipelineClass &pipelines) { return m_views.of(pipelines); }
    /// With the tensor groups of one of their stages too.
    [[nodiscard]] const Workload &view(const PipelineClass &pipelines, int stage)
    {
        return m_views.of(pipelines, stage);
    }
    [[nodiscard]] StageCoster &of(const Workload &view)
    {
        return m_made.try_emplace(view.plan->workload.microBatch, view).first->second;
    }

private:
    ClassWorkloads m_views;
    std::map<int, StageCoster> m_made;
};

/// Where the plan accumulates layer by layer, fills in `layers` of every class. A collective takes as long as for the
/// set of ranks that it takes longest, and `uneven_collective_penalty` times that over uneven shares.
void addLayerLoop(const Workload &workload, Costers &costers, IterationCosts &iteration);

} // namespace trainyard

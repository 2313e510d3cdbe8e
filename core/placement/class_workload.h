#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A workload as each class of its pipelines sees it: where replicas of unequal GPUs have micro-batches of their own
// size, everything that is counted by the micro-batch is asked of the class's view.

#include "core/placement/resolve.h"

#include <map>
#include <memory>

namespace trainyard {

/// With micro-batches of so many sequences.
[[nodiscard]] Workload withMicroBatch(const Workload &workload, int sequences);

/// Refers to the workload, whose layout must not change meanwhile.
class ClassWorkloads {
public:
    explicit ClassWorkloads(const Workload &workload)
        : m_workload(workload)
    {
    }
    /// The workload itself where the class has the plan's micro-batch. Valid as long as this.
    [[nodiscard]] const Workload &of(const PipelineClass &pipelines);

private:
    const Workload &m_workload;
    std::map<int, std::unique_ptr<const Workload>> m_views;
};

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A workload as each class of its pipelines sees it: where replicas of unequal GPUs have micro-batches of their own
// size, or their stages a tensor parallel degree of their own, everything that is counted by them is asked of the
// class's view.

#include "core/iteration/placement/resolve.h"

#include <map>
#include <memory>

namespace trainyard {

/// With micro-batches of so many sequences.
[[nodiscard]] Workload withMicroBatch(const Workload &workload, int sequences);
/// With tensor groups of so many GPUs everywhere. Its layout still knows who has which.
[[nodiscard]] Workload withTensor(const Workload &workload, int tensor);

/// Refers to the workload, whose layout must not change meanwhile.
class ClassWorkloads {
public:
    explicit ClassWorkloads(const Workload &workload)
        : m_workload(workload)
    {
    }
    /// With the class's micro-batch, and with the tensor groups of one of its stages. The workload itself where they
    /// are its own. Valid as long as this.
    [[nodiscard]] const Workload &of(const PipelineClass &pipelines);
    [[nodiscard]] const Workload &of(const PipelineClass &pipelines, int stage);
    /// With those tensor groups.
    [[nodiscard]] const Workload &ofTensor(int tensor);

private:
    [[nodiscard]] const Workload &view(int microBatch, int tensor);

    const Workload &m_workload;
    /// micro-batch, tensor
    std::map<std::pair<int, int>, std::unique_ptr<const Workload>> m_views;
};

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/placement/class_workload.h"

namespace trainyard {

Workload withMicroBatch(const Workload &workload, int sequences)
{
    Workload view = workload;
    Plan plan = *workload.plan;
    plan.workload.microBatch = sequences;
    view.setPlan(std::make_shared<const Plan>(std::move(plan)));
    return view;
}

const Workload &ClassWorkloads::of(const PipelineClass &pipelines)
{
    if (pipelines.microBatch == 0 || pipelines.microBatch == m_workload.plan->workload.microBatch)
        return m_workload;
    std::unique_ptr<const Workload> &view = m_views[pipelines.microBatch];
    if (!view)
        view = std::make_unique<const Workload>(withMicroBatch(m_workload, pipelines.microBatch));
    return *view;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/class_workload.h"

namespace trainyard {

namespace {

Workload with(const Workload &workload, int microBatch, int tensor)
{
    Plan plan = *workload.plan;
    plan.workload.microBatch = microBatch;
    plan.parallelism.tensor = tensor;
    return workload.askedBy(std::make_shared<const Plan>(std::move(plan)));
}

} // namespace

Workload withMicroBatch(const Workload &workload, int sequences)
{
    return with(workload, sequences, workload.degrees.tensor);
}

Workload withTensor(const Workload &workload, int tensor)
{
    return with(workload, workload.plan->workload.microBatch, tensor);
}

const Workload &ClassWorkloads::of(const PipelineClass &pipelines)
{
    return view(pipelines.microBatch > 0 ? pipelines.microBatch : m_workload.plan->workload.microBatch,
        m_workload.degrees.tensor);
}

const Workload &ClassWorkloads::of(const PipelineClass &pipelines, int stage)
{
    return view(pipelines.microBatch > 0 ? pipelines.microBatch : m_workload.plan->workload.microBatch,
        m_workload.tensorAt(pipelines.locations[std::size_t(stage)]));
}

const Workload &ClassWorkloads::ofTensor(int tensor)
{
    return view(m_workload.plan->workload.microBatch, tensor);
}

const Workload &ClassWorkloads::view(int microBatch, int tensor)
{
    if (microBatch == m_workload.plan->workload.microBatch && tensor == m_workload.degrees.tensor)
        return m_workload;
    std::unique_ptr<const Workload> &view = m_views[{ microBatch, tensor }];
    if (!view)
        view = std::make_unique<const Workload>(with(m_workload, microBatch, tensor));
    return *view;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/problems/memory_problems_internal.h"

#include "core/base/number_text.h"
#include "core/evaluation/evaluate/safe_fill.h"
#include "core/iteration/memory/off_gpu.h"

namespace trainyard {

namespace {

/// Where a plan leaves a part of the memory alone, what it may use may be full.
void addGpuMemory(std::vector<Problem> &problems, const MemoryMetrics &memory, double usable)
{
    const StageMemory &fullest = memory.perStage[std::size_t(memory.fullestStage)];
    const std::string stage = "Stage " + std::to_string(fullest.stage + 1);
    if (memory.fits && double(fullest.device) * usable <= kSafeFill * double(fullest.capacity))
        return;
    Problem problem { Severity::Warning, stage + " fills more than 95 % of its GPUs: out of memory is likely", "memory",
        {}, FixSearchKind::GpuMemory };
    if (!memory.fits) {
        problem.severity = Severity::Blocking;
        problem.text = stage + " needs " + bytesText(double(fullest.device)) + " of "
            + bytesText(double(fullest.capacity)) + " per GPU, mostly " + fullest.parts.front().first;
    }
    problems.push_back(std::move(problem));
}

std::string whatLeft(const HostMemory &host)
{
    return host.states > 0 && host.activations > 0 ? "States and activations"
        : host.states > 0                          ? "States"
                                                   : "Activations";
}

void addHostMemory(
    std::vector<Problem> &problems, const HostMemory &host, const Workload &workload, FixSearchKind toFind)
{
    const Pool &pool = workload.pool({ host.datacenter, host.pool });
    const std::string where = "cluster.datacenters[" + std::to_string(host.datacenter) + "].pools["
        + std::to_string(host.pool) + "].host.memory_gib";
    if (!host.isStated()) {
        problems.push_back({ Severity::Note,
            whatLeft(host) + " off the GPU take " + bytesText(host.total())
                + " of host memory per node, taken as enough: say host.memory_gib of pool " + pool.id,
            where, {} });
    } else if (!host.fits()) {
        problems.push_back({ Severity::Blocking,
            whatLeft(host) + " off the GPU need " + bytesText(host.total()) + " of host memory per node, and there are "
                + bytesText(host.capacity) + " in pool " + pool.id,
            where, {}, toFind });
    }
}

} // namespace

void addMemoryProblems(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload)
{
    if (!evaluation.metrics.memory)
        return;
    const MemoryMetrics &memory = *evaluation.metrics.memory;
    addGpuMemory(problems, memory, evaluation.plan->heterogeneity.memoryFraction);
    // Where GPUs do not fit, their fixes are judged by host memory too.
    for (const HostMemory &host : hostMemory(workload, memory.perStage))
        addHostMemory(problems, host, workload, memory.fits ? FixSearchKind::HostMemory : FixSearchKind::None);
}

} // namespace trainyard

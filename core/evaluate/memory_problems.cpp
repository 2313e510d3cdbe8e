// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluate/memory_problems_internal.h"

#include "core/ladder/fit.h"
#include "core/memory/off_gpu.h"
#include "core/report/number_text.h"

namespace trainyard {

namespace {

constexpr std::size_t kMostFixes = 3;

/// What the ladder would do, then single steps of it that are enough alone, in its order.
std::vector<Fix> ladderFixes(const Workload &workload, Footprints &footprints)
{
    const Fitting fitting = fitMemory(workload.plan, footprints);
    if (!fitting.fits || fitting.steps.empty())
        return {};
    std::string label;
    for (const LadderStep &step : fitting.steps)
        label += (label.empty() ? "" : " + ") + step.name;
    std::vector<Fix> fixes{{label + (fitting.isTight ? " (" + plainText(100 * (1 - fitting.after.fill())) + " % headroom)" : ""), fitting.plan}};
    for (const Rung &rung : rungs(*workload.plan, workload.model, workload.stack)) {
        if (fixes.size() == kMostFixes)
            break;
        Plan next = *workload.plan;
        rung.apply(next);
        auto plan = std::make_shared<const Plan>(std::move(next));
        if (*plan != *fitting.plan && footprints.of(plan).hasRoom())
            fixes.push_back({rung.name, std::move(plan)});
    }
    return fixes;
}

void addGpuMemory(std::vector<Problem> &problems, const MemoryMetrics &memory, const Workload &workload, FixSearch &search)
{
    const StageMemory &fullest = memory.perStage[std::size_t(memory.fullestStage)];
    const std::string stage = "Stage " + std::to_string(fullest.stage + 1);
    if (memory.fits && double(fullest.device) <= kSafeFill * double(fullest.capacity))
        return;
    Problem problem{Severity::Warning, stage + " fills more than 95 % of its GPUs: out of memory is likely", "memory", {}};
    if (!memory.fits) {
        problem.severity = Severity::Blocking;
        problem.text = stage + " needs " + bytesText(double(fullest.device)) + " of " + bytesText(double(fullest.capacity)) + " per GPU, mostly "
            + fullest.parts.front().first;
    }
    if (search.offersFixes()) {
        problem.fixes = ladderFixes(workload, search.footprints());
        problem.text += search.whatWasLeftOut();
    }
    problems.push_back(std::move(problem));
}

std::string whatLeft(const HostMemory &host)
{
    return host.states > 0 && host.activations > 0 ? "States and activations" : host.states > 0 ? "States" : "Activations";
}

/// What had left stays on the GPU again where that has room; else what the ladder knows.
std::vector<Fix> hostFixes(const Workload &workload, Footprints &footprints)
{
    Plan stays = *workload.plan;
    stays.memory.optimizerOffload = OptimizerOffload::None;
    stays.memory.parameterOffload = ParameterOffload::None;
    stays.memory.delayedUpdate = false;
    if (stays.memory.activationOffload == ActivationOffload::Host)
        stays.memory.activationOffload = ActivationOffload::None;
    auto plan = std::make_shared<const Plan>(std::move(stays));
    if (footprints.of(plan).hasRoom())
        return {{"Keep them on the GPU", std::move(plan)}};
    return ladderFixes(workload, footprints);
}

void addHostMemory(std::vector<Problem> &problems, const HostMemory &host, const Workload &workload, FixSearch &search, bool offerFixes)
{
    const Pool &pool = workload.pool({host.datacenter, host.pool});
    const std::string where = "cluster.datacenters[" + std::to_string(host.datacenter) + "].pools[" + std::to_string(host.pool) + "].host.memory_gib";
    if (!host.isStated()) {
        problems.push_back({Severity::Note, whatLeft(host) + " off the GPU take " + bytesText(host.total()) + " of host memory per node, taken as enough: say host.memory_gib of pool " + pool.id,
                            where, {}});
    } else if (!host.fits()) {
        problems.push_back({Severity::Blocking, whatLeft(host) + " off the GPU need " + bytesText(host.total()) + " of host memory per node, and there are " + bytesText(host.capacity)
                                + " in pool " + pool.id,
                            where, offerFixes ? hostFixes(workload, search.footprints()) : std::vector<Fix>{}});
        if (offerFixes)
            problems.back().text += search.whatWasLeftOut();
    }
}

} // namespace

void addMemoryProblems(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload, FixSearch &search)
{
    if (!evaluation.metrics.memory)
        return;
    const MemoryMetrics &memory = *evaluation.metrics.memory;
    addGpuMemory(problems, memory, workload, search);
    // Where GPUs do not fit, their fixes are judged by host memory too.
    for (const HostMemory &host : hostMemory(workload, memory.perStage))
        addHostMemory(problems, host, workload, search, search.offersFixes() && memory.fits);
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/problems/memory_switch_notes.h"

#include "core/base/words.h"
#include "core/evaluation/evaluate/problems/fix_of.h"
#include "core/iteration/placement/activations_leave.h"

#include <algorithm>

namespace trainyard {

namespace {

std::string whyNoUpProjection(const Workload &workload)
{
    if (workload.model.attention != AttentionKind::Latent)
        return "the model has no latent attention";
    return whyNoTensorIsSpared(workload);
}

std::string whyNoSharedExperts(const Workload &workload)
{
    if (!workload.model.isMoe() || workload.model.sharedExpertFfn == 0)
        return "the model has no shared experts";
    return whyNoTensorIsSpared(workload);
}

std::string whyNoExpertOutputs(const Workload &workload)
{
    if (!workload.model.isMoe())
        return "the model has no experts";
    if (!workload.stack.storesExpertOutputs)
        return workload.stack.name + " keeps no results of experts anyway";
    return whyNoTensorIsSpared(workload);
}

std::string whyNoExpertInput(const Workload &workload)
{
    if (!workload.model.isMoe())
        return "the model has no experts";
    if (!onlyExpertInputLeaves(workload.plan->memory))
        return "activation offload decides about the experts' input too";
    return whyNoTensorIsSpared(workload);
}

} // namespace

std::string whyNoTensorIsSpared(const Workload &workload)
{
    const MemoryStrategy &memory = workload.plan->memory;
    if (memory.recompute == Recompute::Full && !memory.recomputeLayers)
        return "every layer is recomputed as a whole";
    if (memory.recompute == Recompute::Selective && workload.stack.operatorLevelSelective)
        return "selective recomputation keeps products, not tensors";
    return {};
}

void addMemorySwitchNotes(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload)
{
    const Plan &plan = *workload.plan;
    const auto note = [&](bool isOn, const char *what, const std::string &why, const char *where, auto off) {
        if (isOn && !why.empty())
            problems.push_back({ Severity::Note, std::string(what) + " spares nothing here: " + why, where,
                { fixOf(plan, "Switch it off", off) } });
    };
    note(plan.memory.recomputeUpProjection, "Recomputing up-projections", whyNoUpProjection(workload),
        "memory.recompute_up_projection", [](Plan &p) { p.memory.recomputeUpProjection = false; });
    note(plan.memory.recomputeSharedExperts, "Recomputing shared experts", whyNoSharedExperts(workload),
        "memory.recompute_shared_experts", [](Plan &p) { p.memory.recomputeSharedExperts = false; });
    note(plan.moe.permute == MoePermute::MemoryEfficient, "The memory-efficient permutation",
        whyNoExpertOutputs(workload), "moe.permute", [](Plan &p) { p.moe.permute = MoePermute::Standard; });
    const std::string why = whyNoExpertInput(workload);
    note(plan.memory.offloadExpertInput, "Offloading the experts' input", why, "memory.offload_expert_input",
        [](Plan &p) { p.memory.offloadExpertInput = false; });
    note(plan.heterogeneity.boundaryOffload && !boundariesLeave(plan), "Boundary offload",
        plan.heterogeneity.isLayered()
            ? "activation offload decides about the inputs of layers too"
            : "only where micro-batches go through the model layer by layer do inputs of layers wait in host memory",
        "heterogeneity.boundary_offload", [](Plan &p) { p.heterogeneity.boundaryOffload = false; });
    note(plan.memory.recomputeLayers && plan.memory.recompute != Recompute::Full, "Naming layers to recompute",
        "without full recomputation none is computed again as a whole", "memory.recompute_layers",
        [](Plan &p) { p.memory.recomputeLayers.reset(); });
    const bool sharesStates = plan.heterogeneity.state != StateSharing::Even;
    note(sharesStates, "Sharing the states by memory",
        workload.degrees.zeroStage < 1 ? "ZeRO divides no states at stage 0"
            : workload.degrees.zeroStage == 1 && plan.memory.optimizerOffload != OptimizerOffload::None
            ? "what ZeRO divides lies off the GPU"
            : "",
        "heterogeneity.state", [](Plan &p) { p.heterogeneity.state = StateSharing::Even; });
    const bool areUneven =
        std::ranges::any_of(workload.layout.classes, [](const PipelineClass &c) { return c.stateShare > 0; });
    if (plan.heterogeneity.unevenPenalty != Heterogeneity {}.unevenPenalty && !areUneven)
        problems.push_back(
            { Severity::Note, "No collective is over uneven shares of the states: its penalty changes nothing",
                "heterogeneity.uneven_collective_penalty", {} });
    constexpr double kWaits = 0.01; // of the iteration
    if (plan.memory.offloadExpertInput && why.empty() && evaluation.metrics.offload
        && evaluation.metrics.offload->stall > kWaits * evaluation.metrics.iterationTime.value_or(0))
        problems.push_back({ Severity::Warning,
            formatted("Training waits %.3g s per iteration for the experts' input that left the GPU",
                evaluation.metrics.offload->stall),
            "memory.offload_expert_input",
            { fixOf(plan, "Keep the experts' input", [](Plan &p) { p.memory.offloadExpertInput = false; }) } });
}

} // namespace trainyard

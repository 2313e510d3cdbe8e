// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/idle_reasons_internal.h"

#include "core/base/words.h"
#include "core/evaluation/evaluate/problems/memory_switch_notes.h"
#include "core/facts/plan/enum_names.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/offload/layer_policy.h"
#include "core/iteration/offload/settings.h"
#include "core/iteration/placement/activations_leave.h"
#include "core/iteration/placement/layer_facts.h"

#include <algorithm>

namespace trainyard::detail {

namespace {

/// Bytes beside the states were measured on every GPU at work.
bool areBytesMeasured(const Workload &workload)
{
    return std::ranges::all_of(
        workload.layout.runs, [&](const GpuRun &run) { return measuredBytes(workload, run.location()).has_value(); });
}

int mostLayersOfAStage(const Workload &workload)
{
    int most = 0;
    for (const std::vector<StageChunk> &stage : workload.layout.chunks) {
        int layers = 0;
        for (const StageChunk &chunk : stage)
            layers += chunk.layers;
        most = std::max(most, layers);
    }
    return most;
}

std::string whyRecomputeIdles(const IdleCase &idle, const Workload &workload)
{
    const Recompute from = idle.from().memory.recompute, to = idle.to().memory.recompute;
    const bool isSelective = from == Recompute::Selective || to == Recompute::Selective;
    const bool isNone = from == Recompute::None || to == Recompute::None;
    if (isSelective && isNone && workload.stack.flashAttention && !workload.stack.operatorLevelSelective)
        return "selective recomputation makes the matrices of attention again, and the attention of "
            + workload.stack.name + " keeps none";
    return {};
}

std::string whyRecomputedLayersIdle(const IdleCase &idle, const Workload &workload)
{
    if (idle.to().memory.recompute != Recompute::Full)
        return "without full recomputation no layer is computed again as a whole";
    const int most = mostLayersOfAStage(workload);
    const auto reachesAll = [most](const std::optional<int> &layers) { return layers.value_or(most) >= most; };
    return reachesAll(idle.from().memory.recomputeLayers) && reachesAll(idle.to().memory.recomputeLayers)
        ? "no stage has more than " + counted(most, "layer")
        : std::string();
}

/// Of keys that say what leaves the GPU and how.
std::string whyMovesIdle(const IdleCase &idle, const Workload &workload)
{
    const MemoryStrategy &memory = idle.to().memory;
    if (activationsLeaveTo(memory) == ActivationOffload::None)
        return "activations stay on the GPU (memory.activation_offload is none)";
    if (std::string why = whyActivationsStay(idle.to()); !why.empty())
        return why;
    const auto &offload = idle.after.metrics.offload;
    if (!offload || offload->bytesPerGpu == 0)
        return "no activation leaves the GPU here";
    const bool byPolicy = recomputesByPolicy(*workload.plan);
    if (byPolicy && idle.isAbout("memory.offload_min_elements"))
        return std::string(labelOf(memory.offloadPolicy)) + " moves layers, whatever size their tensors have";
    if (onlyExpertInputLeaves(memory))
        return "only the experts' input leaves, as a whole and by a rule of its own (memory.offload_expert_input)";
    if (!memory.offloadFraction && !byPolicy && idle.isAbout("memory.offload_ahead"))
        return "an automatic share looks as far ahead as lets most leave, by itself";
    if (idle.isAbout("memory.offload_min_elements"))
        return "no tensor of a size between the two would leave";
    if (idle.isAbout("memory.offload_fraction"))
        return idle.from().memory.offloadFraction && memory.offloadFraction
            ? "no whole tensor lies between the two shares"
            : "auto lets as much leave";
    return {};
}

std::string whyStatesIdle(const IdleCase &idle)
{
    const OptimizerOffload from = idle.from().memory.optimizerOffload, to = idle.to().memory.optimizerOffload;
    const auto isOnHost = [](OptimizerOffload at) {
        return at == OptimizerOffload::Host || at == OptimizerOffload::Interleaved;
    };
    if (isOnHost(from) && isOnHost(to) && !idle.to().memory.delayedUpdate)
        return "updates that take turns between GPU and host would take longer than the host alone, which is what is "
               "then done";
    return {};
}

} // namespace

std::string whyMemoryIdles(const IdleCase &idle)
{
    if (!idle.isIn("memory.") || !idle.workload)
        return {};
    const Workload &workload = *idle.workload;
    const MemoryStrategy &memory = idle.to().memory;
    if (idle.isAbout("memory.recompute"))
        if (std::string why = whyRecomputeIdles(idle, workload); !why.empty())
            return why;
    if (idle.isAbout("memory.recompute_layers"))
        return whyRecomputedLayersIdle(idle, workload);
    if (idle.isAbout("memory.delayed_update") && memory.optimizerOffload == OptimizerOffload::None)
        return "the optimizer's states stay on the GPU (memory.optimizer_offload is none)";
    if (idle.isAbout("memory.optimizer_offload"))
        return whyStatesIdle(idle);
    if (idle.isIn("memory.offload_") && !idle.isAbout("memory.offload_expert_input"))
        return whyMovesIdle(idle, workload);
    if (idle.isAbout("memory.parameter_offload"))
        return {};
    if (idle.isIn("memory.recompute_") || idle.isAbout("memory.fp8_activations"))
        if (std::string why = whyNoTensorIsSpared(workload); !why.empty())
            return why;
    if (idle.isAbout("memory.fp8_activations") && keptInputBytes(idle.to().workload.precision, workload.stack) <= 1)
        return "products keep their inputs in 8 bits anyway";
    if (areBytesMeasured(workload))
        return "memory beside the states was measured (layer_profiles.compute_gib) and holds as it is";
    if (idle.isAbout("memory.saved_activation_bits") && memory.savedActivationBits.value_or(0) >= 16
        && weightBytes(idle.to().workload.precision) <= 2)
        return "activations are computed in no more bits than that";
    return {};
}

std::string whyExpertsIdle(const IdleCase &idle)
{
    const bool isOfExperts = idle.isIn("moe") || idle.isAbout("parallelism.expert")
        || idle.isAbout("parallelism.expert_tensor") || idle.isAbout("memory.offload_expert_input");
    if (!isOfExperts || !idle.workload)
        return {};
    const Workload &workload = *idle.workload;
    if (!workload.model.isMoe())
        return workload.model.name + " has no experts";
    const MoeStrategy &from = idle.from().moe, &to = idle.to().moe;
    const bool isOfTravel = !idle.isAbout("moe.permute") && !idle.isAbout("moe.baseline")
        && !idle.isAbout("moe.dropless") && !idle.isAbout("moe.capacity_factor") && !idle.isAbout("moe.load")
        && !idle.isAbout("moe.imbalance");
    if (isOfTravel && workload.degrees.expertRanks() == 1)
        return "every rank has all experts, so that no token travels";
    if (workload.degrees.expert == 1 && (idle.isAbout("moe.imbalance") || idle.isAbout("moe.load")))
        return "a rank has all experts, so that each has the mean load";
    if (idle.isAbout("moe.imbalance") && to.capacity())
        return "experts have room for so many tokens, which all are padded to (moe.capacity_factor)";
    if (idle.isAbout("moe.dropless") && from.capacity() == to.capacity())
        return "experts have the room that moe.capacity_factor states";
    if ((idle.isAbout("moe.dropless") || idle.isAbout("moe.capacity_factor")) && to.expertLoads.empty()
        && from.load() == to.load() && from.keptVisits() == to.keptVisits())
        return "the fullest expert gets as much as there is room for, so that nothing is dropped or padded";
    const bool isSliced = to.dispatch == MoeDispatch::TensorSliced || to.dispatch == MoeDispatch::TrafficAware;
    if (idle.isAbout("moe.communication_sms") && isSliced && to.expertOverlap == ExpertOverlap::None
        && !to.sharedExpertOverlap)
        return std::string("pieces of a ") + toString(to.dispatch)
            + " dispatch run beside gathers and copies, not beside what multiprocessors compute";
    if (idle.isIn("moe.") && from.chunks(true) == to.chunks(true) && from.chunks(false) == to.chunks(false)
        && idle.key.row.ends_with("_chunks"))
        return "moe.forward_chunks and moe.backward_chunks say how many pieces there are";
    if (idle.key.row.ends_with("_chunks") && idle.after.metrics.experts && idle.before.metrics.experts
        && idle.after.metrics.experts->forwardChunks == idle.before.metrics.experts->forwardChunks
        && idle.after.metrics.experts->backwardChunks == idle.before.metrics.experts->backwardChunks)
        return "auto comes to " + std::to_string(idle.after.metrics.experts->forwardChunks) + " and "
            + std::to_string(idle.after.metrics.experts->backwardChunks) + " pieces, forward and backward, as well";
    return {};
}

} // namespace trainyard::detail

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/alternatives_internal.h"
#include "core/facts/plan/plan_io.h"
#include "core/iteration/memory/off_gpu.h"
#include "core/iteration/placement/degrees.h"

#include <set>

namespace trainyard {

namespace {

using detail::addGroup;
using detail::Choice;
using detail::choicesOf;

std::vector<Choice<bool>> onOff(const std::string &blocked = {})
{
    return { { false, "false", "off", blocked }, { true, "true", "on", blocked } };
}

void addRecompute(std::vector<Alternative> &out, const Plan &plan)
{
    addGroup(
        out, plan, "recompute", "Recompute", choicesOf<Recompute>(), plan.memory.recompute, [](Plan &p, Recompute r) {
            p.memory.recompute = r;
            if (r != Recompute::Full)
                p.memory.recomputeLayers.reset();
        });
}

/// Full recomputation of the first layers of each stage alone.
void addRecomputeLayers(std::vector<Alternative> &out, const Plan &plan, const ModelSpec *model)
{
    if (plan.memory.recompute != Recompute::Full)
        return;
    const Auto<int> now = plan.memory.recomputeLayers;
    const int stages = std::max(1, degreesOf(plan).pipeline), most = model ? (model->layers + stages - 1) / stages : 0;
    std::set<int> values;
    for (int quarter = 1; quarter < 4; ++quarter)
        if (const int layers = most * quarter / 4; layers > 0)
            values.insert(layers);
    if (now)
        values.insert(*now);
    std::vector<Choice<Auto<int>>> choices { { std::nullopt, "all", "all", {} } };
    for (const int value : values)
        choices.push_back({ value, std::to_string(value), std::to_string(value) + " per stage", {} });
    addGroup(out, plan, "recompute_layers", "Layers recomputed", choices, now,
        [](Plan &p, Auto<int> layers) { p.memory.recomputeLayers = layers; });
}

void addPartialRecompute(std::vector<Alternative> &out, const Plan &plan)
{
    const bool isWhole = plan.memory.recompute == Recompute::Full && !plan.memory.recomputeLayers;
    const std::string blocked = isWhole ? "every layer is recomputed as a whole" : "";
    addGroup(out, plan, "recompute_norms", "Recompute norms", onOff(blocked), plan.memory.recomputeNorms,
        [](Plan &p, bool on) { p.memory.recomputeNorms = on; });
    addGroup(out, plan, "recompute_activation_function", "Recompute activation function", onOff(blocked),
        plan.memory.recomputeActivationFunction, [](Plan &p, bool on) { p.memory.recomputeActivationFunction = on; });
}

/// What the model lets spare: nothing is offered that it has not.
void addModelParts(std::vector<Alternative> &out, const Plan &plan, const ModelSpec *model)
{
    if (!model)
        return;
    const bool isWhole = plan.memory.recompute == Recompute::Full && !plan.memory.recomputeLayers;
    const std::string blocked = isWhole ? "every layer is recomputed as a whole" : "";
    if (model->attention == AttentionKind::Latent)
        addGroup(out, plan, "recompute_up_projection", "Recompute up-projections", onOff(blocked),
            plan.memory.recomputeUpProjection, [](Plan &p, bool on) { p.memory.recomputeUpProjection = on; });
    if (!model->isMoe())
        return;
    if (model->sharedExpertFfn > 0)
        addGroup(out, plan, "recompute_shared_experts", "Recompute shared experts", onOff(blocked),
            plan.memory.recomputeSharedExperts, [](Plan &p, bool on) { p.memory.recomputeSharedExperts = on; });
    addGroup(out, plan, "permute", "Permutation", choicesOf<MoePermute>(blocked), plan.moe.permute,
        [](Plan &p, MoePermute v) { p.moe.permute = v; });
    const bool isDecided = plan.memory.activationOffload != ActivationOffload::None;
    addGroup(out, plan, "offload_expert_input", "Experts' input in host memory",
        onOff(isDecided ? "activation offload decides about it" : blocked), plan.memory.offloadExpertInput,
        [](Plan &p, bool on) { p.memory.offloadExpertInput = on; });
}

void addStatesOffGpu(std::vector<Alternative> &out, const Plan &plan)
{
    const std::string noDrives = allHaveDrives(plan.cluster) ? "" : "not every pool of GPUs has drives";
    std::vector<Choice<OptimizerOffload>> choices = choicesOf<OptimizerOffload>();
    choices[std::size_t(OptimizerOffload::Ssd)].blocked = noDrives;
    addGroup(out, plan, "optimizer_offload", "Optimizer states", choices, plan.memory.optimizerOffload,
        [](Plan &p, OptimizerOffload v) {
            p.memory.optimizerOffload = v;
            if (v == OptimizerOffload::None)
                p.memory.delayedUpdate = false;
        });
    if (plan.memory.optimizerOffload != OptimizerOffload::None)
        addGroup(out, plan, "delayed_update", "Delayed update", onOff(), plan.memory.delayedUpdate,
            [](Plan &p, bool on) { p.memory.delayedUpdate = on; });
    std::vector<Choice<ParameterOffload>> parameters = choicesOf<ParameterOffload>();
    parameters[std::size_t(ParameterOffload::Ssd)].blocked = noDrives;
    addGroup(out, plan, "parameter_offload", "Parameters", parameters, plan.memory.parameterOffload,
        [](Plan &p, ParameterOffload v) { p.memory.parameterOffload = v; });
}

void addOptimizer(std::vector<Alternative> &out, const Plan &plan)
{
    std::vector<Choice<Optimizer>> choices;
    for (const Optimizer value : { Optimizer::Adam, Optimizer::Adam8bit, Optimizer::Galore, Optimizer::Lion,
             Optimizer::Adafactor, Optimizer::Sgd })
        choices.push_back({ value, toString(value), labelOf(value), {} });
    addGroup(out, plan, "optimizer", "Optimizer", choices, plan.workload.optimizer,
        [](Plan &p, Optimizer v) { p.workload.optimizer = v; });
}

void addCompression(std::vector<Alternative> &out, const Plan &plan)
{
    const std::optional<int> now = plan.memory.savedActivationBits;
    std::set<int> values { 8, 4, 2 };
    if (now)
        values.insert(*now);
    std::vector<Choice<std::optional<int>>> choices { { std::nullopt, "off", "as computed", {} } };
    for (auto value = values.rbegin(); value != values.rend(); ++value)
        choices.push_back({ *value, std::to_string(*value), std::to_string(*value) + " bits", {} });
    addGroup(out, plan, "saved_activation_bits", "Saved activations", choices, now,
        [](Plan &p, std::optional<int> bits) { p.memory.savedActivationBits = bits; });
    addGroup(out, plan, "fp8_activations", "Inputs of products kept in 8 bits", onOff(), plan.memory.fp8Activations,
        [](Plan &p, bool on) { p.memory.fp8Activations = on; });
}

} // namespace

void detail::addMemoryStrategies(std::vector<Alternative> &out, const Plan &plan, const ModelSpec *model)
{
    addRecompute(out, plan);
    addRecomputeLayers(out, plan, model);
    addPartialRecompute(out, plan);
    addModelParts(out, plan, model);
    addStatesOffGpu(out, plan);
    addOptimizer(out, plan);
    addCompression(out, plan);
}

} // namespace trainyard

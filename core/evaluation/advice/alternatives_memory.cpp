// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/alternatives_internal.h"
#include "core/facts/plan/plan_io.h"
#include "core/iteration/memory/off_gpu.h"
#include "core/iteration/placement/degrees.h"

#include <set>

namespace trainyard::detail {

namespace {

/// Full recomputation of the first layers of each stage alone.
void addRecomputeLayers(Alternatives &out, const Plan &plan, const ModelSpec *model)
{
    if (plan.memory.recompute != Recompute::Full)
        return;
    const KeyRow &row = rowOf(&MemoryStrategy::recomputeLayers);
    const int stages = std::max(1, degreesOf(plan).pipeline), most = model ? (model->layers + stages - 1) / stages : 0;
    std::vector<double> worth;
    for (int quarter = 1; quarter < 4; ++quarter)
        if (const int layers = most * quarter / 4; layers > 0 && (worth.empty() || worth.back() < layers))
            worth.push_back(layers);
    addChoices(out, plan, row, choicesOf(row, row.values(plan, worth)));
}

/// What the model lets spare: nothing is offered that it has not.
void addModelParts(Alternatives &out, const Plan &plan, const ModelSpec *model)
{
    if (!model)
        return;
    if (model->attention == AttentionKind::Latent)
        offer(out, plan, rowOf(&MemoryStrategy::recomputeUpProjection));
    if (!model->isMoe())
        return;
    if (model->sharedExpertFfn > 0)
        offer(out, plan, rowOf(&MemoryStrategy::recomputeSharedExperts));
    offer(out, plan, rowOf(&MoeStrategy::permute));
    offer(out, plan, rowOf(&MemoryStrategy::offloadExpertInput));
}

void addStatesOffGpu(Alternatives &out, const Plan &plan)
{
    const KeyRow &states = rowOf(&MemoryStrategy::optimizerOffload),
                 &parameters = rowOf(&MemoryStrategy::parameterOffload);
    const std::string noDrives = allHaveDrives(plan.cluster) ? "" : "not every pool of GPUs has drives";
    Choices choices = choicesOf(states, plan);
    choices[std::size_t(OptimizerOffload::Ssd)].blocked = noDrives;
    addChoices(out, plan, states, choices, [](Plan &p, KeyValue) {
        if (p.memory.optimizerOffload == OptimizerOffload::None)
            p.memory.delayedUpdate = false;
    });
    if (plan.memory.optimizerOffload != OptimizerOffload::None)
        offer(out, plan, rowOf(&MemoryStrategy::delayedUpdate));
    choices = choicesOf(parameters, plan);
    choices[std::size_t(ParameterOffload::Ssd)].blocked = noDrives;
    addChoices(out, plan, parameters, choices);
}

void addOptimizer(Alternatives &out, const Plan &plan)
{
    const KeyRow &row = rowOf(&WorkloadSpec::optimizer);
    std::vector<KeyValue> values;
    for (const Optimizer value : { Optimizer::Adam, Optimizer::Adam8bit, Optimizer::Galore, Optimizer::Lion,
             Optimizer::Adafactor, Optimizer::Sgd })
        values.emplace_back(double(value));
    addChoices(out, plan, row, choicesOf(row, values));
}

} // namespace

void addMemoryStrategies(Alternatives &out, const Plan &plan, const ModelSpec *model)
{
    const KeyRow &recompute = rowOf(&MemoryStrategy::recompute);
    addChoices(out, plan, recompute, choicesOf(recompute, plan), [](Plan &p, KeyValue) {
        if (p.memory.recompute != Recompute::Full)
            p.memory.recomputeLayers.reset();
    });
    addRecomputeLayers(out, plan, model);
    offerAll(out, plan, &MemoryStrategy::recomputeNorms, &MemoryStrategy::recomputeActivationFunction);
    addModelParts(out, plan, model);
    addStatesOffGpu(out, plan);
    addOptimizer(out, plan);
    offerAll(out, plan, &MemoryStrategy::savedActivationBits, &MemoryStrategy::fp8Activations);
}

} // namespace trainyard::detail

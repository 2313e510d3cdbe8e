#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of `memory`: what is kept, recomputed or moved out.

#include "core/facts/plan/keys/key.h"
#include "core/facts/plan/plan.h"

namespace trainyard::keys {

inline const char *whyRecomputed(const Plan &plan)
{
    const bool isWhole = plan.memory.recompute == Recompute::Full && !plan.memory.recomputeLayers;
    return isWhole ? "every layer is recomputed as a whole" : "";
}
inline const char *whyExpertInputIsDecided(const Plan &plan)
{
    return plan.memory.activationOffload != ActivationOffload::None ? "activation offload decides about it"
                                                                    : whyRecomputed(plan);
}

template <class V> [[gnu::cold]] void describe(V &v, Of<MemoryStrategy>)
{
    v.value(&MemoryStrategy::recompute,
        Key("recompute", "Activations recomputed in the backward pass", kAlways,
            shown("Recompute",
                "Activations that are discarded after forward and recomputed in backward. Selective: the core of "
                "attention. Full: all but the input of each layer."),
            choice("Recompute")));
    v.value(&MemoryStrategy::recomputeLayers,
        Key("recompute_layers", "Layers of each stage that recompute, its first ones", otherwise("all"),
            said("Recomputed layers"), upTo(1e6),
            shown("Layers",
                "Layers of each stage that are recomputed, its first ones. The rest keep what they computed."),
            choice("Layers recomputed"), none("all", "all"), inUnits(" per stage"),
            fixedByMeasuring("what is recomputed is")));
    v.value(&MemoryStrategy::recomputeNorms,
        Key("recompute_norms", "Outputs of norms are recomputed", said("Recomputed norms"),
            shown("Norms",
                "Outputs of the norms are recomputed in backward: cheap, because a norm is limited by memory "
                "bandwidth and its input is kept anyway."),
            choice("Recompute norms"), rests(whyRecomputed), fixedByMeasuring("what is recomputed is")));
    v.value(&MemoryStrategy::recomputeActivationFunction,
        Key("recompute_activation_function", "Outputs of the MLP's activation function are recomputed",
            said("Recomputed activation function"),
            shown("Act. function",
                "The output of the MLP's activation function is recomputed in backward from its input."),
            choice("Recompute activation function"), rests(whyRecomputed), fixedByMeasuring("what is recomputed is")));
    v.value(&MemoryStrategy::recomputeUpProjection,
        Key("recompute_up_projection",
            "Queries, keys and values of latent attention are made again from what they were compressed to",
            said("Recomputed up-projections"),
            shown("Up-projections",
                "Of latent attention only what was compressed is kept; queries, keys and values are made again."),
            choice("Recompute up-projections"), rests(whyRecomputed), fixedByMeasuring("what is recomputed is")));
    v.value(&MemoryStrategy::recomputeSharedExperts,
        Key("recompute_shared_experts", "Shared experts are recomputed", said("Recomputed shared experts"),
            shown("Shared experts", "What the shared experts compute is discarded and recomputed in backward."),
            choice("Recompute shared experts"), rests(whyRecomputed), fixedByMeasuring("what is recomputed is")));
    v.value(&MemoryStrategy::offloadExpertInput,
        Key("offload_expert_input", "What the experts' first product reads waits in host memory",
            said("Offloaded expert input"),
            shown("Expert input", "The tokens that reached the experts leave for host memory until backward."),
            choice("Experts' input in host memory"), rests(whyExpertInputIsDecided),
            fixedByMeasuring("where activations lie is")));
    v.value(&MemoryStrategy::activationOffload,
        Key("activation_offload", "Where activations wait for the backward pass", said("Activation offload"),
            shown("Activation offload",
                "Activations leave the GPU after forward and return before backward, over PCIe, to host memory or to "
                "drives. What has not left in time is used where it is."),
            choice("Activation offload"), fixedByMeasuring("where activations lie is")));
    v.automatic(&MemoryStrategy::offloadFraction,
        Key("offload_fraction", "Share of the activations that is offloaded; auto: what can be hidden",
            said("Offloaded share"), upTo(1),
            more("`ssdtrain`: of the activations of a micro-batch, in the order of the layers; `memo`: of the tokens "
                 "of each layer. What can be hidden is what holds least at no cost in time. `karma` and `protrain` go "
                 "by the room instead"),
            shown("Share", "How much of the activations leaves. Auto: as much as backward does not wait for."),
            choice("Offloaded share"), kWorthTrying<0.25, 0.5, 0.75, 1>, fixedByMeasuring("where activations lie is")));
    v.value(&MemoryStrategy::offloadPolicy,
        Key("offload_policy",
            "How offloaded activations are chosen: ssdtrain (whole tensors), memo (a share of the tokens, the rest "
            "recomputed), karma (swap or recompute, layer by layer), protrain (layers swapped, recomputed and kept, "
            "the fastest split that fits)",
            said("Choice of what is offloaded"),
            more("`memo` moves inputs, attention outputs and a share of the tokens of the rest; `karma` swaps layers "
                 "without room or computes them again, whichever is shorter. The last three decide themselves what is "
                 "recomputed, so they need `recompute` `none`"),
            shown("Chosen as",
                "SSDTrain: whole tensors, the first ones. MEMO: of each layer input and attention output, and a share "
                "of the tokens of the rest. KARMA: layers that have no room to stay, whichever of swapping and "
                "recomputing is shorter for each. ProTrain: the fastest split into swapped, recomputed and kept "
                "layers. These three recompute what does not leave."),
            choice("What is offloaded"), fixedByMeasuring("where activations lie is")));
    v.value(&MemoryStrategy::offloadMinElements,
        Key("offload_min_elements", "Tensors of fewer elements stay on the GPU",
            said("Smallest offloaded tensor", " elements"), upTo(2e9), more("under `ssdtrain`")));
    v.value(&MemoryStrategy::offloadGroup,
        Key("offload_group", "Modules (attention or MLP, or recomputed layers) that are loaded together",
            said("Modules loaded together"), range(1, 1024)));
    v.value(&MemoryStrategy::offloadAhead,
        Key("offload_ahead", "Groups of modules that are loaded ahead of the one in its backward pass",
            said("Groups of modules loaded ahead"), range(1, 1024),
            more("larger groups and more of them hide a slow drive and cost memory; an automatic share looks up to "
                 "eight ahead where that lets more leave")));
    v.value(&MemoryStrategy::optimizerOffload,
        Key("optimizer_offload", "Where the optimizer state lives", said("Optimizer offload"),
            more("`host` is ZeRO-Offload, `interleaved` Deep Optimizer States, `ssd` ZeRO-Infinity"),
            shown("Optimizer states",
                "Where they live and are updated. Host memory: ZeRO-Offload, by the processors. Interleaved: every few "
                "groups on the GPU (Deep Optimizer States). Drives: ZeRO-Infinity."),
            choice("Optimizer states"), fixedByMeasuring("where states lie is"), kOwnWork));
    v.value(&MemoryStrategy::delayedUpdate,
        Key("delayed_update", "An offloaded optimizer step runs beside the next iteration, one step stale",
            said("Delayed update"), kLearnsOtherwiseUnlessDefault,
            shown("Delayed update",
                "The update runs beside the next iteration, which computes with weights one step old. It affects "
                "convergence."),
            choice("Delayed update"), fixedByMeasuring("the update is")));
    v.value(&MemoryStrategy::parameterOffload,
        Key("parameter_offload", "Where parameters wait between their uses", said("Parameter offload"),
            shown("Parameters", "Where weights wait between their uses."), choice("Parameters"),
            fixedByMeasuring("where weights lie is"), kOwnWork));
    v.value(&MemoryStrategy::savedActivationBits,
        Key("saved_activation_bits", "Bits of an activation kept for the backward pass", otherwise("as computed"),
            said("Bits of a saved activation"), range(1, 16), learnsOtherwiseBelow(kComputedBits),
            shown("Saved activations",
                "Bits of an activation kept for the backward pass. Fewer than computed takes time to pack and affects "
                "convergence."),
            choice("Saved activations"), kWorthTrying<8, 4, 2>, none("off", "as computed"), inUnits(" bits"),
            fixedByMeasuring("what is saved is")));
    v.value(&MemoryStrategy::fp8Activations,
        Key("fp8_activations", "Inputs of linear layers are kept in FP8", said("Activations in FP8"),
            kLearnsOtherwiseUnlessDefault, shown("FP8 inputs", "Inputs of linear layers are kept in 8 bits."),
            choice("Inputs of products kept in 8 bits"), fixedByMeasuring("what is saved is")));
}

} // namespace trainyard::keys

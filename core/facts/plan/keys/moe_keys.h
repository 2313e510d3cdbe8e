#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of `moe`: how tokens travel to their experts, and what runs beside that.

#include "core/facts/plan/keys/key.h"
#include "core/facts/plan/keys/memory_keys.h"
#include "core/facts/plan/plan.h"

namespace trainyard::keys {

template <class V> [[gnu::cold]] void describe(V &v, Of<MoeStrategy>)
{
    v.value(&MoeStrategy::dispatch,
        Key("dispatch", "How tokens travel to their experts", said("Expert dispatch"),
            more("`flat`: a copy for each expert chosen; `rank-dedup`: for each rank; `dedup`: for each node, handed "
                 "on inside (DeepEP, HybridEP); `hierarchical`: inside nodes, then between them; `all-gather`: all "
                 "tokens everywhere; `tensor-sliced`: ranks of a tensor group send a slice each and gather (TED); "
                 "`traffic-aware`: the fastest of flat, sliced and sliced in overlapping pieces (MoNTA)"),
            shown("Dispatch",
                "Flat sends a copy of a token to every expert. Dedup sends one to each node. Sliced and traffic-aware "
                "spare what a tensor group would send several times."),
            choice("Expert dispatch"), fixedByMeasuring("how tokens travel is")));
    v.automatic(&MoeStrategy::overlapChunks,
        Key("overlap_chunks", "Pieces in which dispatch and combine overlap", said("Dispatch pieces"), range(1, 1024),
            more("under `traffic-aware` with the group's gather and its copies, else with the experts; auto: searched "
                 "for under `traffic-aware`, else 1"),
            shown("Pieces",
                "An exchange in pieces: while one is gathered or computed, the next is on its way. Auto: as many as "
                "the planner finds best under traffic-aware, else one."),
            choice("Dispatch pieces"), kWorthTrying<1, 2, 4, 8>, fixedByMeasuring("how tokens travel is")));
    v.automatic(&MoeStrategy::forwardChunks,
        Key("forward_chunks", "Pieces of the forward pass", said("Forward pieces"), range(1, 1024),
            more("auto: `overlap_chunks`")));
    v.automatic(&MoeStrategy::backwardChunks,
        Key("backward_chunks", "Pieces of the backward pass", said("Backward pieces"), range(1, 1024),
            more("auto: `overlap_chunks`")));
    v.value(&MoeStrategy::pipelineBackward,
        Key("pipeline_backward", "Pieces of the backward pass overlap too; MoNTA's release waits for each",
            said("Overlapped backward pieces"),
            shown("Backward too", "Pieces of the backward overlap too. MoNTA's release waits for each of them."),
            choice("Overlapped backward pieces"), fixedByMeasuring("how tokens travel is")));
    v.value(&MoeStrategy::sharedExpertOverlap,
        Key("shared_expert_overlap", "Shared experts compute while tokens travel", said("Shared experts beside"),
            more("not with `expert_overlap`"),
            shown("Shared experts", "The shared experts compute while tokens travel to the routed ones."),
            choice("Shared experts beside"), fixedByMeasuring("how tokens travel is")));
    v.value(&MoeStrategy::expertOverlap,
        Key("expert_overlap", "What travels to experts is hidden under another micro-batch", said("Expert overlap"),
            more("`1f1b`: a forward with a backward, on schedules of one forward and one backward in turn, with "
                 "virtual stages where there is a pipeline; not with full recomputation"),
            shown("Overlap",
                "Tokens of a forward travel while a backward of another micro-batch computes, and the other way."),
            choice("Expert overlap"), fixedByMeasuring("how tokens travel is")));
    v.value(&MoeStrategy::communicationSms,
        Key("communication_sms", "Multiprocessors that exchanges take while they run", otherwise("as measured"),
            said("Multiprocessors for exchanges"), upTo(1e4),
            shown("Exchange SMs", "Multiprocessors of a GPU that exchanges take while they run."),
            lowestMeans("as measured")));
    v.value(&MoeStrategy::imbalance,
        Key("imbalance", "Tokens of the busiest rank's experts / mean", said("Expert imbalance"), range(1, 1e4),
            shown("Imbalance", "Tokens that reach the busiest rank's experts over the mean."), field(2, " × mean")));
    v.value(&MoeStrategy::expertLoads,
        Key("load", "Relative load of each expert, instead of `imbalance`", otherwise("`imbalance`"),
            said("Expert loads"), upTo(1e12), more("one number an expert")));
    v.value(&MoeStrategy::dropless,
        Key("dropless", "Experts take all that comes; false: `capacity_factor`, or 1", said("Dropless experts"),
            kLearnsOtherwise));
    v.value(&MoeStrategy::capacityFactor,
        Key("capacity_factor", "Room of an expert / mean; null: nothing is dropped", said("Expert capacity factor"),
            above(0, 1e4), kLearnsOtherwise,
            shown("Room of an expert",
                "Tokens that an expert takes at most, over the mean. What has no room is dropped; room that is not "
                "needed is padded."),
            choice("Room of an expert"), kWorthTrying<1, 1.25, 1.5, 2>, none("dropless", "dropless"),
            inUnits(" × mean"), fixedByMeasuring("the experts' room is")));
    v.value(&MoeStrategy::baseline,
        Key("baseline", "How tokens are put in the order of their experts", said("Ordering of tokens"),
            more("`einsum`: products with a mask of tokens x experts x capacity, as DeepSpeed without Tutel's kernels "
                 "(FLOPs grow with the square of the sequence); `fused`: kernels that touch each copy once"),
            shown("Ordering of tokens",
                "How tokens are put in the order of their experts. A masked product, as in DeepSpeed without Tutel's "
                "kernels, grows with the square of the sequence."),
            choice("Ordering of tokens", "moe_baseline"), fixedByMeasuring("how tokens are ordered is")));
    v.value(&MoeStrategy::permute,
        Key("permute", "What is kept of the experts' results", said("Permutation"),
            more("`memory-efficient`: probabilities are applied before the second product, so that results need not be "
                 "kept for the backward"),
            shown("Permutation",
                "Memory-efficient: probabilities enter before the second product, and the experts' results need not "
                "be kept."),
            choice("Permutation"), rests(whyRecomputed), fixedByMeasuring("what is kept of experts is")));
}

} // namespace trainyard::keys

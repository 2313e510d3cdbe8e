#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of what is trained and how it is split: `workload`, `parallelism`, `placement`, `heterogeneity`,
// `layer_profiles`, `stack`.

#include "core/facts/plan/keys/key.h"
#include "core/facts/plan/keys/wan_keys.h"

namespace trainyard::keys {

inline bool projectsGradients(const Plan &plan)
{
    return plan.workload.optimizer == Optimizer::Galore;
}

template <class V> [[gnu::cold]] void describe(V &v, Of<WorkloadSpec>)
{
    v.model(
        Key("model", "Catalogue name, path of a Hugging Face config.json (relative to the plan), or an inline object",
            more("`trainyard-cli catalog models` lists the names; an object has `layers`, `hidden`, `heads`, "
                 "`kv_heads`, `head_dim`, `ffn`, `vocab`, `gated_ffn`, `tied_embeddings`, `attention` and for mixtures "
                 "of experts `experts`, `experts_per_token`, `expert_ffn`, `shared_expert_ffn`, `dense_layers`, "
                 "`groups` with `top_groups`; `mtp_layers`; `attention_window` with `windowed_layers`; "
                 "required unless there is a profile or `jobs`. A plan that the window makes of a `config.json` holds "
                 "the object, with the file's folder and name in `source`, so that it opens without the file, and with "
                 "what was not understood of it in `not_understood`: objects of `text`, `key`, `low` and `high` (what "
                 "the time may be off by, as shares of it) and `blocking`"),
            shown("Model", "Type to search. A Hugging Face config.json works as well.")));
    v.value(&WorkloadSpec::sequenceLength,
        Key("sequence_length", "Tokens of one sequence", said("Sequence", " tokens"), range(1, 1e8), kAlways,
            shown("Sequence length", "Tokens of one training sequence.")));
    v.value(&WorkloadSpec::documentLength,
        Key("document_length",
            "Mean tokens of a document, where a mask keeps attention inside documents; absent: a sequence is one",
            said("Documents", " tokens"), range(1, 1e8)));
    v.value(&WorkloadSpec::globalBatch,
        Key("global_batch", "Sequences of one iteration, all pipelines together", said("Global batch"), range(1, 1e7),
            kAlways, more("required unless there are `jobs`"),
            shown("Global batch", "Sequences of one iteration, over all replicas.")));
    v.value(&WorkloadSpec::microBatch,
        Key("micro_batch", "Sequences of one micro-batch", said("Micro-batch"), range(1, 1e6), kAlways,
            more("divides `global_batch`"),
            shown("Micro-batch", "Sequences that pass the pipeline together. The global batch stays."),
            choice("Micro-batch"), fixedByMeasuring("the micro-batch is")));
    v.value(&WorkloadSpec::precision,
        Key("precision", "Number format of the matrix products", kAlways, kLearnsOtherwise,
            shown("Precision", "Number format of the matrix products."), choice("Precision"),
            fixedByMeasuring("the precision is")));
    v.value(&WorkloadSpec::optimizer,
        Key("optimizer", "Optimizer, for its state and step", kAlways, kLearnsOtherwise,
            shown("Optimizer",
                "What it keeps for each parameter: Adam 8 bytes of moments, with 8 bits 2, GaLore moments of projected "
                "gradients. Another one trains otherwise."),
            choice("Optimizer"), fixedByMeasuring("the optimizer is")));
    v.value(&WorkloadSpec::galoreRank,
        Key("galore_rank", "Rank of the projected gradients under galore", said("GaLore rank"), range(1, 1e6),
            when(projectsGradients), kLearnsOtherwise, shown("Rank", "Rank of GaLore's projected gradients."),
            field(0, " of each matrix")));
    v.value(&WorkloadSpec::trainingTokens,
        Key("training_tokens", "Tokens of the whole run; totals are null without it", said("Training", " tokens"),
            above(0, 1e18),
            shown("Training tokens",
                "Of the whole run, such as 15T or 300B. Needed for time, cost and energy of the run."),
            lowestMeans("not given")));
}

template <class V> [[gnu::cold]] void describe(V &v, Of<Parallelism>)
{
    v.value(&Parallelism::tensor,
        Key("tensor", "Tensor-parallel degree, inside a node or over whole nodes of a pool", said("Tensor parallel"),
            range(1, 1024), kAlways, more("over whole nodes where nodes hold too few"),
            shown("Tensor",
                "GPUs that share every layer's matrix products: of one node or, where nodes are smaller, of "
                "several."),
            choice("Tensor parallel"), fixedByMeasuring("tensor parallel is")));
    v.value(&Parallelism::pipeline,
        Key("pipeline", "Pipeline stages", said("Pipeline stages"), range(1, 4096), kAlways,
            shown("Pipeline", "Stages into which the layers are cut; micro-batches flow through them."),
            choice("Pipeline stages"), fixedByMeasuring("the number of stages is")));
    v.automatic(&Parallelism::data,
        Key("data", "Data-parallel degree; auto: the fastest, by simulation", said("Data parallel"), range(1, 1e6),
            kAlways, shown("Data", "Replicas of the whole pipeline. Auto: as many as are fastest."),
            choice("Data parallel")));
    v.value(&Parallelism::context,
        Key("context", "Context-parallel degree", said("Context parallel"), range(1, 1024),
            more("divides the sequence"), shown("Context", "GPUs that share one long sequence."),
            choice("Context parallel"), fixedByMeasuring("context parallel is")));
    v.value(&Parallelism::expert,
        Key("expert", "Expert-parallel degree", said("Expert parallel"), range(1, 4096),
            more("its groups may span nodes and datacenters"),
            shown("Expert parallel", "GPUs over which the experts of a layer are spread."), choice("Expert parallel"),
            fixedByMeasuring("expert parallel is")));
    v.value(&Parallelism::expertTensor,
        Key("expert_tensor", "Tensor-parallel degree of the experts", said("Tensor parallel in experts"),
            range(1, 1024), shown("Expert tensor", "GPUs that share the products of one expert."),
            choice("Tensor parallel in experts"), fixedByMeasuring("tensor parallel in experts is")));
    v.value(&Parallelism::virtualPipeline,
        Key("virtual_pipeline", "Model chunks per stage", said("Virtual stages"), range(1, 1024),
            more("see `schedule` for what each takes"),
            shown("Virtual stages",
                "Chunks of layers that each stage holds; more chunks, shorter bubbles, more transfers."),
            choice("Virtual stages", nullptr, "virtual"), kWorthTrying<1, 2, 3, 4, 6, 8>,
            fixedByMeasuring("chunks per stage are")));
    v.value(&Parallelism::tokenSlices,
        Key("token_slices", "Pieces of a sequence that follow each other down the pipeline, under terapipe",
            said("Token slices"), range(1, 1024), more("at most the sequence's tokens")));
    v.value(&Parallelism::sequenceParallel,
        Key("sequence_parallel", "Split norms and dropout over the tensor group", otherwise("tensor > 1"),
            said("Sequence parallelism"),
            shown("Sequence parallel",
                "Splits norms and dropout along the sequence within the tensor-parallel group: less activation memory "
                "at equal traffic."),
            choice("Sequence parallel"), fixedByMeasuring("sequence parallel is")));
    v.value(&Parallelism::zeroStage,
        Key("zero_stage", "Sharding over data-parallel ranks: 0 none, 1 optimizer, 2 and gradients, 3 and parameters",
            said("ZeRO stage"), upTo(3),
            shown("ZeRO stage", "What is sharded over the data-parallel replicas instead of repeated on each."),
            choice("ZeRO stage", nullptr, "zero"), kWorthTrying<0, 1, 2, 3>, fixedByMeasuring("ZeRO is")));
}

template <class V> [[gnu::cold]] void describe(V &v, Of<Stack>)
{
    v.value(&Stack::name,
        Key("base", "Name of a stack", kRequired, more("one of those above"),
            shown("Software", "The framework whose habits are modelled: what it overlaps, keeps and adds."),
            choice("Software", "stack"), fixedByMeasuring("the software is")));
    v.value(&Stack::release,
        Key("release", "Release of the stack, one of the catalogue; without one its age is unknown",
            more("a text (`\"26.10\"`, not the number 26.1) that `resources/catalog/stack_releases.json` knows, for "
                 "`megatron-core` those of NVIDIA's Megatron-Bridge containers. Kernel and host time scale by what it "
                 "takes ([model.md](model.md#stacks)). Not named, the range of the confidence holds all releases"),
            shown("Release",
                "Which release of it runs: equal plans took different times from one to the next. Where it is not "
                "named, the range of the prediction holds all of them."),
            choice("Release of the software"), fixedByMeasuring("the software is")));
}

template <class V> [[gnu::cold]] void describe(V &v, Of<StagePin>)
{
    v.value(&StagePin::datacenter, Key("datacenter", "Datacenter, by id", kRequired));
    v.value(&StagePin::stages, Key("stages", "Stages that it holds", range(1, 4096), kRequired));
}

template <class V> [[gnu::cold]] void describe(V &v, Of<Placement>)
{
    v.value(&Placement::mode,
        Key("mode", "Stages or replicas across datacenters; auto: the better of the two", said("Placement"), kAlways,
            when(hasSeveralSites),
            more("across datacenters are contiguous stages, all replicas of a stage in one datacenter, or whole "
                 "replicas"),
            shown("Placement",
                "Pipeline across: each datacenter holds some stages. Data across: each holds whole replicas. Auto: the "
                "better of both."),
            choice("Placement", "placement")));
    v.value(&Placement::stages,
        Key("stages", "Pins how many stages each datacenter holds, in pipeline order", said("Pinned stages"),
            more("they add up to `parallelism.pipeline`")));
    v.perStage(&Placement::layers,
        Key("layers", "Transformer layers of each stage, in pipeline order",
            otherwise("even, the first and the last less where they do not divide"), said("Layers of the stages"),
            upTo(1e6), more("they add up to the model's"), choice("Layers of the stages")));
}

inline bool isLayered(const Plan &plan)
{
    return plan.heterogeneity.isLayered();
}
inline bool isSharedOut(const Plan &plan)
{
    return plan.heterogeneity.isLayered() || plan.heterogeneity.sharesUnevenly();
}
inline bool hasPipeline(const Plan &plan)
{
    return plan.parallelism.pipeline > 1;
}

inline const char *whyInputsAreDecided(const Plan &plan)
{
    return plan.memory.activationOffload != ActivationOffload::None
        ? "activation offload decides about the inputs of layers"
        : "";
}

template <class V> [[gnu::cold]] void describe(V &v, Of<RankPin>)
{
    v.value(&RankPin::datacenter, Key("datacenter", "Datacenter, by id", kRequired));
    v.value(&RankPin::pool, Key("pool", "Pool, by its id or by its GPU; empty: every pool there", said("Pool")));
    v.value(&RankPin::gpus,
        Key("gpus", "The next so many of its GPUs", otherwise("all the others"), said("GPUs"), range(1, 1e7)));
    v.value(&RankPin::tensor,
        Key("tensor", "Tensor-parallel degree of the replicas there", otherwise("the plan's"), said("Tensor parallel"),
            range(1, 1024)));
    v.value(&RankPin::microBatch,
        Key("micro_batch", "Sequences of one of their micro-batches", otherwise("as dealt"), said("Micro-batch"),
            range(1, 1e6)));
    v.value(&RankPin::microBatches,
        Key("micro_batches", "Micro-batches of each replica", otherwise("as dealt"), said("Micro-batches"),
            range(1, 1e7)));
    v.value(&RankPin::stateShare,
        Key("state_share", "Share of the divided states on each GPU", otherwise("as dealt"), said("Share of states"),
            upTo(1),
            more("what `parallelism.zero_stage` divides: 1 the optimizer's, 2 and gradients, 3 and weights; the GPUs "
                 "of a "
                 "tensor group, which hold slices of their own, count as one")));
}

template <class V> [[gnu::cold]] void describe(V &v, Of<Heterogeneity>)
{
    v.value(&Heterogeneity::compute,
        Key("compute", "Work split evenly, or by what each GPU can do", said("Sharing of work"),
            shown("Work",
                "How samples are dealt to unequal GPUs. By speed: so that all are done at the same time, as far as "
                "memory lets them."),
            choice("Sharing of work", "share_work")));
    v.value(&Heterogeneity::state,
        Key("state",
            "States that ZeRO divides: evenly, evenly unless memory forces otherwise, or to equal use of memory",
            said("Sharing of states"), more("`balanced` is `min-params`"),
            shown("States",
                "How the states that ZeRO divides are shared out. A GPU that has little memory left beside its work "
                "can hold less of them."),
            choice("Sharing of states", "share_states"), fixedByMeasuring("where states lie is")));
    v.value(&Heterogeneity::layers,
        Key("layers", "Layers of the stages: evenly, or by the speed of their GPUs", said("Sharing of layers"),
            when(hasPipeline),
            shown("Layers", "By speed: stages on faster GPUs get more layers, so that all take equally long."),
            choice("Sharing of layers", "share_layers"), fixedByMeasuring("layers of a stage are")));
    v.value(&Heterogeneity::accumulation,
        Key("accumulation", "Micro-batch by micro-batch, or layer by layer", said("Gradient accumulation"),
            more("layered needs `parallelism.pipeline` 1"),
            shown("Accumulation",
                "Layer by layer: all micro-batches go through a layer before the next, so that sharded weights are "
                "gathered once a pass instead of once a micro-batch."),
            choice("Gradient accumulation"), fixedByMeasuring("the order of work is"), kOwnWork));
    v.value(&Heterogeneity::gatherPrefetch,
        Key("gather_prefetch", "Weights of the next layer are gathered while a layer computes", said("Gather prefetch"),
            when(isLayered), shown("Prefetch", "Gathers the next layer's weights while a layer computes."),
            choice("Gather prefetch")));
    v.value(&Heterogeneity::boundaryOffload,
        Key("boundary_offload", "Inputs of layers wait in host memory", said("Boundary offload"), when(isLayered),
            shown("Offload inputs",
                "Moves what enters each layer to host memory and back, so that more micro-batches cost no GPU "
                "memory."),
            choice("Boundary offload"), rests(whyInputsAreDecided)));
    v.value(&Heterogeneity::unevenPenalty,
        Key("uneven_collective_penalty", "Time of a collective over uneven shares / over even ones",
            said("Uneven collectives", " ×"), range(1, 10), when(isSharedOut),
            shown("Uneven collectives",
                "How much longer a collective takes where GPUs hold unequal shares of what is gathered."),
            field(2)));
    v.value(&Heterogeneity::accumulationOverheadMs,
        Key("accumulation_overhead_ms", "Of each further micro-batch of a layer's backward",
            said("Accumulation overhead", " ms"), upTo(1e6), more("10 in Cephalo's released planner"), when(isLayered),
            shown("Accumulation overhead", "Of each further micro-batch in the backward pass of a layer."), field(2)));
    v.value(&Heterogeneity::memoryFraction,
        Key("memory_fraction", "Share of a GPU's memory that may be used", said("Usable memory"), above(0, 1),
            more("0.75 in Cephalo's released planner"), when(isSharedOut),
            shown("Usable memory", "Share of each GPU's memory that the plan may use."), field(2, " of a GPU")));
    v.value(&Heterogeneity::commBufferGib,
        Key("comm_buffer_gib", "Communication buffers of a GPU, GiB", otherwise("as modelled"),
            said("Communication buffers", " GiB"), upTo(1e5), more("2 in Cephalo's released planner"),
            when(isSharedOut), shown("Communication buffers", "Memory of each GPU that collectives keep."), field(2),
            lowestMeans("as modelled")));
    v.value(&Heterogeneity::releasedStateFill,
        Key("released_state_fill",
            "States are filled in as Cephalo's released planner does, which reads the memory of a micro-batch at their "
            "number instead of its size",
            said("Released state fill"), when(isLayered),
            shown("Released fill",
                "Fills states as Cephalo's released planner does, which takes GPUs for emptier than they are."),
            more("it reproduces the even shares that the release ships, of which one does not fit"),
            choice("Released state fill")));
    v.value(&Heterogeneity::assign,
        Key("assign", "What some GPUs get, whatever would be best", said("Pinned share"),
            more("entries about the same pool follow each other")));
}

template <class V> [[gnu::cold]] void describe(V &v, Of<GpuLayerTimes>)
{
    v.byMicroBatch(&GpuLayerTimes::forwardMs,
        Key("forward_ms", "Forward pass of one layer, milliseconds: { slope, intercept }, or one by micro-batch",
            said("Measured forward", " ms"), kRequired));
    v.byMicroBatch(&GpuLayerTimes::backwardMs,
        Key("backward_ms", "Its backward pass without recompute, likewise", said("Measured backward", " ms"),
            kRequired));
    v.value(&GpuLayerTimes::computeGib,
        Key("compute_gib", "Memory beside states for micro-batch 1, 2, …, with full recomputation, GiB",
            otherwise("as modelled"), said("Measured memory", " GiB"), upTo(1e6)));
}

template <class V> [[gnu::cold]] void describe(V &v, Of<LayerProfiles>)
{
    v.value(&LayerProfiles::allGatherMs,
        Key("all_gather_ms", "Gather of one layer's weights over all ranks, milliseconds", otherwise("as modelled"),
            said("Measured gather", " ms"), upTo(1e9)));
    v.value(&LayerProfiles::reduceScatterMs,
        Key("reduce_scatter_ms", "Reduction of one layer's gradients, milliseconds", otherwise("as modelled"),
            said("Measured reduction", " ms"), upTo(1e9)));
    v.value(&LayerProfiles::parameters,
        Key("parameters", "Of the model", otherwise("counted"), said("Parameters"), above(0, 1e15)));
    v.value(&LayerProfiles::layers,
        Key("layers", "Of the model that was measured", otherwise("the model's"), said("Layers"), range(1, 1e6)));
    v.byGpu(&LayerProfiles::gpus,
        Key("<gpu id>", "Measured times of one layer on this GPU of the catalogue", said("Measured layers")));
}

} // namespace trainyard::keys

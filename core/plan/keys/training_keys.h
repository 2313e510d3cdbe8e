#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of what is trained and how it is split: `workload`, `parallelism`, `placement`, `moe`, `heterogeneity`,
// `stack`.

#include "core/plan/keys/key.h"
#include "core/plan/keys/wan_keys.h"

namespace trainyard::keys {

inline bool projectsGradients(const Plan &plan)
{
    return plan.workload.optimizer == Optimizer::Galore;
}

template <class V> void describe(V &v, Of<WorkloadSpec>)
{
    v.model(
        Key("model", "Catalogue name, path of a Hugging Face config.json (relative to the plan), or an inline object",
            more("`trainyard-cli catalog models` lists the names; an object has `layers`, `hidden`, `heads`, "
                 "`kv_heads`, `head_dim`, `ffn`, `vocab`, `gated_ffn`, `tied_embeddings`, `attention` and for mixtures "
                 "of experts `experts`, `experts_per_token`, `expert_ffn`, `shared_expert_ffn`, `dense_layers`; "
                 "required unless there is a profile or `jobs`. A plan that the window makes of a `config.json` holds "
                 "the object, with the file's folder and name in `source`, so that it opens without the file")));
    v.value(&WorkloadSpec::sequenceLength,
        Key("sequence_length", "Tokens of one sequence", said("Sequence", " tokens"), range(1, 1e8), kAlways));
    v.value(&WorkloadSpec::documentLength,
        Key("document_length",
            "Mean tokens of a document, where a mask keeps attention inside documents; absent: a sequence is one",
            said("Documents", " tokens"), range(1, 1e8)));
    v.value(&WorkloadSpec::globalBatch,
        Key("global_batch", "Sequences of one iteration, all pipelines together", said("Global batch"), range(1, 1e7),
            kAlways, more("required unless there are `jobs`")));
    v.value(&WorkloadSpec::microBatch,
        Key("micro_batch", "Sequences of one micro-batch", said("Micro-batch"), range(1, 1e6), kAlways,
            more("divides `global_batch`"),
            shown("Micro-batch", "Sequences that pass the pipeline together. The global batch stays.")));
    v.value(&WorkloadSpec::precision,
        Key("precision", "Number format of the matrix products", kAlways, kLearnsOtherwise,
            shown("Precision", "Number format of the matrix products.")));
    v.value(&WorkloadSpec::optimizer,
        Key("optimizer", "Optimizer, for its state and step", kAlways, kLearnsOtherwise,
            shown("Optimizer",
                "What it keeps for each parameter: Adam 8 bytes of moments, with 8 bits 2, GaLore moments of projected "
                "gradients. Another one trains otherwise.")));
    v.value(&WorkloadSpec::galoreRank,
        Key("galore_rank", "Rank of the projected gradients under galore", said("GaLore rank"), range(1, 1e6),
            when(projectsGradients), kLearnsOtherwise, shown("Rank", "Rank of GaLore's projected gradients."),
            field(0, " of each matrix")));
    v.value(&WorkloadSpec::trainingTokens,
        Key("training_tokens", "Tokens of the whole run; totals are null without it", said("Training", " tokens"),
            above(0, 1e18)));
}

template <class V> void describe(V &v, Of<Parallelism>)
{
    v.value(&Parallelism::tensor,
        Key("tensor", "Tensor-parallel degree, inside a node or over whole nodes of a pool", said("Tensor parallel"),
            range(1, 1024), kAlways, more("over whole nodes where nodes hold too few"),
            shown("Tensor",
                "GPUs that share every layer's matrix products: of one node or, where nodes are smaller, of "
                "several.")));
    v.value(&Parallelism::pipeline,
        Key("pipeline", "Pipeline stages", said("Pipeline stages"), range(1, 4096), kAlways,
            shown("Pipeline", "Stages into which the layers are cut; micro-batches flow through them.")));
    v.automatic(&Parallelism::data,
        Key("data", "Data-parallel degree; auto: the largest that can be placed", said("Data parallel"), range(1, 1e6),
            kAlways, shown("Data", "Replicas of the whole pipeline. Auto: as many as can be placed.")));
    v.value(&Parallelism::context,
        Key("context", "Context-parallel degree", said("Context parallel"), range(1, 1024),
            more("divides the sequence"), shown("Context", "GPUs that share one long sequence.")));
    v.value(&Parallelism::expert,
        Key("expert", "Expert-parallel degree", said("Expert parallel"), range(1, 4096),
            more("its groups, times `expert_tensor`, stay in one datacenter"),
            shown("Expert", "GPUs over which the experts of a layer are spread.")));
    v.value(&Parallelism::expertTensor,
        Key("expert_tensor", "Tensor-parallel degree of the experts", said("Tensor parallel in experts"),
            range(1, 1024)));
    v.value(&Parallelism::virtualPipeline,
        Key("virtual_pipeline", "Model chunks per stage", said("Virtual stages"), range(1, 1024),
            more("see `schedule` for what each takes"),
            shown("Virtual stages",
                "Chunks of layers that each stage holds; more chunks, shorter bubbles, more transfers.")));
    v.value(&Parallelism::tokenSlices,
        Key("token_slices", "Pieces of a sequence that follow each other down the pipeline, under terapipe",
            said("Token slices"), range(1, 1024), more("at most the sequence's tokens")));
    v.value(&Parallelism::sequenceParallel,
        Key("sequence_parallel", "Split norms and dropout over the tensor group", otherwise("tensor > 1"),
            said("Sequence parallelism"),
            shown("Sequence parallel",
                "Splits norms and dropout along the sequence within the tensor-parallel group: less activation memory "
                "at equal traffic.")));
    v.value(&Parallelism::zeroStage,
        Key("zero_stage", "Sharding over data-parallel ranks: 0 none, 1 optimizer, 2 and gradients, 3 and parameters",
            said("ZeRO stage"), upTo(3),
            shown("ZeRO stage", "What is sharded over the data-parallel replicas instead of repeated on each.")));
}

template <class V> void describe(V &v, Of<Stack>)
{
    v.value(&Stack::name,
        Key("base", "Name of a stack", kRequired, more("one of those above"),
            shown("Software", "The framework whose habits are modelled: what it overlaps, keeps and adds.")));
    v.value(&Stack::release,
        Key("release", "Release of the stack, one of the catalogue; without one its age is unknown",
            more("a text (`\"26.10\"`, not the number 26.1) that `resources/catalog/stack_releases.json` knows, for "
                 "`megatron-core` those of NVIDIA's Megatron-Bridge containers. Kernel and host time scale by what it "
                 "takes ([model.md](model.md#stacks)). Not named, the range of the confidence holds all releases"),
            shown("Release",
                "Which release of it runs: equal plans took different times from one to the next. Where it is not "
                "named, the range of the prediction holds all of them.")));
}

template <class V> void describe(V &v, Of<StagePin>)
{
    v.value(&StagePin::datacenter, Key("datacenter", "Datacenter, by id", kRequired));
    v.value(&StagePin::stages, Key("stages", "Stages that it holds", range(1, 4096), kRequired));
}

template <class V> void describe(V &v, Of<Placement>)
{
    v.value(&Placement::mode,
        Key("mode", "Stages or replicas across datacenters; auto: the better of the two", said("Placement"), kAlways,
            when(hasSeveralSites),
            more("across datacenters are contiguous stages, all replicas of a stage in one datacenter, or whole "
                 "replicas"),
            shown("Placement",
                "Pipeline across: each datacenter holds some stages. Data across: each holds whole replicas. Auto: the "
                "better of both.")));
    v.value(&Placement::stages,
        Key("stages", "Pins how many stages each datacenter holds, in pipeline order", said("Pinned stages"),
            more("they add up to `parallelism.pipeline`")));
    v.perStage(&Placement::layers,
        Key("layers", "Transformer layers of each stage, in pipeline order",
            otherwise("even, the first and the last less where they do not divide"), said("Layers of the stages"),
            upTo(1e6), more("they add up to the model's")));
}

template <class V> void describe(V &v, Of<MoeStrategy>)
{
    v.value(&MoeStrategy::dispatch, Key("dispatch", "How tokens travel to their experts", said("Expert dispatch")));
    v.automatic(&MoeStrategy::overlapChunks,
        Key("overlap_chunks", "Pieces in which dispatch overlaps with computation", said("Dispatch pieces"),
            range(1, 1024)));
    v.value(&MoeStrategy::imbalance,
        Key("imbalance", "Tokens of the busiest expert / mean", said("Expert imbalance"), range(1, 1e4)));
    v.value(&MoeStrategy::capacityFactor,
        Key("capacity_factor", "Room of an expert / mean; null: nothing is dropped", said("Expert capacity factor"),
            above(0, 1e4)));
}

template <class V> void describe(V &v, Of<Heterogeneity>)
{
    v.value(&Heterogeneity::compute,
        Key("compute", "Work split evenly, or by the speed of the GPUs", said("Sharing of work")));
    v.value(&Heterogeneity::state,
        Key("state", "State split evenly, or by the memory of the GPUs", said("Sharing of state")));
}

} // namespace trainyard::keys

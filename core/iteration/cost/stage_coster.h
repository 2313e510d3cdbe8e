#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Costs of the stages of one workload. Stages on equal hardware share their layers' costs, which are computed once;
// those whose tensor parallel degree is their own are seen with it. One a call of cost() or estimate(); refers to the
// workload.

#include "core/iteration/cost/layer/layer_cost.h"
#include "core/iteration/cost/layer/shard_runs.h"
#include "core/iteration/cost/stage_costs.h"
#include "core/iteration/model_states/stage_parameters.h"
#include "core/iteration/placement/class_workload.h"
#include "core/iteration/placement/recompute.h"

namespace trainyard {

class StageCoster {
public:
    explicit StageCoster(const Workload &workload);

    /// Everything but what crosses datacenters.
    [[nodiscard]] StageCosts stage(const PipelineClass &pipelines, int stage);
    /// Its chunks alone, without what follows them.
    [[nodiscard]] StageCosts chunksOfStage(const PipelineClass &pipelines, int stage)
    {
        return chunksOfStage(at(rankSet(m_work, pipelines, stage)), pipelines, stage);
    }
    /// The whole stage at once, its chunks summed: what a closed form needs, without a list of chunks.
    /// `hasEnd`: with what follows them.
    [[nodiscard]] StageCosts wholeStage(const PipelineClass &pipelines, int stage, bool hasEnd = true);
    /// Where that stage computes; valid until the next call.
    [[nodiscard]] const LayerSite &site(const PipelineClass &pipelines, int stage);
    /// The pieces that the stage's chunks are made of, for one micro-batch.
    struct Layers {
        ChunkCost dense, expert, embedding, head;
    };
    [[nodiscard]] Layers layers(const PipelineClass &pipelines, int stage)
    {
        const SiteCosts &costs = at(rankSet(m_work, pipelines, stage));
        return { costs.dense, costs.expert, costs.embedding, costs.head };
    }
    /// And how a layer divides.
    struct Parts : Layers {
        AttentionShare denseAttention, expertAttention;
        /// recomputation of a layer that recomputation by blocks leaves out
        OpSplit denseAgain, expertAgain;
    };
    [[nodiscard]] Parts parts(
        const PipelineClass &pipelines, int stage, int slice = -1); // of the whole micro-batch: -1
    /// Adds what the exchanges of runs show to every chunk of the stages, by the runs of the program
    /// (ShardExchange::InRuns).
    void addShardRuns(const PipelineClass &pipelines, const Program &program, std::vector<StageCosts> &stages);
    /// The same of one stage, whose chunks have those runs.
    void addShardRuns(
        const PipelineClass &pipelines, int stage, const std::vector<ChunkRuns> &runs, std::vector<ChunkCost> &chunks);
    /// What ranks exchange of one layer, where they do so layer by layer: measured, or as modelled.
    [[nodiscard]] ShardTimes layerExchange(const PipelineClass &pipelines, int layer);
    /// Tokens of each slice, the same on every stage.
    [[nodiscard]] const std::vector<int> &slices() const { return m_slices; }

private:
    struct SiteCosts {
        LayerSite site;
        ChunkCost dense, expert, embedding, head;
        /// recomputation of a layer that full recomputation leaves out
        OpSplit denseAgain, expertAgain;
        /// of the whole micro-batch
        std::shared_ptr<const ExpertLayerCost> experts;
        /// the same for each slice of the tokens; empty where the schedule has none
        std::vector<SiteCosts> slices;
    };

    const SiteCosts &at(const RankSet &ranks);
    void addSlices(SiteCosts &costs, const Workload &work);
    [[nodiscard]] StageCosts chunksOfStage(const SiteCosts &costs, const PipelineClass &pipelines, int stage) const;
    [[nodiscard]] StageCosts computedStage(const SiteCosts &costs, int stage) const;
    [[nodiscard]] ChunkCost chunkCost(
        const SiteCosts &costs, const StageChunk &chunk, RecomputedLayers recomputed) const;
    [[nodiscard]] ShardTimes shardTimes(const LayerSite &site, int stage, int chunk) const;
    [[nodiscard]] Seconds gatherTime(const LayerSite &site, const StageParameters &parameters) const;
    void addAccumulation(StageCosts &result, const PipelineClass &pipelines) const;
    void addSyncAndStep(StageCosts &result, const SiteCosts &costs, const PipelineClass &pipelines, int stage) const;

    const Workload &m_work;
    /// by tensor parallel degree
    ClassWorkloads m_views;
    std::vector<SiteCosts> m_sites;
    std::vector<int> m_slices;
};

/// Gradient bytes of a whole stage, all its shards: what its replicas in different datacenters must exchange.
[[nodiscard]] Bytes stageGradient(const Workload &workload, int stage);

/// What shows of an update off the GPU at the end of an iteration: all of it or, of a delayed one, what the stage's
/// operations of `microBatches` and its exchanges do not hide.
[[nodiscard]] Seconds shownStep(const Workload &workload, const StageCosts &stage, int microBatches);

/// What the operations of a stage have to hide collectives behind, of one micro-batch.
struct HidingWork {
    /// gathers hide behind the one, reductions behind the other
    Seconds forward, backward;
};
[[nodiscard]] HidingWork hidingWork(const Workload &workload, const StageCosts &stage);
/// What shows of the stage's reduction, step and gather beside that work; its chunks are not read.
[[nodiscard]] SyncAndStepTimes syncAndStepTimes(
    const StackSpec &stack, const StageCosts &stage, const HidingWork &hiding);
/// The part of reduction and gather that nothing of the stage hides, for the graph.
[[nodiscard]] SyncAndStepTimes syncAndStepTimes(const Workload &workload, const StageCosts &stage);

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/stage_coster.h"

#include "core/engine/schedule/traits.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/cost/kernels/gemm.h"
#include "core/iteration/cost/layer/predictors.h"
#include "core/iteration/cost/layer/shard_traffic.h"
#include "core/iteration/cost/layer/token_slices.h"
#include "core/iteration/cost/measured_stage.h"
#include "core/iteration/model_states/stage_parameters.h"
#include "core/iteration/model_states/states_off_gpu.h"
#include "core/iteration/placement/layer_facts.h"
#include "core/iteration/placement/shard_exchange.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

Workload withoutRecompute(const Workload &workload)
{
    Plan plan = *workload.plan;
    plan.memory.recompute = Recompute::None;
    return workload.askedBy(std::make_shared<const Plan>(std::move(plan)));
}

} // namespace

StageCoster::StageCoster(const Workload &workload)
    : m_work(workload)
    , m_views(workload)
{
    if (traitsOf(*workload.plan).isSliced() && !workload.layout.classes.empty()) {
        RankSet alone = rankSet(workload, workload.layout.classes.front(), 0);
        alone.replicasHere = 1;
        m_slices = sliceLengths(workload, layerSite(workload, alone));
    }
}

StageCosts StageCoster::stage(const PipelineClass &pipelines, int stage)
{
    const SiteCosts &costs = at(rankSet(m_work, pipelines, stage));
    StageCosts result = chunksOfStage(costs, pipelines, stage);
    if (m_work.source.hasLayers)
        addSyncAndStep(result, costs, pipelines, stage);
    return result;
}

StageCosts StageCoster::chunksOfStage(const SiteCosts &costs, const PipelineClass &pipelines, int stage) const
{
    if (!m_work.source.hasLayers)
        return measuredStage(m_work, stage, m_work.degrees.programChunks(), costs.site.data);
    StageCosts result = computedStage(costs, stage);
    addAccumulation(result, pipelines);
    return result;
}

/// Of each further micro-batch of a layer, so that of l of them every one takes (l - 1) / l of it.
void StageCoster::addAccumulation(StageCosts &result, const PipelineClass &pipelines) const
{
    const Heterogeneity &h = m_work.plan->heterogeneity;
    if (!h.isLayered() || pipelines.microBatches < 2)
        return;
    const double layers = double(m_work.degrees.chunks) / double(result.chunks.size()); // of one of them
    for (ChunkCost &chunk : result.chunks)
        chunk.weightGrad.compute +=
            milliseconds(h.accumulationOverheadMs) * (layers * (pipelines.microBatches - 1) / pipelines.microBatches);
}

const LayerSite &StageCoster::site(const PipelineClass &pipelines, int stage)
{
    return at(rankSet(m_work, pipelines, stage)).site;
}

StageCoster::Parts StageCoster::parts(const PipelineClass &pipelines, int stage, int slice)
{
    const SiteCosts &whole = at(rankSet(m_work, pipelines, stage));
    const SiteCosts &costs = slice < 0 ? whole : whole.slices[std::size_t(slice)];
    const Workload &work = m_views.ofTensor(costs.site.ranks.degrees.tensor);
    return { { costs.dense, costs.expert, costs.embedding, costs.head }, attentionShare(work, costs.site, false),
        m_work.model.isMoe() ? attentionShare(work, costs.site, true) : AttentionShare {}, costs.denseAgain,
        costs.expertAgain };
}

const StageCoster::SiteCosts &StageCoster::at(const RankSet &ranks)
{
    const Link fabric = locationFabric(m_work, ranks.at);
    for (const SiteCosts &known : m_sites)
        if (known.site.ranks.replicasHere == ranks.replicasHere && known.site.ranks.stateShare == ranks.stateShare
            && known.site.ranks.reduceDomain == ranks.reduceDomain && known.site.ranks.leastTensor == ranks.leastTensor
            && known.site.ranks.experts.isLike(ranks.experts) && areAlike(m_work, known.site.ranks.at, ranks.at)
            && known.site.fabric == fabric)
            return known;
    const Workload &work = m_views.ofTensor(ranks.degrees.tensor);
    SiteCosts costs { layerSite(work, ranks), {}, {}, {}, {}, {}, {}, {}, {} };
    if (work.source.hasLayers) {
        costs.dense = layerCost(work, costs.site, false);
        if (work.model.isMoe()) {
            const auto experts = std::make_shared<ExpertLayerCost>();
            costs.expert = layerCost(work, costs.site, *experts);
            costs.experts = experts;
        }
        if (const GpuLayerTimes *times = measuredLayer(work, ranks.at)) {
            costs.dense = costs.expert = measuredCost(work, *times);
            costs.experts = nullptr;
        } else {
            costs.embedding = embeddingCost(work, costs.site);
            costs.head = headCost(work, costs.site);
            costs.head += predictorsCost(work, costs.site, hasExpertPredictor(work.model) ? costs.expert : costs.dense);
        }
        if (work.plan->memory.recompute == Recompute::Full && work.plan->memory.recomputeLayers) {
            const Workload kept = withoutRecompute(work);
            costs.denseAgain = layerCost(kept, costs.site, false).recompute;
            if (work.model.isMoe())
                costs.expertAgain = layerCost(kept, costs.site, true).recompute;
        }
        addSlices(costs, work);
    }
    m_sites.push_back(std::move(costs));
    return m_sites.back();
}

void StageCoster::addSlices(SiteCosts &costs, const Workload &work)
{
    int before = 0;
    for (const int tokens : m_slices) {
        const Workload slice = ofSlice(work, tokens);
        const ChunkCost earlier = attentionToEarlier(slice, costs.site, before);
        SiteCosts &of = costs.slices.emplace_back(
            SiteCosts { costs.site, {}, {}, {}, {}, costs.denseAgain, costs.expertAgain, costs.experts, {} });
        of.dense = layerCost(slice, costs.site, false);
        of.dense += earlier;
        if (m_work.model.isMoe()) {
            of.expert = layerCost(slice, costs.site, true);
            of.expert += earlier;
        }
        of.embedding = embeddingCost(slice, costs.site);
        of.head = headCost(slice, costs.site);
        of.head += predictorsCost(slice, costs.site, hasExpertPredictor(m_work.model) ? of.expert : of.dense);
        before += tokens;
    }
}

ChunkCost StageCoster::chunkCost(const SiteCosts &costs, const StageChunk &chunk, RecomputedLayers recomputed) const
{
    const int dense = chunk.layers - chunk.expertLayers;
    ChunkCost sum = costs.dense * dense;
    const Seconds host = microseconds(
        m_work.stack.cudaGraphs ? 0 : m_work.stack.microBatchOverheadUs * costs.site.sustained.microBatchHost);
    sum.forward.compute += host;
    sum.inputGrad.compute += host;
    if (chunk.expertLayers > 0)
        sum += costs.expert * chunk.expertLayers;
    if (m_work.plan->memory.recompute == Recompute::Full && m_work.plan->memory.recomputeLayers)
        sum.recompute = costs.dense.recompute * recomputed.dense + costs.denseAgain * (dense - recomputed.dense)
            + costs.expert.recompute * recomputed.experts
            + costs.expertAgain * (chunk.expertLayers - recomputed.experts);
    if (chunk.hasEmbedding)
        sum += costs.embedding;
    if (chunk.hasHead)
        sum += costs.head;
    return sum;
}

StageCosts StageCoster::computedStage(const SiteCosts &costs, int stage) const
{
    StageCosts result;
    const std::vector<RecomputedLayers> recomputed = recomputedLayers(m_work, stage);
    result.chunks.reserve(recomputed.size() * std::max<std::size_t>(1, costs.slices.size()));
    for (std::size_t c = 0; c < recomputed.size(); ++c) {
        const StageChunk &chunk = m_work.layout.chunks[std::size_t(stage)][c];
        if (chunk.expertLayers > 0)
            result.expert = costs.experts;
        for (const SiteCosts &slice : costs.slices)
            result.chunks.push_back(chunkCost(slice, chunk, recomputed[c]));
        if (costs.slices.empty())
            result.chunks.push_back(chunkCost(costs, chunk, recomputed[c]));
    }
    return result;
}

StageCosts StageCoster::wholeStage(const PipelineClass &pipelines, int stage, bool hasEnd)
{
    const SiteCosts &costs = at(rankSet(m_work, pipelines, stage));
    if (!m_work.source.hasLayers)
        return measuredStage(m_work, stage, 1, costs.site.data);
    StageCosts result;
    StageChunk whole;
    RecomputedLayers wholeAgain;
    const std::vector<RecomputedLayers> recomputed = recomputedLayers(m_work, stage);
    const auto &chunks = m_work.layout.chunks[std::size_t(stage)];
    for (std::size_t c = 0; c < chunks.size() / std::size_t(m_work.degrees.copies); ++c) {
        const StageChunk &chunk = chunks[c]; // of one copy: a micro-batch goes through one
        whole.layers += chunk.layers;
        whole.expertLayers += chunk.expertLayers;
        whole.hasEmbedding |= chunk.hasEmbedding;
        whole.hasHead |= chunk.hasHead;
        wholeAgain.dense += recomputed[c].dense;
        wholeAgain.experts += recomputed[c].experts;
    }
    result.chunks.push_back(chunkCost(costs, whole, wholeAgain));
    if (whole.expertLayers > 0)
        result.expert = costs.experts;
    if (shardExchange(*m_work.plan, m_work.stack) == ShardExchange::InRuns) {
        const Seconds work = workOfChunk(result.chunks.front(), double(chunks.size()));
        for (std::size_t c = 0; c < chunks.size(); ++c)
            addExchangesOfRuns(result.chunks.front(), m_work, shardTimes(costs.site, stage, int(c)),
                expectedRuns(*m_work.plan, pipelines.microBatches), pipelines.microBatches, work, c == 0);
    }
    addAccumulation(result, pipelines);
    if (hasEnd)
        addSyncAndStep(result, costs, pipelines, stage);
    return result;
}

Seconds StageCoster::gatherTime(const LayerSite &site, const StageParameters &parameters) const
{
    const double weight = gatheredWeightBytes(m_work.plan->workload.precision, m_work.stack);
    return (allGatherTime(Bytes { parameters.dense * weight }, site.data)
               + (parameters.experts > 0 ? allGatherTime(Bytes { parameters.experts * weight }, site.expertData)
                                         : Seconds {}))
        * unevenFactor(m_work, site.ranks);
}

ShardTimes StageCoster::shardTimes(const LayerSite &site, int stage, int chunk) const
{
    const StageParameters parameters = chunkParameters(m_work, stage, chunk, site.ranks.ofLargestShard());
    const double gradient = m_work.stack.gradientBytes;
    return { gatherTime(site, parameters),
        (reduceScatterTime(Bytes { gradient * parameters.dense }, site.data)
            + (parameters.experts > 0 ? reduceScatterTime(Bytes { gradient * parameters.experts }, site.expertData)
                                      : Seconds {}))
            * unevenFactor(m_work, site.ranks) };
}

ShardTimes StageCoster::layerExchange(const PipelineClass &pipelines, int layer)
{
    const LayerSite &at = site(pipelines, 0);
    if (at.data.ranks < 2)
        return {};
    ShardTimes times = shardTimes(at, 0, layer);
    if (m_work.degrees.zeroStage < 3)
        times.gather = {};
    if (const auto &profiles = m_work.plan->layerProfiles) {
        if (profiles->allGatherMs && m_work.degrees.zeroStage >= 3)
            times.gather = milliseconds(*profiles->allGatherMs);
        if (profiles->reduceScatterMs)
            times.scatter = milliseconds(*profiles->reduceScatterMs);
    }
    return times;
}

void StageCoster::addShardRuns(const PipelineClass &pipelines, const Program &program, std::vector<StageCosts> &stages)
{
    for (std::size_t stage = 0; stage < stages.size(); ++stage)
        addShardRuns(pipelines, int(stage), chunkRuns(program, int(stage)), stages[stage].chunks);
}

void StageCoster::addShardRuns(
    const PipelineClass &pipelines, int stage, const std::vector<ChunkRuns> &runs, std::vector<ChunkCost> &chunks)
{
    ChunkCost whole;
    for (const ChunkCost &chunk : chunks)
        whole += chunk;
    const Seconds work = workOfChunk(whole, double(chunks.size()));
    const LayerSite &at = site(pipelines, stage);
    for (std::size_t c = 0; c < chunks.size(); ++c)
        addExchangesOfRuns(
            chunks[c], m_work, shardTimes(at, stage, int(c)), runs[c], pipelines.microBatches, work, c == 0);
}

void StageCoster::addSyncAndStep(
    StageCosts &result, const SiteCosts &costs, const PipelineClass &pipelines, int stage) const
{
    const Plan &plan = *m_work.plan;
    const RankGroup &data = costs.site.data;
    const Degrees largest = costs.site.ranks.ofLargestShard(); // which collectives wait for
    const StageParameters parameters = stageParameters(m_work, stage, costs.site.ranks.degrees),
                          exchanged = stageParameters(m_work, stage, largest);
    const RankGroup &expertData = costs.site.expertData;
    const bool isSharded = m_work.degrees.zeroStage >= 1, isInLayers = communicatesInLayers(m_work, costs.site);
    const bool isInRuns = shardExchange(plan, m_work.stack) == ShardExchange::InRuns;
    const StageParameters atTheEnd =
        isInRuns ? chunkParameters(m_work, stage, 0, largest) : exchanged; // chunk 0 ends last
    const bool isByLayers = shardExchange(plan, m_work.stack) == ShardExchange::ByLayers;
    const auto addReduction = [&](double elements, const RankGroup &group) {
        const double bucket = std::max(m_work.stack.gradientBucket, m_work.stack.gradientBucketPerRank * group.ranks);
        const double buckets = bucket > 0 ? std::max(1.0, std::round(elements / bucket)) : 1;
        const Bytes size { elements / buckets * m_work.stack.gradientBytes };
        const Seconds one = isSharded ? reduceScatterTime(size, group) * unevenFactor(m_work, costs.site.ranks)
                                      : allReduceTime(size, group);
        result.reduce += one * buckets;
        result.lastBucket = std::max(result.lastBucket, one);
    };
    if (!isInLayers && !isByLayers) {
        addReduction(atTheEnd.dense, data);
        if (atTheEnd.experts > 0)
            addReduction(atTheEnd.experts, expertData);
    }
    if (isSharded && ((!isInLayers && !isByLayers) || m_work.degrees.zeroStage < 3))
        result.gather = gatherTime(costs.site, m_work.degrees.zeroStage >= 3 ? atTheEnd : exchanged);
    const double touched = !isSharded ? parameters.total()
        : pipelines.stateShare > 0    ? parameters.total() * pipelines.stateShare
                                      : parameters.dense / data.ranks + parameters.experts / expertData.ranks;
    const StageLocation location = pipelines.locations[std::size_t(stage)];
    const bool isMeasured = measuredLayer(m_work, location); // its times stand for all that a GPU computes
    const Seconds projection = isMeasured ? Seconds {} : galoreTime(m_work, *costs.site.gpu, touched);
    if (!isMeasured)
        result.optimizer =
            memoryTime(*costs.site.gpu, Bytes { touched * updateTraffic(m_work) }) / costs.site.sustained.memory
            + projection;
    if (plan.memory.parameterOffload == ParameterOffload::Ssd)
        result.weightsWritten = Bytes { touched * weightBytes(plan.workload.precision) };
    if (plan.memory.optimizerOffload != OptimizerOffload::None) {
        Seconds backward; // of a micro-batch
        for (const ChunkCost &chunk : result.chunks)
            backward += chunk.inputGrad.total() + chunk.weightGrad.total() + chunk.recompute.total();
        result.step = offloadedStep(m_work, location, touched);
        result.lateWrites = lateGradientWrites(m_work, location, touched, backward);
        result.optimizer = shownStep(m_work, result, pipelines.microBatches) + projection;
    } else
        result.optimizer += weightsHome(m_work, location, touched);
}

/// Communication may hide behind the last backward (reduction) or the first forward (gather) of the stage.
HidingWork hidingWork(const Workload &workload, const StageCosts &stage)
{
    Seconds forward, backward;
    const bool isInRuns = shardExchange(*workload.plan, workload.stack) == ShardExchange::InRuns;
    for (const ChunkCost &chunk : stage.chunks) {
        const bool isLast = &chunk
            == stage.chunks.data(); // where runs exchange only its gradients and, from ZeRO-3 on, weights are left
        if (!isInRuns || isLast || workload.degrees.zeroStage < 3)
            forward += chunk.forward.total();
        if (isInRuns && !isLast)
            continue;
        backward += chunk.weightGrad.total();
        if (!traitsOf(*workload.plan).splitsBackward)
            backward += chunk.inputGrad.total() + chunk.recompute.total();
    }
    if (!traitsOf(*workload.plan).splitsBackward) // tokens travel in the gradients of inputs
        backward = std::max(Seconds {}, backward - stage.linksBusy);
    return { forward, backward };
}

SyncAndStepTimes syncAndStepTimes(const StackSpec &stack, const StageCosts &stage, const HidingWork &hiding)
{
    SyncAndStepTimes syncAndStep;
    syncAndStep.reduce = toNanoseconds(stage.reduce);
    syncAndStep.reduceEarly = toNanoseconds(std::min(stage.reduce - stage.lastBucket, hiding.backward)
        * stack.gradientOverlap * std::max(0.0, 1 - stack.overlapSlowdown));
    syncAndStep.gather = toNanoseconds(
        std::max(Seconds {}, stage.gather - hiding.forward * (stack.gathersByTensor ? 0 : stack.parameterOverlap))
        + stage.exchange);
    syncAndStep.optimizer = toNanoseconds(stage.optimizer);
    return syncAndStep;
}

SyncAndStepTimes syncAndStepTimes(const Workload &workload, const StageCosts &stage)
{
    return syncAndStepTimes(workload.stack, stage, hidingWork(workload, stage));
}

Seconds shownStep(const Workload &workload, const StageCosts &stage, int microBatches)
{
    const Plan &plan = *workload.plan;
    const Seconds whole = stage.step.time + stage.lateWrites;
    if (!plan.memory.delayedUpdate)
        return whole;
    const int copies =
        stage.chunks.size() > 1 ? workload.degrees.copies : 1; // of which each micro-batch goes through one
    Seconds beside;
    for (const ChunkCost &chunk : stage.chunks)
        beside += (chunk.forward.total() + chunk.inputGrad.total() + chunk.weightGrad.total() + chunk.recompute.total())
            * (double(microBatches) / copies);
    const SyncAndStepTimes syncAndStep = syncAndStepTimes(workload, stage);
    return delayedStep(whole, beside + toSeconds(syncAndStep.reduce - syncAndStep.reduceEarly + syncAndStep.gather));
}

Bytes stageGradient(const Workload &workload, int stage)
{
    if (!workload.source.hasLayers)
        return workload.source.parameters * workload.degrees.copies;
    const Degrees &p = workload.degrees;
    const StageParameters parameters = stageParameters(workload, stage);
    return Bytes { workload.stack.gradientBytes
        * (parameters.dense * p.tensor + parameters.experts * p.expert * p.expertTensor) };
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/iteration_costs/iteration_costs.h"

#include "core/engine/schedule/traits.h"
#include "core/iteration/cost/expert_traffic.h"
#include "core/iteration/cost/wan/expert_wan.h"
#include "core/iteration/cost/wan/wan_codec.h"
#include "core/iteration/cost/wan/wan_reduce.h"
#include "core/iteration/cost/wan/wan_traffic.h"
#include "core/iteration/iteration_costs/iteration_length.h"
#include "core/iteration/iteration_costs/layer_loop.h"
#include "core/iteration/iteration_costs/stack_order.h"
#include "core/iteration/iteration_costs/state_rows.h"
#include "core/iteration/iteration_costs/task_count.h"
#include "core/iteration/memory/in_flight_room.h"
#include "core/iteration/memory/op_memory.h"
#include "core/iteration/offload/offload_plan.h"
#include "core/iteration/placement/activations_leave.h"
#include "core/iteration/placement/measured_pairs.h"
#include "core/iteration/placement/recompute.h"
#include "core/iteration/placement/shard_exchange.h"

#include <algorithm>

namespace trainyard {

namespace {

/// An operation that takes time at all takes a tick of the timeline at least.
Nanoseconds atLeastOne(Seconds t)
{
    return t.value > 0 ? std::max<Nanoseconds>(1, toNanoseconds(t)) : 0;
}

/// A recomputation of its own that takes no time is no operation (schedules may have one all the same): its layers are
/// made again one by one within the backward, and nothing is whole before it.
void fuseFreeRecomputation(Program &program, const std::vector<OpTimes> &ops)
{
    for (std::size_t device = 0; device < program.order.size(); ++device) {
        std::vector<Op> &order = program.order[device];
        const auto isFree = [&](const Op &op) {
            return ops[device * std::size_t(program.shape.chunks) + std::size_t(op.chunk)].recompute <= 0;
        };
        if (std::erase_if(order, [&](const Op &op) { return op.kind == OpKind::Recompute && isFree(op); }) == 0)
            continue;
        for (Op &op : order)
            op.recomputes = op.recomputes || (makesGradient(op.kind) && isFree(op));
    }
}

ScheduleShape shapeOf(const Workload &workload, const PipelineClass &pipelines)
{
    return { workload.degrees.pipeline, pipelines.microBatches, workload.degrees.programChunks(),
        workload.source.inFlight };
}

ScheduleTimes scheduleTimes(const PipelineCosts &costs, ChunkPlacement placement, const StackSpec &stack)
{
    const int devices = int(costs.syncAndStep.size()), virtualStages = int(costs.ops.size()),
              chunks = virtualStages / devices;
    ScheduleTimes times;
    times.endsTogether = true; // an iteration is counted to the end of its last stage, barrier or not
    for (int q = 0; q < virtualStages; ++q) {
        const OpTimes &op = costs.ops[std::size_t(deviceAt(placement, devices, q) * chunks + q / devices)];
        times.stages.push_back(
            { op.forward, op.inputGrad, op.weightGrad, stack.recomputesLastStage ? 0 : op.recompute });
    }
    for (const BoundaryTimes &b : costs.boundaries)
        times.boundaries.push_back(std::max(b.serialization[0] + b.latency[0], b.serialization[1] + b.latency[1]));
    for (const SyncAndStepTimes &syncAndStep : costs.syncAndStep) // behind a barrier optimizer steps are nobody's own
        times.tails.push_back(
            syncAndStep.reduce - syncAndStep.reduceEarly + (stack.gradientNormBarrier ? 0 : syncAndStep.optimizer));
    return times;
}

/// For a schedule that uses what memory leaves: K = floor((memory - states - workspace) / stash) micro-batches, as far
/// as it needs them. A list scheduler takes from the memory of the first stage of 1f1b (ZB-1p) to twice that (ZB-2p),
/// where little is left to gain. Forwards are doubled where as many micro-batches as stages fit; with less it runs as
/// it always can, and whether that fits memory says. A work-conserving stage leaves the twentieth of the memory beyond
/// which running out is likely.
void takeRoom(const Workload &workload, RoomUse use, ScheduleShape &shape, ScheduleTimes &times)
{
    if (use == RoomUse::None || !workload.source.hasMemory)
        return;
    const InFlightRoom room = inFlightRoom(workload, use == RoomUse::RunTime ? kWorkConservingShare : 1);
    const int stages = shape.devices,
              least = use == RoomUse::Order ? stages
        : use == RoomUse::Doubling          ? (stages + 1) / 2
                                            : 1,
              most = use == RoomUse::Order ? 2 * stages
        : use == RoomUse::Doubling         ? stages
                                           : shape.microBatches;
    shape.inFlightLimit = room.microBatches;
    for (int &limit : shape.inFlightLimit)
        limit = std::clamp(limit, least, most);
    if (use == RoomUse::Order)
        times.keptForWeightGrad = room.keptForWeightGrad;
}

/// More tasks than a timeline can hold in memory are refused before they are made.
Expected<void> checkSize(const Workload &workload)
{
    const std::int64_t tasks = simulatedTasks(workload);
    if (tasks <= kMostTasks)
        return {};
    const int virtualStages = workload.degrees.pipeline * workload.degrees.programChunks();
    const bool leaves = activationsLeaveTo(workload.plan->memory) != ActivationOffload::None;
    return std::unexpected(Error { ErrorCode::BadValue, "workload.global_batch",
        "gives " + std::to_string(virtualStages) + " virtual stages "
            + std::to_string(workload.layout.classes.front().microBatches)
            + " micro-batches each: " + taskCountText(tasks) + " tasks"
            + (leaves ? ", each module of a layer offloaded by itself," : "") + " are too many to simulate",
        "larger micro-batches or more replicas, " + taskCountText(kMostTasks) + " tasks at most" });
}

/// What slices and copies of the model need beyond the schedule's own rules.
Expected<void> checkStrategy(const Workload &workload)
{
    const Plan &plan = *workload.plan;
    const auto fault = [](const char *where, std::string what, std::string right) {
        return std::unexpected(Error { ErrorCode::BadValue, where, std::move(what), std::move(right) });
    };
    if (traitsOf(plan).isSliced()) {
        if (auto chunks = checkChunks(traitsOf(plan), workload.degrees.chunks); !chunks)
            return chunks;
        if (workload.degrees.slices > plan.workload.sequenceLength)
            return fault("parallelism.token_slices", "is more than the sequence has tokens",
                std::to_string(plan.workload.sequenceLength) + " or fewer");
    }
    for (const PipelineClass &pipelines : workload.layout.classes) {
        const auto siteOf = [&](int stage) { return pipelines.locations[std::size_t(stage)].datacenter; };
        const auto labelOf = [&](int site) { return plan.cluster.datacenters[std::size_t(site)].label(); };
        for (int stage = 0; workload.degrees.copies > 1 && 2 * stage < workload.degrees.pipeline; ++stage) {
            const int mirror = workload.degrees.mirrorOf(stage);
            const int a = siteOf(stage), b = siteOf(mirror);
            if (a != b && workload.links.between(a, b) < 0)
                return fault("schedule",
                    "keeps copies of the same layers on stages " + std::to_string(stage + 1) + " and "
                        + std::to_string(mirror + 1) + ", whose gradients must meet, and no WAN link joins "
                        + labelOf(a) + " and " + labelOf(b),
                    "a schedule with one copy of the model, or that link");
        }
    }
    return {};
}

/// Of a forward with a backward, recomputation apart.
OpSplit pairOf(
    const Workload &workload, const StageCosts &stage, std::size_t number, std::size_t forward, std::size_t backward)
{
    const ChunkCost &a = stage.chunks[forward], &b = stage.chunks[backward];
    const auto experts = [&](std::size_t chunk) { return workload.layout.chunks[number][chunk].expertLayers; };
    return stage.expert
        ? together(a.forward, b.inputGrad + b.weightGrad, experts(forward), experts(backward), stage.expert.get())
        : a.forward + b.inputGrad + b.weightGrad;
}

void refreshOps(PipelineCosts &shape, const std::vector<StageCosts> &stages)
{
    shape.ops.clear();
    for (const StageCosts &stage : stages)
        for (const ChunkCost &chunk : stage.chunks)
            shape.ops.push_back(opTimes(chunk));
}

/// Both sides of a boundary between datacenters pack what they send and unpack what they get.
void chargeCodec(const Workload &workload, const PipelineClass &pipelines, const std::vector<int> &slices,
    PipelineCosts &shape, std::vector<StageCosts> &stages)
{
    const Plan &plan = *workload.plan;
    const ChunkPlacement placement = traitsOf(plan).placement;
    const int devices = int(stages.size());
    const auto charge = [&](int q, double tokens) {
        const int device = deviceAt(placement, devices, q);
        const StageLocation location = pipelines.locations[std::size_t(device)];
        ChunkCost &chunk = stages[std::size_t(device)].chunks[std::size_t(q / devices)];
        chunk.forward.compute += boundaryRecodeTime(workload, location, false, tokens);
        chunk.inputGrad.compute += boundaryRecodeTime(workload, location, true, tokens);
    };
    for (int q = 0; q < int(shape.boundaries.size()); ++q) {
        if (!shape.boundaries[std::size_t(q)].isWan)
            continue;
        const double tokens =
            slices.empty() ? 1 : double(slices[std::size_t(q / devices)]) / plan.workload.sequenceLength;
        charge(q, tokens);
        charge(q + 1, tokens);
    }
    refreshOps(shape, stages);
}

/// With what runs of micro-batches exchange and with all that shares links or leaves the GPU.
Expected<void> checkLength(const Workload &workload, const Costs &costs)
{
    IterationLength length(workload);
    for (std::size_t c = 0; c < costs.iteration.classes.size(); ++c)
        length.addPipelines(costs.iteration.classes[c], workload.layout.classes[c]);
    length.addLinks(costs.wanLinks);
    length.addMoves(costs.iteration);
    length.addRest(costs);
    return length.check();
}

ExposedSeconds exposed(const OpSplit &split)
{
    return { split.tensor.value, split.context.value, split.expert.value, split.data.value, split.offload.value };
}

/// Tells every operation what it exchanges inside.
void tellExposed(const Workload &workload, Costs &costs)
{
    for (std::size_t c = 0; c < costs.iteration.classes.size(); ++c) {
        PipelineCosts &pipelines = costs.iteration.classes[c];
        for (std::size_t s = 0; s < costs.stages[c].size(); ++s) {
            const StageCosts &stage = costs.stages[c][s];
            for (std::size_t i = 0; i < stage.chunks.size(); ++i) {
                const ChunkCost &chunk = stage.chunks[i];
                pipelines.exposed.push_back({ exposed(chunk.forward), exposed(chunk.inputGrad),
                    exposed(chunk.weightGrad), exposed(chunk.recompute) });
                for (std::size_t k = 0; !pipelines.pairs.empty() && k < stage.chunks.size(); ++k)
                    pipelines.pairedExpert.push_back(pairOf(workload, stage, s, i, k).expert.value);
            }
        }
    }
}

/// Tells every operation what it does to its GPU's memory.
void countMemory(const Workload &workload, Costs &costs)
{
    if (!workload.source.hasMemory)
        return;
    costs.iteration.isRecomputing = recomputesAnything(*workload.plan);
    ClassWorkloads views(workload);
    for (std::size_t c = 0; c < costs.iteration.classes.size(); ++c) {
        PipelineCosts &pipelines = costs.iteration.classes[c];
        const auto &classes = workload.layout.classes;
        const auto like = std::ranges::find_if(classes, [&](const PipelineClass &other) {
            return other.microBatch == classes[c].microBatch
                && std::ranges::equal(
                    other.locations, classes[c].locations, {}, &StageLocation::tensor, &StageLocation::tensor);
        });
        if (like - classes.begin() < std::ptrdiff_t(c) && costs.offload.empty()) {
            pipelines.memory = costs.iteration.classes[std::size_t(like - classes.begin())].memory;
            continue;
        }
        const OpMemory::Program has { !costs.offload.empty() && splitsBackward(pipelines.program),
            std::ranges::any_of(costs.iteration.classes, [](const PipelineCosts &p) { return !p.pairs.empty(); }) };
        for (int stage = 0; stage < int(costs.stages[c].size()); ++stage)
            pipelines.memory.push_back(std::make_shared<const OpMemory>(chunkMemory(views.of(classes[c], stage), stage),
                costs.offload.empty() ? nullptr : &costs.offload[c][std::size_t(stage)], has));
    }
}

} // namespace

OpTimes opTimes(const ChunkCost &chunk)
{
    OpTimes times;
    times.forward = atLeastOne(chunk.forward.total());
    times.recompute = toNanoseconds(chunk.recompute.total());
    times.inputGrad = atLeastOne(chunk.inputGrad.total()) + times.recompute;
    times.weightGrad = toNanoseconds(chunk.weightGrad.total());
    times.backward = times.inputGrad + times.weightGrad;
    return times;
}

void addPairTimes(std::vector<Nanoseconds> &times, const Workload &workload, const StageCosts &costs, int stage)
{
    const int parts = std::max(1, workload.degrees.programChunks() / workload.degrees.copies); // of a stage
    const Seconds measured = measuredPair(*workload.plan, stage) / parts;
    for (std::size_t forward = 0; forward < costs.chunks.size(); ++forward)
        for (std::size_t backward = 0; backward < costs.chunks.size(); ++backward)
            times.push_back(atLeastOne(measured.value > 0
                    ? measured
                    : pairOf(workload, costs, std::size_t(stage), forward, backward).total()));
}

std::vector<Nanoseconds> pairTimes(const Workload &workload, const std::vector<StageCosts> &stages)
{
    std::vector<Nanoseconds> times;
    for (std::size_t s = 0; s < stages.size(); ++s)
        addPairTimes(times, workload, stages[s], int(s));
    return times;
}

Seconds iterationOverhead(const Workload &workload)
{
    double slowest = 0;
    for (const PipelineClass &pipelines : workload.layout.classes)
        for (const StageLocation location : pipelines.locations)
            slowest = std::max(slowest, workload.sustainedRates(location).host);
    return milliseconds(workload.stack.overheadMs() * slowest);
}

void showExchange(Costs &costs, Seconds rest)
{
    for (std::size_t c = 0; c < costs.stages.size(); ++c) {
        for (std::size_t s = 0; s < costs.stages[c].size(); ++s) {
            costs.stages[c][s].exchange += rest;
            costs.iteration.classes[c].syncAndStep[s].gather += toNanoseconds(rest);
        }
    }
}

Expected<Costs> cost(const Workload &workload, const std::stop_token &stop, GraphCache *graphs)
{
    const Plan &plan = *workload.plan;
    if (auto size = checkSize(workload); !size)
        return std::unexpected(size.error());
    if (auto strategy = checkStrategy(workload); !strategy)
        return std::unexpected(strategy.error());
    Costs costs;
    for (std::size_t i = 0; i < plan.cluster.wanLinks.size(); ++i) {
        const WanLink &link = plan.cluster.wanLinks[i];
        const Transport &pair = workload.transports[i];
        costs.wanLinks.push_back({ int(i), {}, 0, pair.connections, pair.rate.value * 8e-9, pair.isMeasured });
        for (int way = 0; way < 2; ++way)
            costs.iteration.linkCapacity.push_back(gbitsPerSecond(link.capacityGbps).value);
    }
    const int devices = workload.degrees.pipeline;
    const ScheduleTraits &schedule = traitsOf(plan);
    const std::vector<SiteExchange> acrossSites = siteExchanges(workload, costs.wanLinks); // of all classes together
    costs.hiddenExchange = hiddenExchange(acrossSites, plan.wan);
    Costers costers(workload);
    IterationLength length(workload);
    for (const PipelineClass &pipelines : workload.layout.classes) {
        const Workload &own = costers.view(pipelines);
        StageCoster &coster = costers.of(own);
        PipelineCosts shape;
        shape.pipelines = pipelines.pipelines;
        shape.cellMember = pipelines.cellMember;
        shape.cellMembers = pipelines.cellMembers;
        std::vector<StageCosts> &stages = costs.stages.emplace_back();
        for (int stage = 0; stage < devices; ++stage) {
            stages.push_back(coster.stage(pipelines, stage));
            addAcrossSites(stages.back(), acrossSites[std::size_t(stage)], plan.wan);
            if (const auto &expert = stages.back().expert; expert && expert->request.group.sites() > 1) {
                if (stages.back().reduce > Seconds {} && acrossSites[std::size_t(stage)].reduce > Seconds {})
                    stages.back().linksBusy = expertsOnWan(own, stages.back(), stage);
                addExpertBytes(own, pipelines, stage, expert->request.tokens, expert->choice.dispatch,
                    exchangedBytes(own, stages.back(), pipelines, stage, Way::Wan), costs.wanLinks);
            }
            for (const ChunkCost &chunk : stages.back().chunks)
                shape.ops.push_back(opTimes(chunk));
            shape.syncAndStep.push_back(syncAndStepTimes(own, stages.back()));
        }
        const ChunkPlacement placement = schedule.placement;
        const int inChain = stagesInChain(placement, devices, int(shape.ops.size()) / devices);
        for (int q = 0; q + 1 < int(shape.ops.size()); ++q) {
            const int from = deviceAt(placement, devices, q), to = deviceAt(placement, devices, q + 1);
            Crossing crossing { 1, 1.0 / workload.degrees.copies };
            if (schedule.isSliced())
                crossing.tokens = double(coster.slices()[std::size_t(q / devices)]) / plan.workload.sequenceLength;
            shape.boundaries.push_back(from == to || (q + 1) % inChain == 0
                    ? BoundaryTimes {}
                    : boundaryTimes(own, pipelines, from, to, coster.site(pipelines, from), costs.wanLinks, crossing));
        }
        if (activationBits(plan).share() < 1)
            chargeCodec(own, pipelines, coster.slices(), shape, stages);
        length.addPipelines(shape, pipelines);
        if (auto checked = length.check(); !checked) // schedules add up times
            return std::unexpected(checked.error());
        ScheduleShape scheduled = shapeOf(own, pipelines);
        ScheduleTimes times = scheduleTimes(shape, placement, workload.stack);
        takeRoom(own, schedule.room, scheduled, times);
        auto program = programOf(own, scheduled, times);
        if (!program)
            return std::unexpected(program.error());
        if (schedule.recomputesApart() && recomputesAnything(plan))
            fuseFreeRecomputation(*program, shape.ops);
        shape.program = std::move(*program);
        if (shardExchange(plan, workload.stack) == ShardExchange::InRuns) {
            coster.addShardRuns(pipelines, shape.program, stages);
            refreshOps(shape, stages);
        }
        if (schedule.pairs)
            shape.pairs = pairTimes(own, stages);
        addStateRows(plan, stages, shape);
        costs.iteration.classes.push_back(std::move(shape));
    }
    addLayerLoop(workload, costers, costs.iteration);
    costs.iteration.turns = plan.wan.turns;
    costs.iteration.optimizerBarrier = workload.stack.gradientNormBarrier;
    costs.iteration.overhead = toNanoseconds(iterationOverhead(workload));
    if (auto checked = checkLength(workload, costs); !checked)
        return std::unexpected(checked.error());
    const auto costerOf = [&](const PipelineClass &of) -> StageCoster & { return costers.of(costers.view(of)); };
    planOffload(workload, costerOf, costs, stop, graphs); // which runs the iteration
    tellExposed(workload, costs);
    countMemory(workload, costs);
    if (auto checked = checkLength(workload, costs); !checked)
        return std::unexpected(checked.error());
    return costs;
}

} // namespace trainyard

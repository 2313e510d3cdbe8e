// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/wan/wan_traffic.h"
#include "core/iteration/iteration_costs/iteration_costs.h"
#include "core/planner/score/memory_parts.h"
#include "core/planner/score/parts.h"

#include <algorithm>
#include <map>
#include <vector>

namespace trainyard {

namespace {

/// How much shorter than one after the other a forward and a backward at once may be.
double sharePaired(const std::vector<Nanoseconds> &pairs, const std::vector<OpTimes> &ops, int chunks)
{
    double least = 1;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const OpTimes &forward = ops[i / std::size_t(chunks)],
                      &backward = ops[i / std::size_t(chunks * chunks) * std::size_t(chunks) + i % std::size_t(chunks)];
        const double alone = double(forward.forward + backward.backward - backward.recompute);
        if (alone > 0)
            least = std::min(least, double(pairs[i]) / alone);
    }
    return least;
}

class ChainOf {
public:
    ChainOf(const Workload &workload, const OrderPart &order)
        : m_schedule(*order.schedule)
    {
        m_chain.devices = workload.degrees.pipeline;
        m_chain.chunks = workload.degrees.programChunks();
        m_chain.copies = workload.degrees.copies;
        m_chain.placement = m_schedule.placement;
        m_chain.forwardsFirst = m_schedule.forwardsFirst;
        m_chain.recomputesLast = recomputesLast(workload);
        m_chain.forwardsBefore = order.forwardsBefore;
        m_chain.kindOf = order.kindOf;
        m_chain.stages.resize(std::size_t(m_chain.devices * m_chain.chunks));
        m_chain.there.resize(m_chain.stages.size());
        m_chain.back = m_chain.there;
    }

    /// `ops`: [device * chunks + chunk]; `share`: of their time that is certain.
    void setOps(const std::vector<OpTimes> &ops, double share)
    {
        const bool isFixed = !m_schedule.decidesAtRunTime();
        for (int d = 0; d < m_chain.devices; ++d)
            for (int c = 0; c < m_chain.chunks; ++c) {
                const OpTimes &op = ops[std::size_t(d * m_chain.chunks + c)];
                ChainStage &stage = m_chain.stages[slot(d, c)];
                stage.forward = share * double(op.forward);
                stage.recompute = isFixed ? double(op.recompute) : 0;
                const double own = double(op.inputGrad - op.recompute), weight = double(op.weightGrad);
                stage.gradient = share * (m_schedule.splitsBackward ? own : own + weight);
                stage.weightGradient = m_schedule.splitsBackward ? share * weight : 0;
            }
    }
    void setBoundaries(const Workload &workload, StageCoster &coster)
    {
        const PipelineClass &pipelines = workload.layout.classes.front();
        std::vector<WanLinkUse> links;
        std::map<Reach, std::size_t> inside; // boundaries of stages that lie where the first one does, which are alike
        const int inChain = stagesInChain(m_chain.placement, m_chain.devices, m_chain.chunks);
        for (int q = 0; q + 1 < int(m_chain.stages.size()); ++q) {
            const int from = deviceAt(m_chain.placement, m_chain.devices, q),
                      to = deviceAt(m_chain.placement, m_chain.devices, q + 1);
            if (from == to || (q + 1) % inChain == 0)
                continue;
            const auto at = std::size_t(q), before = at - std::size_t(m_chain.devices);
            if (m_schedule.isLoop() && q >= m_chain.devices) { // the same two devices
                m_chain.there[at] = m_chain.there[before];
                m_chain.back[at] = m_chain.back[before];
                continue;
            }
            const Reach reach = reachBetween(workload, pipelines, from, to);
            const bool isInside = pipelines.locations[std::size_t(from)] == pipelines.locations[std::size_t(to)]
                && pipelines.locations[std::size_t(from)] == pipelines.locations.front();
            if (const auto known = isInside ? inside.find(reach) : inside.end(); known != inside.end()) {
                m_chain.there[at] = m_chain.there[known->second];
                m_chain.back[at] = m_chain.back[known->second];
                continue;
            }
            if (isInside)
                inside.emplace(reach, at);
            const BoundaryTimes times =
                boundaryTimes(workload, pipelines, from, to, coster.site(pipelines, from), links);
            m_chain.there[at] = double(times.serialization[0] + times.latency[0]);
            m_chain.back[at] = double(times.serialization[1] + times.latency[1]);
        }
    }
    [[nodiscard]] const Chain &chain() const { return m_chain; }

private:
    [[nodiscard]] std::size_t slot(int device, int chunk) const
    {
        return std::size_t(virtualStageAt(m_chain.placement, m_chain.devices, device, chunk));
    }

    const ScheduleTraits &m_schedule;
    Chain m_chain;
};

/// One of each kind.
std::vector<StageCosts> kindsOf(const Workload &workload, StageCoster &coster, const OrderPart &order)
{
    std::vector<StageCosts> kinds;
    kinds.reserve(order.firstOfKind.size());
    for (const int stage : order.firstOfKind)
        kinds.push_back(coster.chunksOfStage(workload.layout.classes.front(), stage));
    return kinds;
}

/// [stage * chunks + chunk]
std::vector<OpTimes> opsOf(const std::vector<StageCosts> &kinds, const OrderPart &order)
{
    std::vector<OpTimes> ops;
    ops.reserve(order.kindOf.size() * kinds.front().chunks.size());
    for (std::size_t s = 0; s < order.kindOf.size(); ++s)
        if (s > 0 && order.kindOf[s] == order.kindOf[s - 1])
            for (std::size_t c = 0; c < kinds.front().chunks.size(); ++c)
                ops.push_back(OpTimes(ops[ops.size() - kinds.front().chunks.size()]));
        else
            for (const ChunkCost &chunk : kinds[std::size_t(order.kindOf[s])].chunks)
                ops.push_back(opTimes(chunk));
    return ops;
}

/// With what runs of micro-batches exchange.
void addRuns(const Workload &workload, StageCoster &coster, std::vector<StageCosts> &kinds, const OrderPart &order)
{
    const PipelineClass &pipelines = workload.layout.classes.front();
    const ChunkRuns runs = expectedRuns(*workload.plan, pipelines.microBatches);
    for (std::size_t k = 0; k < kinds.size(); ++k)
        coster.addShardRuns(
            pipelines, order.firstOfKind[k], std::vector<ChunkRuns>(kinds[k].chunks.size(), runs), kinds[k].chunks);
}

/// How much shorter pairs of operations may be than the two of them.
double certainShare(const Workload &workload, const std::vector<StageCosts> &kinds, const OrderPart &order,
    const std::vector<OpTimes> &ops)
{
    if (!order.schedule->pairs)
        return 1;
    std::vector<StageCosts> stages;
    for (const int kind : order.kindOf)
        stages.push_back(kinds[std::size_t(kind)]);
    return sharePaired(pairTimes(workload, stages), ops, workload.degrees.programChunks());
}

/// GPU-seconds that computing one micro-batch takes at least: each copy of the model has its share of them. What may be
/// spared of recomputation is left out.
double computingOf(const Workload &workload, const std::vector<StageCosts> &kinds, const OrderPart &order)
{
    const ScheduleTraits &schedule = *order.schedule;
    const int devices = workload.degrees.pipeline, chunks = workload.degrees.programChunks();
    const int inChain = stagesInChain(schedule.placement, devices, chunks);
    double sum = 0;
    for (int d = 0; d < devices; ++d)
        for (int c = 0; c < chunks; ++c) {
            const ChunkCost &cost = kinds[std::size_t(order.kindOf[std::size_t(d)])].chunks[std::size_t(c)];
            const bool isLast = (virtualStageAt(schedule.placement, devices, d, c) + 1) % inChain == 0;
            const bool remakes = !schedule.decidesAtRunTime() && (!isLast || recomputesLast(workload));
            sum += (cost.computing() + (remakes ? cost.recompute.compute : Seconds {})).value;
        }
    return kOfRounded * sum * workload.degrees.gpusOfStage() / workload.degrees.copies;
}

} // namespace

WorkPart workPart(const Workload &workload, StageCoster &coster, const OrderPart &order)
{
    WorkPart part;
    std::vector<StageCosts> kinds = kindsOf(workload, coster, order);
    part.hiding.reserve(kinds.size());
    part.formHiding.reserve(kinds.size());
    for (const StageCosts &kind : kinds)
        part.hiding.push_back(hidingWork(workload, kind));
    if (shardExchange(*workload.plan, workload.stack) == ShardExchange::InRuns)
        addRuns(workload, coster, kinds, order);
    const std::vector<OpTimes> ops = opsOf(kinds, order);
    ChainOf chain(workload, order);
    chain.setOps(ops, certainShare(workload, kinds, order, ops));
    chain.setBoundaries(workload, coster);
    part.least = LeastTime(chain.chain());
    part.computing = computingOf(workload, kinds, order);

    ClosedFormInput sketched = closedFormInput(workload, workload.layout.classes.front(), coster, false);
    part.form = std::move(sketched.pipeline);
    part.overhead = double(toNanoseconds(iterationOverhead(workload)));
    for (const ClosedFormInput::Kind &kind : sketched.kinds)
        part.formHiding.push_back(hidingWork(workload, kind.costs));
    return part;
}

EndsPart endsPart(const Workload &workload, StageCoster &coster, const OrderPart &order, Reasons &reasons)
{
    EndsPart part;
    if (refusesSharding(*workload.plan, workload.stack))
        part.wrong = reasons.of("the stack does not shard gradients in a pipeline");
    part.exchange = shardExchange(*workload.plan, workload.stack);
    part.zeroStage = workload.degrees.zeroStage;
    for (const int stage : order.firstOfKind) {
        StageCosts &kind = part.kinds.emplace_back(coster.stage(workload.layout.classes.front(), stage));
        kind.chunks = {};
        kind.expert = nullptr;
    }
    return part;
}

TimePart timePart(const WorkPart &work, const OrderPart &order, int microBatches)
{
    TimePart part;
    FormPipeline form = work.form;
    form.microBatches = microBatches;
    part.form = formTime(*order.schedule, form).seconds;
    work.least.ends(microBatches, part.ends);
    return part;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
// Over which GPUs experts are spread, how tokens travel to them, and what runs beside that. Of models with experts
// alone; what a plan leaves nothing to choose about says so.
#include "core/base/words.h"
#include "core/engine/schedule/traits.h"
#include "core/evaluation/advice/alternatives_internal.h"
#include "core/iteration/placement/degrees.h"

#include <climits>
#include <tuple>

namespace trainyard::detail {

namespace {

const char *const kNothingTravels = "experts are not spread over GPUs: no token travels";

/// What is on may always go off.
void offerOn(Alternatives &out, const Plan &plan, const KeyRow &row, const std::string &blocked)
{
    Choices choices = choicesOf(row, plan);
    choices.back().blocked = blocked;
    addChoices(out, plan, row, choices);
}

int smallestNode(const Cluster &cluster)
{
    int gpus = INT_MAX;
    for (const Datacenter &datacenter : cluster.datacenters)
        for (const Pool &pool : datacenter.pools)
            if (pool.gpus() > 0)
                gpus = std::min(gpus, pool.gpusPerNode);
    return gpus;
}

/// Why the ranks of a stage cannot be dealt to groups of so many; empty where they can, or where placement alone knows
/// how many there are.
std::string whyNoGroups(const Plan &plan, const Degrees &now, int expert, int expertTensor)
{
    const int needed = expert * expertTensor, there = plan.cluster.gpus() / std::max(1, now.pipeline);
    if (needed > there)
        return "with " + counted(expert, "rank") + " of experts a stage would need " + std::to_string(needed)
            + " GPUs, there are " + std::to_string(there);
    const int ranks = now.data ? now.gpusOfStage() * *now.data : 0;
    return ranks % needed == 0
        ? ""
        : "groups of " + std::to_string(needed) + " do not divide the " + std::to_string(ranks) + " ranks of a stage";
}

void addDegrees(Alternatives &out, const Plan &plan, const ModelSpec &model)
{
    const KeyRow &ranks = rowOf(&Parallelism::expert), &slices = rowOf(&Parallelism::expertTensor);
    const Degrees now = degreesOf(plan);
    std::set<int> values = powersOfTwo(model.experts);
    values.insert(now.expert);
    Choices choices = choicesOf(ranks, values);
    for (Choice<KeyValue> &c : choices)
        c.blocked = model.experts % int(*c.value) != 0
            ? std::to_string(model.experts) + " experts do not divide by " + c.key
            : whyNoGroups(plan, now, int(*c.value), now.expertTensor);
    addChoices(out, plan, ranks, choices, now.expert);

    values = powersOfTwo(std::max(8, now.tensor));
    values.insert(now.expertTensor);
    choices = choicesOf(slices, values);
    for (Choice<KeyValue> &c : choices)
        c.blocked = model.expertFfn % int(*c.value) != 0
            ? "experts are " + std::to_string(model.expertFfn) + " wide, which does not divide by " + c.key
            : whyNoGroups(plan, now, now.expert, int(*c.value));
    addChoices(out, plan, slices, choices, now.expertTensor);
}

/// Why no rank of a tensor group sends what another sends as well; empty where they do.
std::string nothingTwice(const Degrees &now)
{
    if (now.tensor == 1)
        return "tensor parallelism is 1: no two ranks hold the same tokens";
    return now.isSequenceParallel
        ? "sequence parallelism already splits the tokens over the tensor group: there is nothing to gain"
        : "";
}

void addDispatch(Alternatives &out, const Plan &plan, const ModelSpec &model)
{
    const Degrees now = degreesOf(plan);
    const KeyRow &row = rowOf(&MoeStrategy::dispatch);
    Choices choices = choicesOf(row, plan, now.expertRanks() > 1 ? "" : kNothingTravels);
    const auto block = [&](MoeDispatch dispatch, const std::string &why) {
        Choice<KeyValue> &choice = choices[std::size_t(dispatch)];
        if (choice.blocked.empty())
            choice.blocked = why;
    };
    const int node = smallestNode(plan.cluster);
    if (model.expertsPerToken == 1) {
        block(MoeDispatch::RankDedup, "a token visits one expert: no copy is sent twice");
        block(MoeDispatch::Dedup, "a token visits one expert: no copy is sent twice");
    } else if (model.experts <= now.expert) {
        block(MoeDispatch::RankDedup, "each rank holds one expert: no copy is sent to it twice");
    }
    if (now.expertRanks() <= node)
        block(MoeDispatch::Hierarchical, "the experts' ranks share a node: there is nothing between nodes to gather");
    else if (now.expertTensor >= node)
        block(MoeDispatch::Hierarchical, "a node holds one rank of the experts' group: there is nothing to gather");
    for (const MoeDispatch sliced : { MoeDispatch::TensorSliced, MoeDispatch::TrafficAware })
        block(sliced, nothingTwice(now));
    addChoices(out, plan, row, choices);
}

/// Both ways, forward, backward; the last two are a plan's own and go where both ways get a number.
using Pieces = std::tuple<Auto<int>, Auto<int>, Auto<int>>;

void addPieces(Alternatives &out, const Plan &plan)
{
    const KeyRow &row = rowOf(&MoeStrategy::overlapChunks);
    const MoeStrategy &moe = plan.moe;
    const Pieces now { moe.overlapChunks, moe.forwardChunks, moe.backwardChunks };
    const std::string blocked = degreesOf(plan).expertRanks() > 1 ? "" : kNothingTravels;
    std::vector<Choice<Pieces>> choices;
    for (const Choice<KeyValue> &c : choicesOf(row, plan, blocked))
        choices.push_back({ { Auto<int>(c.value), {}, {} }, c.key, c.label, blocked });
    if (moe.forwardChunks || moe.backwardChunks) {
        const std::string forward = row.fileText(moe.chunks(true)), backward = row.fileText(moe.chunks(false));
        choices.push_back({ now, forward + "+" + backward, forward + " forward, " + backward + " backward", {} });
    }
    addGroup(out, plan, row, choices, now, [](Plan &p, const Pieces &pieces) {
        std::tie(p.moe.overlapChunks, p.moe.forwardChunks, p.moe.backwardChunks) = pieces;
    });
    if (moe.dispatch == MoeDispatch::TrafficAware || moe.dispatch == MoeDispatch::TensorSliced)
        offerOn(out, plan, rowOf(&MoeStrategy::pipelineBackward),
            blocked.empty() ? nothingTwice(degreesOf(plan)) : blocked);
}

/// Why no backward runs beside a forward layer by layer; empty where it can.
std::string whyNoOverlap(const Plan &plan)
{
    const ScheduleTraits &schedule = traitsOf(plan.schedule);
    const Degrees now = degreesOf(plan);
    if (now.expertRanks() <= 1)
        return kNothingTravels;
    if (plan.heterogeneity.isLayered())
        return "layers go one by one through all micro-batches";
    if (schedule.pairs)
        return std::string(schedule.label) + " runs forwards with backwards already";
    if (!schedule.isLoop() || schedule.forwardsFirst || schedule.splitsBackward || schedule.decidesAtRunTime())
        return std::string(schedule.label) + " has no one forward and one backward in turn";
    if (now.pipeline > 1 && now.chunks < 2)
        return "a pipeline needs virtual stages for it";
    if (plan.memory.recompute == Recompute::Full)
        return "full recomputation sends the tokens again";
    return plan.moe.sharedExpertOverlap ? "shared experts run beside the exchange already" : "";
}

void addOverlaps(Alternatives &out, const Plan &plan, const ModelSpec &model)
{
    if (model.sharedExpertFfn > 0)
        offerOn(out, plan, rowOf(&MoeStrategy::sharedExpertOverlap),
            degreesOf(plan).expertRanks() <= 1 ? kNothingTravels
                : plan.moe.expertOverlap != ExpertOverlap::None
                ? "tokens travel under another micro-batch, not under the shared experts"
                : "");
    const KeyRow &row = rowOf(&MoeStrategy::expertOverlap);
    Choices choices = choicesOf(row, plan);
    choices[std::size_t(ExpertOverlap::OneFOneB)].blocked = whyNoOverlap(plan);
    addChoices(out, plan, row, choices);
}

/// Without a factor a plan that drops has room for the mean.
void addRoom(Alternatives &out, const Plan &plan)
{
    const KeyRow &row = rowOf(&MoeStrategy::capacityFactor);
    const KeyValue now = plan.moe.capacity();
    Plan with = plan;
    with.moe.capacityFactor = now;
    addChoices(out, plan, row, choicesOf(row, with), now, [](Plan &p, KeyValue room) { p.moe.dropless = !room; });
}

} // namespace

void addExperts(Alternatives &out, const Plan &plan, const ModelSpec *model)
{
    if (!model || !model->isMoe())
        return;
    addDegrees(out, plan, *model);
    addDispatch(out, plan, *model);
    addPieces(out, plan);
    addOverlaps(out, plan, *model);
    addRoom(out, plan);
    offer(out, plan, rowOf(&MoeStrategy::baseline));
}

} // namespace trainyard::detail

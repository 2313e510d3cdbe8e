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

std::vector<Choice<bool>> offOrMaybeOn(const std::string &blocked)
{
    return { { false, "false", "off", {} }, { true, "true", "on", blocked } };
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
    const Degrees now = degreesOf(plan);
    std::set<int> values = powersOfTwo(model.experts);
    values.insert(now.expert);
    std::vector<Choice<int>> experts = numbers(values);
    for (Choice<int> &c : experts)
        c.blocked = model.experts % c.value != 0 ? std::to_string(model.experts) + " experts do not divide by " + c.key
                                                 : whyNoGroups(plan, now, c.value, now.expertTensor);
    addGroup(
        out, plan, "expert", "Expert parallel", experts, now.expert, [](Plan &p, int e) { p.parallelism.expert = e; });

    values = powersOfTwo(std::max(8, now.tensor));
    values.insert(now.expertTensor);
    std::vector<Choice<int>> tensors = numbers(values);
    for (Choice<int> &c : tensors) {
        if (model.expertFfn % c.value != 0)
            c.blocked = "experts are " + std::to_string(model.expertFfn) + " wide, which does not divide by " + c.key;
        else
            c.blocked = whyNoGroups(plan, now, now.expert, c.value);
    }
    addGroup(out, plan, "expert_tensor", "Tensor parallel in experts", tensors, now.expertTensor,
        [](Plan &p, int t) { p.parallelism.expertTensor = t; });
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
    std::vector<Choice<MoeDispatch>> choices = choicesOf<MoeDispatch>(now.expertRanks() > 1 ? "" : kNothingTravels);
    const auto block = [&](MoeDispatch dispatch, const std::string &why) {
        Choice<MoeDispatch> &choice = choices[std::size_t(dispatch)];
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
    addGroup(out, plan, "dispatch", "Expert dispatch", choices, plan.moe.dispatch,
        [](Plan &p, MoeDispatch d) { p.moe.dispatch = d; });
}

/// Both ways, forward, backward; the last two are a plan's own and go where both ways get a number.
using Pieces = std::tuple<Auto<int>, Auto<int>, Auto<int>>;

std::string pieceText(const Auto<int> &pieces)
{
    return pieces ? std::to_string(*pieces) : "auto";
}

void addPieces(Alternatives &out, const Plan &plan)
{
    const MoeStrategy &moe = plan.moe;
    const Pieces now { moe.overlapChunks, moe.forwardChunks, moe.backwardChunks };
    const std::string blocked = degreesOf(plan).expertRanks() > 1 ? "" : kNothingTravels;
    std::set<int> values { 1, 2, 4, 8 };
    if (moe.overlapChunks)
        values.insert(*moe.overlapChunks);
    std::vector<Choice<Pieces>> choices { { { {}, {}, {} }, "auto", "auto", blocked } };
    for (const Choice<int> &value : numbers(values))
        choices.push_back({ { value.value, {}, {} }, value.key, value.label, blocked });
    if (moe.forwardChunks || moe.backwardChunks) {
        const std::string forward = pieceText(moe.chunks(true)), backward = pieceText(moe.chunks(false));
        choices.push_back({ now, forward + "+" + backward, forward + " forward, " + backward + " backward", {} });
    }
    addGroup(out, plan, "overlap_chunks", "Dispatch pieces", choices, now, [](Plan &p, const Pieces &pieces) {
        std::tie(p.moe.overlapChunks, p.moe.forwardChunks, p.moe.backwardChunks) = pieces;
    });
    if (moe.dispatch == MoeDispatch::TrafficAware || moe.dispatch == MoeDispatch::TensorSliced)
        addGroup(out, plan, "pipeline_backward", "Overlapped backward pieces",
            offOrMaybeOn(blocked.empty() ? nothingTwice(degreesOf(plan)) : blocked), moe.pipelineBackward,
            [](Plan &p, bool on) { p.moe.pipelineBackward = on; });
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
    const MoeStrategy &moe = plan.moe;
    if (model.sharedExpertFfn > 0) {
        const std::string blocked = degreesOf(plan).expertRanks() <= 1 ? kNothingTravels
            : moe.expertOverlap != ExpertOverlap::None
            ? "tokens travel under another micro-batch, not under the shared experts"
            : "";
        addGroup(out, plan, "shared_expert_overlap", "Shared experts beside", offOrMaybeOn(blocked),
            moe.sharedExpertOverlap, [](Plan &p, bool on) { p.moe.sharedExpertOverlap = on; });
    }
    std::vector<Choice<ExpertOverlap>> choices = choicesOf<ExpertOverlap>();
    choices[std::size_t(ExpertOverlap::OneFOneB)].blocked = whyNoOverlap(plan);
    addGroup(out, plan, "expert_overlap", "Expert overlap", choices, moe.expertOverlap,
        [](Plan &p, ExpertOverlap o) { p.moe.expertOverlap = o; });
}

void addRoom(Alternatives &out, const Plan &plan)
{
    const std::optional<double> now = plan.moe.capacity();
    std::set<double> values { 1, 1.25, 1.5, 2 };
    if (now)
        values.insert(*now);
    std::vector<Choice<std::optional<double>>> choices { { std::nullopt, "dropless", "dropless", {} } };
    for (const double value : values)
        choices.push_back({ value, plainNumber(value), plainNumber(value) + " × mean", {} });
    addGroup(out, plan, "capacity_factor", "Room of an expert", choices, now, [](Plan &p, std::optional<double> room) {
        p.moe.dropless = !room;
        p.moe.capacityFactor = room;
    });
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
    addGroup(out, plan, "moe_baseline", "Ordering of tokens", choicesOf<MoeBaseline>(), plan.moe.baseline,
        [](Plan &p, MoeBaseline b) { p.moe.baseline = b; });
}

} // namespace trainyard::detail

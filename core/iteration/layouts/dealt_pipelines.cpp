// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/layouts/dealt_pipelines.h"

#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/cost/wan/wan_traffic.h"
#include "core/iteration/layouts/dealt_groups_internal.h"
#include "core/iteration/placement/ranks.h"

#include <algorithm>

namespace trainyard {

namespace {

/// A group while it is dealt to: `more` of its pipelines have `step` micro-batches more than the others, one of the
/// others has `odd` more.
struct Filling {
    const EqualPipelines *group;
    int microBatches = 0, more = 0, odd = 0;

    [[nodiscard]] std::int64_t stepSamples() const { return std::int64_t(group->step) * group->samples; }
    [[nodiscard]] bool isFull() const { return microBatches > group->most - group->step; }
    [[nodiscard]] double nextEnd() const { return group->fill + (microBatches + group->step) * group->each; }

    void give(int pipelines)
    {
        more += pipelines;
        if (more == group->pipelines) {
            microBatches += group->step;
            more = 0;
        }
    }
    [[nodiscard]] std::vector<DealtRun> runs() const
    {
        std::vector<DealtRun> runs;
        const auto add = [&](int pipelines, int count) {
            if (pipelines > 0)
                runs.push_back({ pipelines, count });
        };
        add(more, microBatches + group->step);
        add(odd > 0 ? 1 : 0, microBatches + odd);
        add(group->pipelines - more - (odd > 0 ? 1 : 0), microBatches);
        return runs;
    }
};

/// The group that would end first with the next micro-batch, of those that have room for it.
Filling *firstToEnd(std::vector<Filling> &all, std::int64_t left)
{
    Filling *first = nullptr;
    for (Filling &filling : all)
        if (!filling.isFull() && filling.stepSamples() <= left && (!first || filling.nextEnd() < first->nextEnd()))
            first = &filling;
    return first;
}

/// To a group whose steps have so many samples.
void giveRest(std::vector<Filling> &all, std::int64_t left, std::int64_t stepSamples)
{
    Filling *first = nullptr;
    double soonest = 0;
    for (Filling &filling : all) {
        if (filling.stepSamples() != stepSamples)
            continue;
        const auto odd = int((left + filling.group->samples - 1) / filling.group->samples);
        const double end = filling.group->fill + (filling.microBatches + odd) * filling.group->each;
        if (first && end >= soonest)
            continue;
        if (first)
            first->odd = 0;
        first = &filling;
        first->odd = odd;
        soonest = end;
    }
}

} // namespace

std::vector<std::vector<DealtRun>> dealMicroBatches(const std::vector<EqualPipelines> &groups, std::int64_t samples)
{
    std::vector<Filling> all;
    std::int64_t left = samples;
    for (const EqualPipelines &group : groups) {
        all.push_back({ &group, group.least });
        left -= std::int64_t(group.pipelines) * group.least * group.samples;
    }
    // The last micro-batch of all may not be full; the least of everybody has to be there.
    const auto smallest = std::ranges::min_element(all, {}, &Filling::stepSamples);
    if (all.empty() || left <= -std::int64_t(smallest->group->samples))
        return {};
    while (left > 0) {
        Filling *next = firstToEnd(all, left);
        if (!next)
            break;
        const auto many = std::min<std::int64_t>(next->group->pipelines - next->more, left / next->stepSamples());
        next->give(int(many));
        left -= many * next->stepSamples();
    }
    if (left > 0) // less than a step of the smallest: to whoever of those ends first with it
        giveRest(all, left, smallest->stepSamples());
    std::vector<std::vector<DealtRun>> dealt;
    for (const Filling &filling : all)
        dealt.push_back(filling.runs());
    return dealt;
}

PipelinePace paceOf(const Workload &view, const PipelineClass &pipelines, StageCoster &coster)
{
    std::vector<WanLinkUse> ignored(view.plan->cluster.wanLinks.size());
    PipelinePace pace;
    const int stages = view.degrees.pipeline;
    double time = 0; // of a micro-batch on a stage
    for (int stage = 0; stage < stages; ++stage) {
        if (!isLikeStageBefore(view, stage)) {
            time = 0;
            for (const ChunkCost &chunk : coster.wholeStage(pipelines, stage).chunks)
                time += (chunk.forward + chunk.recompute + chunk.inputGrad + chunk.weightGrad).total().value;
        }
        pace.fill += time;
        if (time > pace.each) {
            pace.each = time;
            pace.slowestStage = stage;
        }
    }
    for (int stage = 0; stage + 1 < stages; ++stage) {
        const BoundaryTimes hop =
            boundaryTimes(view, pipelines, stage, stage + 1, coster.site(pipelines, stage), ignored);
        for (int way = 0; way < 2; ++way) {
            pace.fill += toSeconds(hop.serialization[std::size_t(way)] + hop.latency[std::size_t(way)]).value;
            if (hop.isWan)
                pace.each = std::max(pace.each, toSeconds(hop.serialization[std::size_t(way)]).value);
        }
    }
    pace.fill -= pace.each;
    return pace;
}

void dealPipelines(Workload &workload, const OwnSizes &sizes)
{
    const Heterogeneity &h = workload.plan->heterogeneity;
    if (h.compute == ComputeSharing::Even && h.assign.empty())
        return;
    Layout &layout = workload.layout;
    const std::vector<ReplicaRun> runs = runsToDeal(workload);
    layout.shares.why = unansweredPin(workload, runs);
    if (!layout.shares.why.empty())
        return;
    std::vector<PipelineGroup> groups = groupsOf(workload, runs);
    for (std::size_t g = 0; g < std::min(groups.size(), sizes.size()); ++g)
        groups[g].microBatch = sizes[g];
    GroupPaces paces(workload);
    GroupDeal deal(workload, std::move(groups), paces);
    layout.shares.why = deal.run();
    if (layout.shares.why.empty())
        layout.classes = deal.classes();
}

} // namespace trainyard

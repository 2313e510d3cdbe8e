// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/layouts/cells_internal.h"

#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/cost/wan/wan_traffic.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace trainyard {

namespace {

bool crosses(const PipelineClass &pipelines, std::size_t stage)
{
    return pipelines.locations[stage].datacenter != pipelines.locations[stage + 1].datacenter;
}

bool crossesWan(const Layout &layout)
{
    return std::ranges::any_of(layout.classes, [](const PipelineClass &c) {
        for (std::size_t stage = 0; stage + 1 < c.locations.size(); ++stage)
            if (crosses(c, stage))
                return true;
        return false;
    });
}

/// Of one class: C, or 0.
double ratioOf(const Workload &workload, const PipelineClass &pipelines, StageCoster &coster)
{
    std::vector<WanLinkUse> ignored(workload.plan->cluster.wanLinks.size());
    double slowestHop = 0, slowestForward = 0;
    for (std::size_t stage = 0; stage < pipelines.locations.size(); ++stage) {
        slowestForward =
            std::max(slowestForward, coster.wholeStage(pipelines, int(stage)).chunks.front().forward.total().value);
        if (stage + 1 < pipelines.locations.size() && crosses(pipelines, stage)) {
            const BoundaryTimes boundary = boundaryTimes(
                workload, pipelines, int(stage), int(stage) + 1, coster.site(pipelines, int(stage)), ignored);
            slowestHop = std::max(
                { slowestHop, toSeconds(boundary.serialization[0]).value, toSeconds(boundary.serialization[1]).value });
        }
    }
    return slowestForward > 0 ? slowestHop / slowestForward : 0;
}

/// Nodes that `count` pipelines like these have at a boundary, at least: no more of them can be on different ones.
int nodesAtCrossings(const Workload &workload, const PipelineClass &pipelines, int count)
{
    int nodes = count;
    for (std::size_t stage = 0; stage + 1 < pipelines.locations.size(); ++stage)
        for (const StageLocation location : { pipelines.locations[stage], pipelines.locations[stage + 1] })
            if (crosses(pipelines, stage))
                nodes = std::min(nodes, std::max(1, count / pipelinesPerNode(workload, location)));
    return nodes;
}

/// Pipelines that sit alike and may differ in their micro-batches: classes [first, last) of the layout.
struct Alike {
    std::vector<const PipelineClass *> classes;
    int pipelines = 0;
    /// The class of the i-th of them, and the pipeline's number.
    [[nodiscard]] std::pair<const PipelineClass *, int> at(int i) const
    {
        for (const PipelineClass *c : classes) {
            if (i < c->pipelines)
                return { c, c->firstPipeline + i };
            i -= c->pipelines;
        }
        return { classes.back(), classes.back()->firstPipeline };
    }
};

std::vector<Alike> groupAlike(const std::vector<PipelineClass> &classes)
{
    std::vector<Alike> groups;
    for (const PipelineClass &c : classes) {
        auto group =
            std::ranges::find_if(groups, [&](const Alike &g) { return g.classes.front()->locations == c.locations; });
        if (group == groups.end())
            group = groups.insert(groups.end(), Alike {});
        group->classes.push_back(&c);
        group->pipelines += c.pipelines;
    }
    return groups;
}

/// Deals pipelines to cells of at most `size`, as equal as they can be: pipeline i to cell i mod cells, so that those
/// with a micro-batch more are spread, and members of a cell lie as far from each other as they can. Cells that come
/// out alike share their members.
void addMembers(std::vector<PipelineClass> &memberClasses, const Alike &of, int size)
{
    const int cells = (of.pipelines + size - 1) / size;
    std::set<int> cuts { 0, of.pipelines % cells }; // cells before and after these differ
    int classEnd = 0;
    for (const PipelineClass *c : of.classes)
        cuts.insert((classEnd += c->pipelines) % cells);
    for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
        const int next = std::next(cut) == cuts.end() ? cells : *std::next(cut);
        const int members = (of.pipelines - *cut + cells - 1) / cells;
        for (int k = 0; k < members; ++k) {
            const auto [like, number] = of.at(*cut + k * cells);
            PipelineClass &member = memberClasses.emplace_back(*like);
            member.firstPipeline = number;
            member.pipelines = next - *cut;
            member.cellMember = k;
            member.cellMembers = members;
        }
    }
}

/// C = s / tf: what one pipeline's share of a node pair takes for a micro-batch's activations, over a forward; of the
/// slowest boundary between datacenters and the slowest stage. 0 where nothing crosses.
double wanToForwardRatio(const Workload &workload)
{
    StageCoster coster(workload);
    double ratio = 0;
    for (const PipelineClass &pipelines : workload.layout.classes)
        ratio = std::max(ratio, ratioOf(workload, pipelines, coster));
    return ratio;
}

} // namespace

void formCells(Workload &workload, std::optional<int> size)
{
    const WanStrategy &wan = workload.plan->wan;
    if (wan.sharing != WanSharing::Temporal || workload.layout.data == 0)
        return;
    CellSize cell;
    cell.ratio = wanToForwardRatio(workload);
    if (!crossesWan(workload.layout))
        return;
    cell.asked = wan.cell.has_value();
    const int byRatio = int(std::clamp(std::round(cell.ratio), 1.0, double(workload.layout.data)));
    cell.wanted = wan.cell.value_or(size.value_or(byRatio));
    std::vector<PipelineClass> memberClasses;
    for (const Alike &alike : groupAlike(workload.layout.classes)) {
        const int nodes = nodesAtCrossings(workload, *alike.classes.front(), alike.pipelines);
        addMembers(memberClasses, alike, std::clamp(nodes, 1, std::min(cell.wanted, alike.pipelines)));
        cell.nodes = std::max(cell.nodes, nodes);
    }
    for (const PipelineClass &member : memberClasses) {
        cell.reached = std::max(cell.reached, member.cellMembers);
        cell.smallest = cell.smallest == 0 ? member.cellMembers : std::min(cell.smallest, member.cellMembers);
    }
    workload.layout.classes = std::move(memberClasses);
    workload.layout.cell = cell;
}

} // namespace trainyard

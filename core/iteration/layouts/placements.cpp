// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/layouts/placements.h"

#include "core/engine/schedule/traits.h"
#include "core/iteration/cost/wan/wan_reduce.h"
#include "core/iteration/layouts/cells.h"
#include "core/iteration/layouts/layers_by_speed.h"
#include "core/iteration/layouts/search_times.h"
#include "core/iteration/layouts/shares.h"
#include "core/iteration/placement/location_book.h"
#include "core/iteration/placement/place.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

/// Fewer replicas leave more room for stages, so that what can be held is found by halving.
int mostThatHold(const Workload &workload, int most)
{
    int holds = 0;
    while (holds < most) {
        const int middle = holds + (most - holds + 1) / 2;
        if (canHoldAll(searchRoom(workload, middle)))
            holds = middle;
        else
            most = middle - 1;
    }
    return holds;
}

void addPipelinesAcross(Placements &out, const Workload &workload, int most)
{
    const Plan &plan = *workload.plan;
    const auto addOne = [&](Layout layout) {
        if (layout.data > 0)
            out.found.push_back({ std::move(layout), 0, true });
        else
            out.unplaced = std::move(layout);
    };
    if (!plan.placement.stages.empty())
        return addOne(placePinned(workload));
    int data = workload.degrees.data.value_or(mostReplicas(workload));
    SearchTimes room = searchRoom(workload, std::max(1, data));
    if (data > 0 && !canHoldAll(room)) {
        data = workload.degrees.data ? 0 : mostThatHold(workload, data - 1);
        room = searchRoom(workload, std::max(1, data));
    }
    if (data == 0)
        return addOne(placeNothing(workload, std::max(1, workload.degrees.data.value_or(1))));
    const auto isOpen = [](int stages) { return stages > 0; };
    if (std::ranges::count_if(room.holds, isOpen) == 1) {
        const auto only = std::ranges::find_if(room.holds, isOpen);
        return addOne(placeBlocks(workload, { { int(only - room.holds.begin()), room.stages } }, data));
    }
    const SearchTimes times = searchTimes(workload, data);
    FoundBlocks found = searchBlocks(times, { .most = most });
    if (found.blocks.empty())
        found = searchBlocks(times, { .sizes = BlockSizes::Any, .most = most });
    for (BoundedBlocks &candidate : found.blocks)
        out.found.push_back({ placeBlocks(workload, candidate.blocks, data), candidate.seconds, candidate.mayFit });
}

/// One pipeline in each datacenter that holds any, by the slowest of them.
void addWholePipelines(Placements &out, const Workload &workload, int most)
{
    std::vector<Layout> layouts = placeWholePipelines(workload, most);
    if (layouts.front().data == 0) {
        if (out.found.empty() && out.unplaced.unplaced.empty())
            out.unplaced = std::move(layouts.front());
        return;
    }
    SearchTimes times;
    if (layouts.size() > 1 || !out.found.empty())
        times = searchTimes(workload, 1);
    for (Layout &layout : layouts) {
        double bound = 0;
        times.microBatches = times.fewest = totalMicroBatches(*workload.plan) / layout.data;
        for (const PipelineClass &c : layout.classes)
            if (!times.sites.empty())
                bound =
                    std::max(bound, boundBlocks(times, { { c.locations.front().datacenter, times.stages } }).seconds);
        out.found.push_back({ std::move(layout), bound, true });
    }
}

/// What replicas in different datacenters have to exchange in an iteration takes that long at least: whole pipelines',
/// or that of copies of the model whose stages lie apart.
void addExchanges(Placements &placements, const Workload &workload)
{
    Workload scratch = workload;
    for (PlacedLayout &placed : placements.found) {
        if (placed.layout.mode == PlacementMode::PipelineAcross && workload.degrees.copies == 1)
            continue;
        scratch.layout = std::move(placed.layout);
        std::vector<WanLinkUse> links(workload.plan->cluster.wanLinks.size());
        for (const SiteExchange &exchange : siteExchanges(scratch, links))
            placed.bound = std::max(placed.bound, exchange.reduce.value);
        placed.layout = std::move(scratch.layout);
    }
}

Placements placed(const Workload &workload, const std::vector<PlacementMode> &modes, int most)
{
    Placements result;
    for (const PlacementMode mode : modes) {
        if (mode == PlacementMode::PipelineAcross)
            addPipelinesAcross(result, workload, most);
        else
            addWholePipelines(result, workload, most);
    }
    if (result.found.size() > 1)
        addExchanges(result, workload);
    std::ranges::stable_sort(result.found, {}, [](const PlacedLayout &p) { return std::tuple(!p.mayFit, p.bound); });
    return result;
}

} // namespace

Placements undealtPlacements(const Workload &workload, int most)
{
    return placed(workload, candidateModes(*workload.plan), most);
}

void deal(Workload &workload, bool boldly, bool notes)
{
    if (sharesOut(*workload.plan))
        shareOut(workload, boldly, notes);
    formCells(workload);
}

double dealtBound(const Workload &workload)
{
    const bool areLayersWhole = workload.source.hasLayers && !traitsOf(*workload.plan).isSliced();
    constexpr double kRounding = 1 - 1e-6; // operations take whole nanoseconds
    return areLayersWhole ? kRounding * busiestStage(workload) : 0;
}

Placements placements(const Workload &workload, int most)
{
    Placements result = undealtPlacements(workload, most);
    const bool isShared = sharesOut(*workload.plan);
    if (workload.plan->wan.sharing != WanSharing::Temporal && !isShared)
        return result;
    const bool leavesCellOpen = workload.plan->wan.sharing == WanSharing::Temporal && !workload.plan->wan.cell;
    Workload scratch = workload;
    const auto dealOne = [&](PlacedLayout &placement, bool boldly) {
        scratch.layout = std::move(placement.layout);
        if (isShared)
            shareOut(scratch, boldly);
        const auto before = leavesCellOpen ? std::make_shared<const Layout>(scratch.layout) : nullptr;
        formCells(scratch);
        placement.withoutCells = scratch.layout.cell.smallest > 0 ? before : nullptr;
        if (isShared) {
            placement.bound = dealtBound(scratch); // it counted with even shares, as did what fits
            placement.mayFit = true;
        }
        placement.layout = std::move(scratch.layout);
    };
    const bool isTwice = dealsTwice(*workload.plan);
    std::vector<PlacedLayout> cautious;
    for (PlacedLayout &placement : result.found) {
        PlacedLayout other = isTwice ? placement : PlacedLayout {};
        dealOne(placement, true);
        if (!isTwice || (placement.layout.chunks == other.layout.chunks && !workload.plan->heterogeneity.isLayered()))
            continue;
        dealOne(other, false);
        if (placement.layout.chunks != other.layout.chunks || placement.layout.classes != other.layout.classes)
            cautious.push_back(std::move(other));
    }
    std::ranges::stable_sort(cautious, {}, &PlacedLayout::bound);
    result.found.insert(
        result.found.end(), std::make_move_iterator(cautious.begin()), std::make_move_iterator(cautious.end()));
    return result;
}

std::vector<Layout> otherCells(const Workload &workload, const PlacedLayout &placed)
{
    std::vector<Layout> others;
    if (!placed.withoutCells)
        return others;
    const CellSize &now = placed.layout.cell;
    const int most = std::min(now.nodes, placed.layout.data);
    std::set<int> sizes { now.reached - 1, now.reached + 1 };
    for (int size = 1; size <= most; size *= 2)
        sizes.insert(size);
    sizes.erase(now.reached);
    Workload scratch = workload;
    for (const int size : sizes) {
        if (size < 1 || size > most)
            continue;
        scratch.layout = *placed.withoutCells;
        formCells(scratch, size);
        if (scratch.layout.classes != placed.layout.classes)
            others.push_back(scratch.layout);
    }
    return others;
}

Layout place(const Workload &workload, PlacementMode mode)
{
    Placements all = placed(workload, { mode }, 1);
    return all.found.empty() ? std::move(all.unplaced) : std::move(all.found.front().layout);
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/layouts/placements.h"

#include "core/engine/schedule/traits.h"
#include "core/iteration/cost/wan/wan_reduce.h"
#include "core/iteration/layouts/cells_internal.h"
#include "core/iteration/layouts/layers_by_speed.h"
#include "core/iteration/layouts/search_times.h"
#include "core/iteration/layouts/shares.h"
#include "core/iteration/layouts/shares_internal.h"
#include "core/iteration/placement/location_book.h"
#include "core/iteration/placement/place.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

/// Fewer replicas leave more room for stages, so that what can be held is found by halving.
int mostThatHold(const Requested &asked, int most)
{
    int holds = 0;
    while (holds < most) {
        const int middle = holds + (most - holds + 1) / 2;
        if (canHoldAll(searchRoom(asked, middle)))
            holds = middle;
        else
            most = middle - 1;
    }
    return holds;
}

void addPipelinesAcross(Placements &out, const Requested &asked, int most)
{
    const Plan &plan = *asked.plan;
    const auto addOne = [&](Layout layout) {
        if (layout.data > 0)
            out.found.push_back({ std::move(layout), 0, true });
        else
            out.unplaced = std::move(layout);
    };
    if (!plan.placement.stages.empty())
        return addOne(placePinned(asked));
    int data = asked.degrees.data.value_or(mostReplicas(asked));
    SearchTimes room = searchRoom(asked, std::max(1, data));
    if (data > 0 && !canHoldAll(room)) {
        data = asked.degrees.data ? 0 : mostThatHold(asked, data - 1);
        room = searchRoom(asked, std::max(1, data));
    }
    if (data == 0)
        return addOne(placeNothing(asked, std::max(1, asked.degrees.data.value_or(1))));
    const auto isOpen = [](int stages) { return stages > 0; };
    if (std::ranges::count_if(room.holds, isOpen) == 1) {
        const auto only = std::ranges::find_if(room.holds, isOpen);
        return addOne(placeBlocks(asked, { { int(only - room.holds.begin()), room.stages } }, data));
    }
    const SearchTimes times = searchTimes(asked, data);
    FoundBlocks found = searchBlocks(times, { .most = most });
    if (found.blocks.empty())
        found = searchBlocks(times, { .sizes = BlockSizes::Any, .most = most });
    for (BoundedBlocks &candidate : found.blocks)
        out.found.push_back({ placeBlocks(asked, candidate.blocks, data), candidate.seconds, candidate.mayFit });
}

/// One pipeline in each datacenter that holds any, by the slowest of them.
void addWholePipelines(Placements &out, const Requested &asked, int most)
{
    std::vector<Layout> layouts = placeWholePipelines(asked, most);
    if (layouts.front().data == 0) {
        if (out.found.empty() && out.unplaced.unplaced.empty())
            out.unplaced = std::move(layouts.front());
        return;
    }
    SearchTimes times;
    if (layouts.size() > 1 || !out.found.empty())
        times = searchTimes(asked, 1);
    for (Layout &layout : layouts) {
        double bound = 0;
        times.microBatches = times.fewest = totalMicroBatches(*asked.plan) / layout.data;
        for (const PipelineClass &c : layout.classes)
            if (!times.sites.empty())
                bound =
                    std::max(bound, boundBlocks(times, { { c.locations.front().datacenter, times.stages } }).seconds);
        out.found.push_back({ std::move(layout), bound, true });
    }
}

/// What replicas in different datacenters have to exchange in an iteration takes that long at least: whole pipelines',
/// or that of copies of the model whose stages lie apart.
void addExchanges(Placements &placements, const Requested &asked)
{
    WorkloadInTurn trials(asked);
    for (PlacedLayout &placed : placements.found) {
        if (placed.layout.mode == PlacementMode::PipelineAcross && asked.degrees.copies == 1)
            continue;
        std::vector<WanLinkUse> links(asked.plan->cluster.wanLinks.size());
        for (const SiteExchange &exchange : siteExchanges(trials.at(std::move(placed.layout)), links))
            placed.bound = std::max(placed.bound, exchange.reduce.value);
        placed.layout = trials.takeLayout();
    }
}

Placements placed(const Requested &asked, const std::vector<PlacementMode> &modes, int most)
{
    Placements result;
    for (const PlacementMode mode : modes) {
        if (mode == PlacementMode::PipelineAcross)
            addPipelinesAcross(result, asked, most);
        else
            addWholePipelines(result, asked, most);
    }
    if (result.found.size() > 1)
        addExchanges(result, asked);
    std::ranges::stable_sort(result.found, {}, [](const PlacedLayout &p) { return std::tuple(!p.mayFit, p.bound); });
    return result;
}

} // namespace

Placements undealtPlacements(const Requested &asked, int most)
{
    return placed(asked, candidateModes(*asked.plan), most);
}

Workload dealt(Workload undealt, bool boldly, bool notes)
{
    if (sharesOut(*undealt.plan))
        shareOut(undealt, boldly, notes);
    formCells(undealt);
    return undealt;
}

double dealtBound(const Workload &workload)
{
    const bool areLayersWhole = workload.source.hasLayers && !traitsOf(*workload.plan).isSliced();
    constexpr double kRounding = 1 - 1e-6; // operations take whole nanoseconds
    return areLayersWhole ? kRounding * busiestStage(workload) : 0;
}

Placements placements(const Requested &asked, int most)
{
    Placements result = undealtPlacements(asked, most);
    const bool isShared = sharesOut(*asked.plan);
    if (asked.plan->wan.sharing != WanSharing::Temporal && !isShared)
        return result;
    const bool leavesCellOpen = asked.plan->wan.sharing == WanSharing::Temporal && !asked.plan->wan.cell;
    Workload trial(asked, {});
    const auto dealOne = [&](PlacedLayout &placement, bool boldly) {
        trial.layout = std::move(placement.layout);
        if (isShared)
            shareOut(trial, boldly);
        const auto before = leavesCellOpen ? std::make_shared<const Layout>(trial.layout) : nullptr;
        formCells(trial);
        placement.withoutCells = trial.layout.cell.smallest > 0 ? before : nullptr;
        if (isShared) {
            placement.bound = dealtBound(trial); // it counted with even shares, as did what fits
            placement.mayFit = true;
        }
        placement.layout = std::move(trial.layout);
    };
    const bool isTwice = dealsTwice(*asked.plan);
    const bool mayAllLeave = isTwice && asked.plan->heterogeneity.isLayered() && !asked.plan->memory.offloadFraction;
    std::vector<PlacedLayout> cautious, allLeaving;
    for (PlacedLayout &placement : result.found) {
        PlacedLayout other = isTwice ? placement : PlacedLayout {};
        dealOne(placement, true);
        if (!isTwice || (placement.layout.chunks == other.layout.chunks && !asked.plan->heterogeneity.isLayered()))
            continue;
        if (mayAllLeave)
            allLeaving.emplace_back(placement).layout.shares.allLeaves = true;
        dealOne(other, false);
        if (placement.layout.chunks != other.layout.chunks || placement.layout.classes != other.layout.classes)
            cautious.push_back(std::move(other));
    }
    for (std::vector<PlacedLayout> *others : { &allLeaving, &cautious }) {
        std::ranges::stable_sort(*others, {}, &PlacedLayout::bound);
        std::ranges::move(*others, std::back_inserter(result.found));
    }
    return result;
}

std::vector<Layout> otherCells(const Requested &asked, const PlacedLayout &placed)
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
    Workload trial(asked, {});
    for (const int size : sizes) {
        if (size < 1 || size > most)
            continue;
        trial.layout = *placed.withoutCells;
        formCells(trial, size);
        if (trial.layout.classes != placed.layout.classes)
            others.push_back(trial.layout);
    }
    return others;
}

Workload place(Requested asked, PlacementMode mode)
{
    Placements all = placed(asked, { mode }, 1);
    Workload workload(
        std::move(asked), all.found.empty() ? std::move(all.unplaced) : std::move(all.found.front().layout));
    formCells(workload);
    return workload;
}

} // namespace trainyard

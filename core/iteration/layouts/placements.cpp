// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/layouts/placements.h"

#include "core/engine/schedule/traits.h"
#include "core/facts/cluster/alike_pools.h"
#include "core/facts/plan/jobs.h"
#include "core/iteration/cost/wan/wan_reduce.h"
#include "core/iteration/layouts/cells_internal.h"
#include "core/iteration/layouts/layers_by_speed.h"
#include "core/iteration/layouts/search_times.h"
#include "core/iteration/layouts/shares.h"
#include "core/iteration/layouts/shares_internal.h"
#include "core/iteration/placement/as_placed.h"
#include "core/iteration/placement/location_book.h"
#include "core/iteration/placement/place.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

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

bool hasUnlikePools(const Plan &plan)
{
    return std::ranges::any_of(plan.cluster.datacenters, [](const Datacenter &site) {
        return std::ranges::any_of(site.pools, [&](const Pool &pool) { return !areAlike(pool, site.pools.front()); });
    });
}

/// Whether the schedule can do what a pipeline of so many replicas gets.
bool canBeScheduled(const Requested &asked, int data)
{
    const CountRule &rule = traitsOf(*asked.plan).microBatches;
    const int total = totalMicroBatches(*asked.plan), stages = asked.degrees.pipeline;
    return rule.accepts(total / data, stages) && rule.accepts((total + data - 1) / data, stages);
}

/// Numbers of replicas to look at besides: fewer of them where there are very many datacenters to
/// search. The most themselves where pools differ, for the same on other GPUs.
std::vector<int> numbersToTry(const Requested &asked, int most)
{
    constexpr std::size_t kMostSites = 512; // looked at in all
    std::vector<int> numbers = fewerReplicas(asked, most);
    if (!sharesOut(*asked.plan)) // which deals other numbers
        std::erase_if(numbers, [&](int data) { return !canBeScheduled(asked, data); });
    const std::size_t sites = std::max<std::size_t>(1, asked.plan->cluster.datacenters.size()),
                      stride = (numbers.size() * sites + kMostSites - 1) / kMostSites;
    std::vector<int> kept;
    if (hasUnlikePools(*asked.plan))
        kept.push_back(most);
    for (std::size_t i = 0; i < numbers.size(); i += std::max<std::size_t>(1, stride))
        kept.push_back(numbers[i]);
    return kept;
}

/// Any sizes only where none of the usual ones has room.
std::vector<BoundedBlocks> blocksOfLeastBounds(const SearchTimes &times, int most, int visits = SearchLimits {}.visits)
{
    std::vector<BoundedBlocks> blocks = searchBlocks(times, { .most = most, .visits = visits }).blocks;
    return blocks.empty() ? searchBlocks(times, { .sizes = BlockSizes::Any, .most = most, .visits = visits }).blocks
                          : blocks;
}

void addIfNew(std::vector<PlacedLayout> &found, PlacedLayout placed)
{
    const auto isSame = [&](const PlacedLayout &known) {
        return known.layout.mode == placed.layout.mode && known.layout.classes == placed.layout.classes;
    };
    if (std::ranges::none_of(found, isSame))
        found.push_back(std::move(placed));
}

/// How GPUs are taken where the engine chooses: pools that differ in the order of the plan and fastest first. What is
/// placed with the most replicas in the order of the plan is known.
std::vector<OpenPlace> openPlaces(const Plan &plan, bool isMost)
{
    std::vector<OpenPlace> ways;
    if (!isMost)
        ways.push_back({ false, true });
    if (hasUnlikePools(plan))
        ways.push_back({ true, !isMost });
    return ways;
}

/// Pipelines across on other GPUs and with fewer replicas: of each number of them the blocks of the least bounds, or
/// those that are pinned.
void addOthersAcross(Placements &out, const Requested &asked, int data, int most)
{
    const std::vector<int> numbers = numbersToTry(asked, data);
    const int each = std::clamp(most / std::max(1, int(numbers.size())), 2, 8);
    const int visits = 6'000 / std::max(1, int(numbers.size()));
    const bool isPinned = !asked.plan->placement.stages.empty();
    for (const int number : numbers) {
        const SearchTimes times = searchTimes(asked, number);
        const std::vector<BoundedBlocks> blocks = isPinned
            ? std::vector { boundBlocks(times, blocksOf(out.found.front().layout.classes.front())) }
            : blocksOfLeastBounds(times, each, visits);
        for (const BoundedBlocks &candidate : blocks)
            for (const OpenPlace how : openPlaces(*asked.plan, number == data))
                addIfNew(out.found,
                    { placeBlocks(asked, candidate.blocks, number, how), candidate.seconds, candidate.mayFit, true });
    }
}

void addPipelinesAcross(Placements &out, const Requested &asked, OpenReplicas replicas, int most)
{
    const Plan &plan = *asked.plan;
    const auto addOne = [&](Layout layout) {
        if (layout.data == 0) {
            out.unplaced = std::move(layout);
            return;
        }
        const int placed = layout.data;
        out.found.push_back({ std::move(layout), 0, true });
        if (replicas == OpenReplicas::Fastest && isOpen(*asked.plan))
            addOthersAcross(out, asked, placed, most);
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
    const auto holdsAny = [](int stages) { return stages > 0; };
    if (std::ranges::count_if(room.holds, holdsAny) == 1) {
        const auto only = std::ranges::find_if(room.holds, holdsAny);
        return addOne(placeBlocks(asked, { { int(only - room.holds.begin()), room.stages } }, data));
    }
    const SearchTimes times = searchTimes(asked, data);
    for (BoundedBlocks &candidate : blocksOfLeastBounds(times, most))
        out.found.push_back({ placeBlocks(asked, candidate.blocks, data), candidate.seconds, candidate.mayFit });
    if (replicas == OpenReplicas::Fastest && isOpen(*asked.plan) && !out.found.empty())
        addOthersAcross(out, asked, data, most);
}

/// One pipeline in each datacenter that holds any, by the slowest of them.
void addWholePipelines(Placements &out, const Requested &asked, OpenReplicas replicas, int most)
{
    std::vector<Layout> layouts = placeWholePipelines(asked, most);
    if (layouts.front().data == 0) {
        if (out.found.empty() && out.unplaced.unplaced.empty())
            out.unplaced = std::move(layouts.front());
        return;
    }
    const int data = layouts.front().data;
    std::vector<PlacedLayout> placed;
    for (Layout &layout : layouts)
        addIfNew(placed, { std::move(layout), 0, true });
    if (replicas == OpenReplicas::Fastest && isOpen(*asked.plan)) {
        for (const int number : numbersToTry(asked, data))
            for (const OpenPlace how : openPlaces(*asked.plan, number == data))
                for (Layout &layout : placeWholePipelines(asked, std::clamp(most / 8, 1, 4), number, how))
                    if (layout.data > 0)
                        addIfNew(placed, { std::move(layout), 0, true, true });
    }
    SearchTimes times;
    if (placed.size() > 1 || !out.found.empty())
        times = searchTimes(asked, 1);
    for (PlacedLayout &one : placed) {
        Layout &layout = one.layout;
        double bound = 0;
        times.microBatches = times.fewest = totalMicroBatches(*asked.plan) / layout.data;
        for (const PipelineClass &c : layout.classes)
            if (!times.sites.empty())
                bound =
                    std::max(bound, boundBlocks(times, { { c.locations.front().datacenter, times.stages } }).seconds);
        one.bound = bound;
        out.found.push_back(std::move(one));
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

/// The first of each mode first, so that one mode's do not take all that may be simulated.
void takeModesInTurn(std::vector<PlacedLayout> &found)
{
    const auto other = std::ranges::find_if(found, [&](const PlacedLayout &placed) {
        return placed.isFewer == found.front().isFewer && placed.layout.mode != found.front().layout.mode;
    });
    if (other != found.end() && other != found.begin())
        std::rotate(found.begin() + 1, other, other + 1);
}

/// Of those from `first` on, in the order of their bounds, `most`: the best of each number of replicas before others.
void keepBest(std::vector<PlacedLayout> &found, std::ptrdiff_t first, std::ptrdiff_t most)
{
    if (std::ssize(found) - first <= most)
        return;
    std::set<int> numbers;
    std::vector<PlacedLayout> best, others;
    for (auto placed = found.begin() + first; placed != found.end(); ++placed)
        (numbers.insert(placed->layout.data).second ? best : others).push_back(std::move(*placed));
    std::ranges::move(others, std::back_inserter(best));
    best.resize(std::size_t(most));
    std::ranges::stable_sort(best, {}, [](const PlacedLayout &p) { return std::tuple(!p.mayFit, p.bound); });
    found.resize(std::size_t(first));
    std::ranges::move(best, std::back_inserter(found));
}

Placements placed(const Requested &asked, const std::vector<PlacementMode> &modes, OpenReplicas replicas, int most)
{
    Placements result;
    for (const PlacementMode mode : modes) {
        if (mode == PlacementMode::PipelineAcross)
            addPipelinesAcross(result, asked, replicas, most);
        else
            addWholePipelines(result, asked, replicas, most);
    }
    if (result.found.size() > 1)
        addExchanges(result, asked);
    std::ranges::stable_sort(
        result.found, {}, [](const PlacedLayout &p) { return std::tuple(p.isFewer, !p.mayFit, p.bound); });
    if (!result.found.empty())
        takeModesInTurn(result.found);
    const auto fewer = std::ranges::find(result.found, true, &PlacedLayout::isFewer);
    constexpr int kMostDealt = 6; // dealing takes longer than all else here
    const int mostFewer = sharesOut(*asked.plan) ? std::min(most, kMostDealt) : most;
    keepBest(result.found, fewer - result.found.begin(), mostFewer);
    return result;
}

} // namespace

bool isOpen(const Plan &plan)
{
    return !plan.parallelism.data && !hasJobs(plan);
}

Placements undealtPlacements(const Requested &asked, int most)
{
    return placed(asked, candidateModes(*asked.plan), OpenReplicas::Most, most);
}

Workload dealt(Workload undealt, bool boldly, bool notes, std::vector<Layout> *ownSizes)
{
    if (sharesOut(*undealt.plan))
        shareOut(undealt, boldly, notes);
    if (ownSizes) {
        *ownSizes = withOwnSizes(undealt, notes);
        for (Layout &layout : *ownSizes) {
            std::swap(undealt.layout, layout);
            formCells(undealt);
            std::swap(undealt.layout, layout);
        }
    }
    formCells(undealt);
    return undealt;
}

double dealtBound(const Workload &workload)
{
    const bool areLayersWhole = workload.source.hasLayers && !traitsOf(*workload.plan).isSliced();
    constexpr double kRounding = 1 - 1e-6; // operations take whole nanoseconds
    return areLayersWhole ? kRounding * busiestStage(workload) : 0;
}

Placements placements(const Requested &asked, OpenReplicas replicas, int most)
{
    Placements result = placed(asked, candidateModes(*asked.plan), replicas, most);
    const bool isShared = sharesOut(*asked.plan);
    if (asked.plan->wan.sharing != WanSharing::Temporal && !isShared)
        return result;
    constexpr std::size_t kMostOfOwnSizes = 9; // looked for until there are so many
    const bool leavesCellOpen = asked.plan->wan.sharing == WanSharing::Temporal && !asked.plan->wan.cell;
    Workload trial(asked, {});
    std::vector<PlacedLayout> ownSizes;
    const auto finish = [&](PlacedLayout &placement) {
        const auto before = leavesCellOpen ? std::make_shared<const Layout>(trial.layout) : nullptr;
        formCells(trial);
        placement.withoutCells = trial.layout.cell.smallest > 0 ? before : nullptr;
        if (isShared) {
            placement.bound = dealtBound(trial); // it counted with even shares, as did what fits
            placement.mayFit = true;
        }
        placement.layout = std::move(trial.layout);
    };
    const auto dealOne = [&](PlacedLayout &placement, bool boldly) {
        trial.layout = std::move(placement.layout);
        if (isShared)
            shareOut(trial, boldly);
        std::vector<Layout> sized;
        if (isShared && boldly && ownSizes.size() < kMostOfOwnSizes)
            sized = withOwnSizes(trial);
        Layout dealt = trial.layout;
        for (Layout &layout : sized) {
            trial.layout = std::move(layout);
            finish(ownSizes.emplace_back(placement));
            ownSizes.back().variantOf = int(&placement - result.found.data());
        }
        trial.layout = std::move(dealt);
        finish(placement);
    };
    const bool isTwice = dealsTwice(*asked.plan);
    const bool mayAllLeave = isTwice && asked.plan->heterogeneity.isLayered() && !asked.plan->memory.offloadFraction;
    std::vector<PlacedLayout> cautious, allLeaving;
    for (PlacedLayout &placement : result.found) {
        PlacedLayout other = isTwice ? placement : PlacedLayout {};
        other.variantOf = int(&placement - result.found.data());
        dealOne(placement, true);
        if (!isTwice || (placement.layout.chunks == other.layout.chunks && !asked.plan->heterogeneity.isLayered()))
            continue;
        if (mayAllLeave) {
            allLeaving.emplace_back(placement).layout.shares.allLeaves = true;
            allLeaving.back().variantOf = other.variantOf;
        }
        dealOne(other, false);
        if (placement.layout.chunks != other.layout.chunks || placement.layout.classes != other.layout.classes)
            cautious.push_back(std::move(other));
    }
    for (std::vector<PlacedLayout> *others : { &allLeaving, &cautious, &ownSizes }) {
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
    Placements all = placed(asked, { mode }, OpenReplicas::Most, 1);
    Workload workload(
        std::move(asked), all.found.empty() ? std::move(all.unplaced) : std::move(all.found.front().layout));
    formCells(workload);
    return workload;
}

} // namespace trainyard

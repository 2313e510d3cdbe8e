// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/place.h"

#include "core/base/words.h"
#include "core/engine/schedule/traits.h"
#include "core/iteration/placement/location_book.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_map>

namespace trainyard {

namespace {

/// With several chunks per stage, dealt round and round, the last device hands on to the first.
bool handsBack(const Plan &plan)
{
    return traitsOf(plan).isLoop() && degreesOf(plan).chunks > 1;
}

std::vector<DatacenterBlock> pinnedBlocks(const Plan &plan)
{
    std::vector<DatacenterBlock> blocks;
    for (const StagePin &pin : plan.placement.stages)
        blocks.push_back({ plan.cluster.indexOf(pin.datacenter), pin.stages });
    return blocks;
}

/// Replicas that the blocks' datacenters have locations for; a datacenter may hold several blocks.
int mostHeld(const LocationBook &book, const std::vector<DatacenterBlock> &blocks)
{
    int most = std::numeric_limits<int>::max();
    for (const DatacenterBlock &block : blocks) {
        int stages = 0;
        for (const DatacenterBlock &other : blocks)
            stages += other.datacenter == block.datacenter ? other.stages : 0;
        most = std::min(most, block.datacenter < 0 ? 0 : book.capacity(block.datacenter) / stages);
    }
    return most;
}

/// A pinned pipeline crosses only where the pinned neighbours are linked.
std::string missingLink(const Plan &plan, const std::vector<DatacenterBlock> &blocks)
{
    const auto &datacenters = plan.cluster.datacenters;
    for (std::size_t i = handsBack(plan) ? 0 : 1; i < blocks.size(); ++i) {
        const DatacenterBlock &before = blocks[(i + blocks.size() - 1) % blocks.size()];
        const Datacenter &a = datacenters[std::size_t(before.datacenter)],
                         &b = datacenters[std::size_t(blocks[i].datacenter)];
        if (&a != &b && plan.cluster.linkBetween(a.id, b.id) < 0)
            return "no WAN link joins " + a.label() + " and " + b.label();
    }
    return {};
}

std::string tooFewGpus(const Requested &asked, const LocationBook &book, int data)
{
    const Degrees &p = asked.degrees;
    const std::int64_t locations = book.capacity(), usable = book.usableGpus();
    const int groupSize = p.tensor * p.context;
    std::string text = counted(p.pipeline, "stage") + " of " + counted(data * groupSize, "GPU") + " ("
        + counted(data, "replica") + " of " + std::to_string(groupSize) + ") cannot be placed";
    if (locations < p.pipeline * data && usable != locations * groupSize) // degrees differ
        return text + ": they are " + std::to_string(p.pipeline * data) + " replicas of stages, and "
            + std::to_string(usable) + " GPUs, in tensor groups as they are pinned, can serve "
            + std::to_string(locations);
    if (locations < p.pipeline * data)
        return text + ": " + std::to_string(p.pipeline * data * groupSize) + " GPUs are needed, "
            + std::to_string(locations * groupSize) + " can serve in whole tensor groups";
    return text + ": each stage lies in one datacenter, and linked datacenters hold fewer";
}

/// Datacenters that hold whole pipelines and can pass gradients to each other over direct links, each linked to one
/// before it.
std::vector<int> reachable(const SearchTimes &room, int from)
{
    std::vector<int> found { from };
    std::vector<bool> isFound(room.holds.size());
    isFound[std::size_t(from)] = true;
    for (std::size_t i = 0; i < found.size(); ++i)
        for (const HopBound &hop : room.hops[std::size_t(found[i])])
            if (room.holds[std::size_t(hop.to)] >= room.stages && !isFound[std::size_t(hop.to)]) {
                isFound[std::size_t(hop.to)] = true;
                found.push_back(hop.to);
            }
    return found;
}

int pipelinesIn(const SearchTimes &room, const std::vector<int> &sites)
{
    int possible = 0;
    for (const int d : sites)
        possible += room.holds[std::size_t(d)] / room.stages;
    return possible;
}

LocationBook bookFor(const Requested &asked, OpenPlace how)
{
    LocationBook book(asked);
    if (how.fastestFirst)
        book.preferFastest();
    if (how.leavesRoom)
        book.leaveRoom();
    return book;
}

} // namespace

Layout placeBlocks(const Requested &asked, const std::vector<DatacenterBlock> &blocks, int data, OpenPlace how)
{
    LocationBook book = bookFor(asked, how);
    int stage = 0;
    for (const DatacenterBlock &block : blocks) {
        book.place(block.datacenter, stage, block.stages, 0, data);
        stage += block.stages;
    }
    return book.finish(PlacementMode::PipelineAcross, data);
}

Layout placePinned(const Requested &asked)
{
    const Plan &plan = *asked.plan;
    const LocationBook book(asked);
    const std::vector<DatacenterBlock> blocks = pinnedBlocks(plan);
    const int most = mostHeld(book, blocks), data = asked.degrees.data.value_or(std::min(mostReplicas(asked), most));
    if (data < 1 || data > most)
        return placeNothing(asked, std::max(1, asked.degrees.data.value_or(1)));
    if (std::string why = missingLink(plan, blocks); !why.empty()) {
        Layout none = book.finish(PlacementMode::PipelineAcross, 0);
        none.unplaced = std::move(why);
        return none;
    }
    return placeBlocks(asked, blocks, data);
}

Layout placeNothing(const Requested &asked, int data)
{
    const LocationBook book(asked);
    Layout none = book.finish(PlacementMode::PipelineAcross, 0);
    none.unplaced = tooFewGpus(asked, book, data);
    return none;
}

int mostReplicas(const Requested &asked)
{
    const Plan &plan = *asked.plan;
    return int(
        std::min<std::int64_t>(LocationBook(asked).capacity() / asked.degrees.pipeline, totalMicroBatches(plan)));
}

std::vector<int> fewerReplicas(const Requested &asked, int most)
{
    constexpr int kMostTried = 24;
    const Degrees &p = asked.degrees;
    const int total = totalMicroBatches(*asked.plan), experts = asked.model.isMoe() ? p.expertRanks() : 1;
    const int step = experts / std::gcd(experts, p.gpusOfStage()); // replicas for whole groups of experts
    std::vector<int> all;
    const auto add = [&](int data) {
        if (data > 0 && data < most && (all.empty() || data < all.back()))
            all.push_back(data);
    };
    const bool areFew = most <= kMostTried;
    for (int data = most; data > 0; --data) {
        add(data / step * step);
        const int fullest = (total + data - 1) / data, least = (total + fullest - 1) / fullest;
        if (!areFew && least < data) {
            data = std::max(1, least);
            add((data + step - 1) / step * step);
        }
    }
    std::vector<int> tried;
    const std::size_t stride = (all.size() + kMostTried - 1) / kMostTried;
    for (std::size_t i = 0; i < all.size(); i += stride)
        tried.push_back(all[i]);
    if (!all.empty() && tried.back() != all.back())
        tried.push_back(all.back());
    return tried;
}

SearchTimes searchRoom(const Requested &asked, int data)
{
    const Plan &plan = *asked.plan;
    const LocationBook book(asked);
    SearchTimes room;
    room.stages = asked.degrees.pipeline;
    room.handsBack = handsBack(plan);
    std::unordered_map<std::string_view, int> numbers;
    const auto &datacenters = plan.cluster.datacenters;
    for (std::size_t d = 0; d < datacenters.size(); ++d) {
        room.holds.push_back(book.capacity(int(d)) / data);
        numbers.try_emplace(datacenters[d].id, int(d));
    }
    room.hops.resize(datacenters.size());
    const auto add = [&](int from, int to, int link) { room.hops[std::size_t(from)].push_back({ to, link }); };
    for (std::size_t i = 0; i < plan.cluster.wanLinks.size(); ++i) {
        const auto a = numbers.find(plan.cluster.wanLinks[i].between[0]),
                   b = numbers.find(plan.cluster.wanLinks[i].between[1]);
        if (a == numbers.end() || b == numbers.end() || room.holds[std::size_t(a->second)] == 0
            || room.holds[std::size_t(b->second)] == 0)
            continue;
        add(a->second, b->second, int(i));
        add(b->second, a->second, int(i));
    }
    for (auto &hops : room.hops) {
        std::ranges::stable_sort(hops, {}, &HopBound::to);
        const auto again = std::ranges::unique(hops, {}, &HopBound::to); // of two links between the same two the first
        hops.erase(again.begin(), again.end());
    }
    return room;
}

std::vector<Layout> placeWholePipelines(const Requested &asked, int most, std::optional<int> wanted, OpenPlace how)
{
    const Plan &plan = *asked.plan;
    const SearchTimes room = searchRoom(asked, 1);
    const int stages = room.stages, count = int(room.holds.size());
    const auto largest = std::ranges::max_element(room.holds);
    const std::vector<int> sites =
        count == 0 || *largest == 0 ? std::vector<int> {} : reachable(room, int(largest - room.holds.begin()));
    const int possible = pipelinesIn(room, sites);
    const int data = asked.degrees.data.value_or(wanted.value_or(std::min(possible, totalMicroBatches(plan))));
    std::vector<Layout> layouts;
    const auto placeIn = [&](const std::vector<int> &order) {
        LocationBook locations = bookFor(asked, how);
        int replica = 0;
        for (const int d : order) {
            const int here = std::min(data - replica, room.holds[std::size_t(d)] / stages);
            if (here > 0)
                locations.place(d, 0, stages, replica, here);
            replica += here;
        }
        Layout layout = locations.finish(PlacementMode::DataAcross, data);
        if (std::ranges::find(layouts, layout.classes, &Layout::classes) == layouts.end())
            layouts.push_back(std::move(layout));
    };
    if (data > 0 && data <= possible)
        placeIn(sites);
    std::vector<bool> isTooSmall(room.holds.size()); // with all that it reaches
    for (int first = 0; first < count && data > 0 && data < possible;
         ++first) { // room for more: which sites to fill is open
        if (room.holds[std::size_t(first)] < stages || isTooSmall[std::size_t(first)])
            continue;
        const std::vector<int> from = reachable(room, first);
        if (pipelinesIn(room, from) < data) {
            for (const int site : from)
                isTooSmall[std::size_t(site)] = true;
            continue;
        }
        placeIn(from);
        const bool needsMore = room.holds[std::size_t(first)] / stages < data; // else it is no matter who comes second
        for (std::size_t second = 2; needsMore && second < from.size() && int(layouts.size()) < most; ++second) {
            std::vector<int> order = from;
            std::rotate(
                order.begin() + 1, order.begin() + std::ptrdiff_t(second), order.begin() + std::ptrdiff_t(second) + 1);
            placeIn(order);
        }
        if (int(layouts.size()) >= most)
            break;
    }
    if (!layouts.empty())
        return layouts;
    Layout none = LocationBook(asked).finish(PlacementMode::DataAcross, 0);
    const int whole = stages * asked.degrees.gpusOfStage();
    none.unplaced = std::to_string(std::max(1, data)) + (data > 1 ? " whole pipelines of " : " whole pipeline of ")
        + std::to_string(whole) + " GPUs, each in one datacenter, cannot be placed: linked datacenters hold "
        + std::to_string(possible);
    return { none };
}

std::vector<PlacementMode> candidateModes(const Plan &plan)
{
    if (plan.placement.mode != PlacementMode::Auto)
        return { plan.placement.mode };
    if (plan.cluster.datacenters.size() < 2 || !plan.placement.stages.empty())
        return { PlacementMode::PipelineAcross };
    return { PlacementMode::PipelineAcross, PlacementMode::DataAcross };
}

} // namespace trainyard

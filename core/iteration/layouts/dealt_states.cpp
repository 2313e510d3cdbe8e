// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/layouts/dealt_states.h"

#include "core/base/words.h"
#include "core/iteration/memory/bounded_memory.h"
#include "core/systems/unequal_gpus/state_fill.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

/// Of the stage that has room for the least share of its states, per byte of them: what lies there beside them, and
/// what may.
struct StateRoom {
    double beside = 0, capacity = 0;
    [[nodiscard]] double share() const { return capacity - beside; }
};

/// Device memory is a line over the share: its two ends say all. What the line has beyond states, the reserve of the
/// allocator, grows with them.
StateRoom roomFor(const Workload &workload, PipelineClass pipelines)
{
    pipelines.stateShare = kNoStates;
    const std::vector<StageMemory> none = boundedMemory(workload, pipelines);
    pipelines.stateShare = 1;
    const std::vector<StageMemory> all = boundedMemory(workload, pipelines);
    StateRoom least;
    for (std::size_t stage = 0; stage < all.size(); ++stage) {
        const double states = double(all[stage].device - none[stage].device);
        if (states <= 0)
            continue;
        const StateRoom room { double(none[stage].device) / states, double(all[stage].capacity) / states };
        if (least.capacity == 0 || room.share() < least.share())
            least = room;
    }
    return least;
}

/// Classes whose ranks hold the same states.
std::map<int, std::vector<PipelineClass *>> sitesOf(Layout &layout)
{
    std::map<int, std::vector<PipelineClass *>> sites;
    for (PipelineClass &c : layout.classes)
        sites[layout.mode == PlacementMode::DataAcross ? c.locations.front().datacenter : 0].push_back(&c);
    return sites;
}

int ranksOf(const Workload &workload, const PipelineClass &c)
{
    return c.pipelines * workload.degrees.context * workload.degrees.copies;
}

/// Shares as if all states were so many bytes: the fill counts in bytes, with a byte of rounding.
constexpr double kStates = 1e12;

std::string fill(const Workload &workload, const std::vector<PipelineClass *> &classes)
{
    const Heterogeneity &h = workload.plan->heterogeneity;
    ShareProblem problem;
    problem.stateBytes = kStates;
    problem.stateFill = h.state == StateSharing::MinUtilization ? StateFill::MinUtilization : StateFill::MinParams;
    problem.balancesState = h.state != StateSharing::Even;
    Shares shares;
    for (const PipelineClass *c : classes) {
        const StateRoom room = roomFor(workload, *c);
        RankKind kind;
        kind.ranks = ranksOf(workload, *c);
        kind.capacity = room.capacity * kStates;
        kind.buffers = room.beside * kStates;
        kind.room = std::max(0.0, room.share()) * kStates;
        if (c->stateShare > 0)
            kind.stateShare = c->stateShare;
        RankShare rank;
        rank.kind = int(problem.kinds.size());
        rank.ranks = kind.ranks;
        problem.kinds.push_back(std::move(kind));
        shares.ranks.push_back(rank);
    }
    double pinned = 0;
    for (const RankKind &kind : problem.kinds)
        pinned += kind.ranks * kind.stateShare.value_or(0);
    const bool isAllPinned =
        std::ranges::all_of(problem.kinds, [](const RankKind &k) { return k.stateShare.has_value(); });
    if (pinned > 1 + 1e-6 || (isAllPinned && pinned < 1 - 1e-6))
        return "the pinned shares of the states add up to " + plainNumber(pinned) + ", not to 1";
    if (const auto filled = fillStates(problem, shares); !filled) // where nothing is pinned, even ones say by how much
        return pinned > 0 ? "what is not pinned of the states finds no room on the other GPUs" : "";
    const double first = shares.ranks.front().stateShare;
    const bool isEven = std::ranges::all_of(
        shares.ranks, [&](const RankShare &rank) { return std::abs(rank.stateShare - first) < 1e-9; });
    for (std::size_t i = 0; i < classes.size(); ++i)
        classes[i]->stateShare = isEven ? 0 : std::max(shares.ranks[i].stateShare, kNoStates);
    return {};
}

} // namespace

int stateSharers(const Workload &workload, const PipelineClass &pipelines)
{
    int ranks = 0;
    for (const PipelineClass &c : workload.layout.classes)
        if (workload.layout.mode != PlacementMode::DataAcross
            || c.locations.front().datacenter == pipelines.locations.front().datacenter)
            ranks += ranksOf(workload, c);
    return ranks;
}

void dealStates(Workload &workload)
{
    Layout &layout = workload.layout;
    const auto isPinned = [](const PipelineClass &c) { return c.stateShare > 0; };
    const bool isAsked =
        workload.plan->heterogeneity.state != StateSharing::Even || std::ranges::any_of(layout.classes, isPinned);
    if (!isAsked)
        return;
    if (workload.degrees.zeroStage < 1 || !workload.source.hasMemory) {
        for (PipelineClass &c : layout.classes)
            c.stateShare = 0;
        return;
    }
    const Workload even = workload; // rooms are of shares that nobody has changed yet
    for (auto &[site, classes] : sitesOf(layout)) {
        if (const std::string why = fill(even, classes); !why.empty()) {
            layout.shares.why = why;
            for (PipelineClass *c : classes)
                c->stateShare = 0;
        }
    }
}

} // namespace trainyard

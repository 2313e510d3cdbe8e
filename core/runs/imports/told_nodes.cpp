// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/imports/told_nodes.h"

#include "core/base/number_text.h"

#include <algorithm>
#include <charconv>

namespace trainyard::imports {

namespace {

int countOfNodes(const RecordedNodes &nodes)
{
    return std::max(nodes.count, int(std::min<std::size_t>(nodes.names.size(), 1'000'000)));
}

SourceKind kindOf(const Recording &recording, const RecordedNodes &nodes)
{
    return nodes.source < recording.sources.size() ? recording.sources[nodes.source].kind : SourceKind::Unknown;
}

/// What one machine says of itself, and of no other.
bool isOfOneMachine(const Recording &recording, const RecordedNodes &nodes)
{
    const SourceKind kind = kindOf(recording, nodes);
    return nodes.gpus > 0 && countOfNodes(nodes) == 1
        && (kind == SourceKind::SmiTopology || kind == SourceKind::NcclTopology || kind == SourceKind::Hwloc);
}

/// A whole machine as hwloc lists it, without a GPU, trains nothing.
bool lacksGpu(const Draft &draft, const RecordedNodes &nodes)
{
    return nodes.gpus <= 0 && kindOf(draft.recording, nodes) == SourceKind::Hwloc;
}

std::vector<const RecordedNodes *> nodesTold(Draft &draft)
{
    std::vector<const RecordedNodes *> told;
    for (const RecordedNodes &nodes : draft.recording.nodes)
        if (lacksGpu(draft, nodes))
            draft.ignore("The machine of " + draft.sourceOf(nodes.source) + ": it lists no GPU");
        else if (countOfNodes(nodes) > 0)
            told.push_back(&nodes);
    // A probe tells what a machine is like, and of how many only where nobody else does.
    const auto isProbed = [&](const RecordedNodes *nodes) {
        return kindOf(draft.recording, *nodes) == SourceKind::Probe;
    };
    if (draft.worldSize || !std::ranges::all_of(told, isProbed))
        std::erase_if(told, isProbed);
    return told;
}

/// One machine's own topology tells what all are like; lists of nodes tell how many there are.
std::optional<CountedNodes> joined(Draft &draft, const std::vector<const RecordedNodes *> &told)
{
    const auto isSample = [](const RecordedNodes *nodes) { return nodes->gpus > 0 && countOfNodes(*nodes) == 1; };
    const auto isList = [](const RecordedNodes *nodes) { return nodes->gpus <= 0; };
    const auto samples = std::ranges::count_if(told, isSample), lists = std::ranges::count_if(told, isList);
    if (samples < 1 || lists < 1 || samples + lists != std::ssize(told))
        return std::nullopt;
    CountedNodes all { **std::ranges::find_if(told, isSample), {} };
    const RecordedNodes *list = *std::ranges::max_element(
        told, {}, [&](const RecordedNodes *nodes) { return isList(nodes) ? countOfNodes(*nodes) : -1; });
    all.like.count = countOfNodes(*list);
    all.like.names = list->names;
    draft.assume("All nodes of " + draft.sourceOf(list->source) + " are taken to be like that of "
        + draft.sourceOf(all.like.source));
    return all;
}

std::string whoLaunches(const Draft &draft)
{
    for (const char *name : { "world_size", "nnodes", "nproc_per_node", "data_parallel_size" })
        if (draft.arguments.has(name))
            return draft.arguments.said(name);
    return "the job";
}

/// As many machines like the one of a topology as the job runs on.
void countByTheJob(Draft &draft, std::vector<CountedNodes> &told)
{
    const bool areMachines =
        std::ranges::all_of(told, [&](const CountedNodes &one) { return isOfOneMachine(draft.recording, one.like); });
    std::int64_t gpus = 0;
    for (const CountedNodes &one : told)
        gpus += std::int64_t(countOfNodes(one.like)) * one.like.gpus;
    if (!draft.worldSize || !areMachines || told.empty() || gpus == *draft.worldSize)
        return;
    CountedNodes &one = told.front();
    const std::string from = draft.sourceOf(one.like.source);
    const int there = one.like.gpus, started = std::min(draft.gpusPerNode.value_or(there), *draft.worldSize);
    if (told.size() > 1)
        draft.doubt("The topologies",
            "are of " + wholeText(double(gpus)) + " GPUs, and " + whoLaunches(draft) + " makes "
                + wholeText(*draft.worldSize) + ": all nodes are counted as that of " + from);
    if (started > there)
        draft.doubt(from,
            "is of a node with " + std::to_string(there) + " GPUs, and " + draft.arguments.said("nproc_per_node")
                + " starts " + std::to_string(started) + " on each: these are counted");
    else if (started < there)
        draft.assume("The job uses " + std::to_string(started) + " of the " + std::to_string(there)
            + " GPUs of a node of " + from);
    one.like.gpus = started;
    one.like.count = (*draft.worldSize + started - 1) / started;
    one.like.names.clear();
    one.why = " as " + whoLaunches(draft) + " counts them, for a world of " + wholeText(*draft.worldSize);
    if (one.like.count > 1)
        draft.assume("All " + wholeText(one.like.count) + " nodes are taken to be like that of " + from);
    told.resize(1);
}

/// Lists of nodes that are too few for the job are told with the plan: more nodes only leave some idle.
void checkSize(Draft &draft, const std::vector<CountedNodes> &told)
{
    std::int64_t gpus = 0;
    for (const CountedNodes &one : told)
        gpus +=
            std::int64_t(countOfNodes(one.like)) * (one.like.gpus > 0 ? one.like.gpus : draft.gpusPerNode.value_or(0));
    if (draft.worldSize && gpus > 0 && gpus < *draft.worldSize)
        draft.doubt(whoLaunches(draft),
            "makes a world of " + wholeText(*draft.worldSize) + " GPUs, and " + draft.sourceOf(told.front().like.source)
                + " lists " + wholeText(double(gpus)) + ": these are the plan's, and the job does not fit on them");
}

} // namespace

std::vector<CountedNodes> countedNodes(Draft &draft)
{
    const std::vector<const RecordedNodes *> told = nodesTold(draft);
    std::vector<CountedNodes> counted;
    if (auto all = told.size() > 1 ? joined(draft, told) : std::nullopt)
        counted.push_back(*std::move(all));
    else
        for (const RecordedNodes *nodes : told)
            counted.push_back({ *nodes, {} });
    countByTheJob(draft, counted);
    checkSize(draft, counted);
    return counted;
}

std::optional<int> gpusOfTopology(const Recording &recording)
{
    std::optional<int> gpus;
    for (const RecordedNodes &nodes : recording.nodes)
        if (isOfOneMachine(recording, nodes)) {
            if (gpus && *gpus != nodes.gpus)
                return std::nullopt;
            gpus = nodes.gpus;
        }
    return gpus;
}

int capabilityNamed(std::string_view gpu)
{
    int capability = 0;
    if (!gpu.starts_with("sm_"))
        return 0;
    const auto [end, error] = std::from_chars(gpu.data() + 3, gpu.data() + gpu.size(), capability);
    return error == std::errc() && end == gpu.data() + gpu.size() && capability >= 10 && capability < 1000 ? capability
                                                                                                           : 0;
}

} // namespace trainyard::imports

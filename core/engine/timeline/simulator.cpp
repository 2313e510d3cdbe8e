// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/simulator.h"

#include "core/engine/timeline/event_loop.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace trainyard {

namespace {

constexpr std::size_t kTasksPerStopCheck = 8192;

constexpr Nanoseconds kNeverBinds = std::numeric_limits<Nanoseconds>::min() / 2;

/// Steps [from, to). `lags` are those of the graph behind one that never binds; a resource's first task is told that it
/// follows the task before, which correctFirstCauses mends.
void passBlock(const TaskGraph &graph, std::size_t from, std::size_t to, const Nanoseconds *__restrict lags,
    Nanoseconds *__restrict freeAt, Timeline &timeline)
{
    const PassStep *const steps = graph.steps.data();
    const Nanoseconds *const durations = graph.table.durations.data();
    Nanoseconds *const starts = timeline.start.data();
    Nanoseconds *const ends = timeline.end.data();
    std::uint32_t *const causes = timeline.cause.data();
    for (std::size_t i = from; i < to; ++i) {
        const PassStep step = steps[i];
        const std::uint32_t task = step.task & ~PassStep::kHasMore;
        const Nanoseconds free = freeAt[step.resource];
        const Nanoseconds ready = ends[step.pred] + lags[step.lag];
        Nanoseconds start = std::max(free, ready);
        std::uint32_t cause = ready > free ? step.pred : task - 1;
        if (step.task != task) [[unlikely]]
            for (std::uint32_t p = graph.predBegin[task] + (step.lag != 0 ? 1 : 0); p < graph.predBegin[task + 1];
                 ++p) {
                const std::uint32_t lag = graph.lag[p];
                const Nanoseconds *const moments = (lag & TaskGraph::kFromStart) != 0 ? starts : ends;
                const Nanoseconds other = moments[graph.pred[p]] + lags[(lag & ~TaskGraph::kFromStart) + 1];
                cause = other > start ? graph.pred[p] : cause;
                start = std::max(start, other);
            }
        const Nanoseconds end = start + durations[step.taskClass];
        starts[task] = start;
        ends[task] = end;
        causes[task] = cause;
        freeAt[step.resource] = end;
    }
}

void correctFirstCauses(Timeline &timeline)
{
    for (const Track &track : timeline.tracks)
        if (track.first < track.last && timeline.start[track.first] == 0)
            timeline.cause[track.first] = kNoSpan;
}

/// A span without duration goes before the one that starts where it stands.
bool isBefore(const Timeline &timeline, std::uint32_t a, std::uint32_t b)
{
    return std::pair(timeline.start[a], timeline.end[a]) < std::pair(timeline.start[b], timeline.end[b]);
}

bool isSorted(const Timeline &timeline, const Track &track)
{
    for (std::uint32_t span = track.first; span + 1 < track.last; ++span)
        if (isBefore(timeline, span + 1, span))
            return false;
    return true;
}

/// Moves the spans of one track into the order of their starts. newIndex maps old span numbers to new ones.
void sortTrack(Timeline &timeline, const Track &track, std::vector<std::uint32_t> &newIndex)
{
    std::vector<std::uint32_t> sorted(track.last - track.first);
    std::iota(sorted.begin(), sorted.end(), track.first);
    std::ranges::stable_sort(sorted, [&](std::uint32_t a, std::uint32_t b) { return isBefore(timeline, a, b); });
    const auto permute = [&](auto &values) {
        if (values.empty())
            return;
        const std::vector copy(values.begin() + track.first, values.begin() + track.last);
        for (std::uint32_t i = 0; i < sorted.size(); ++i)
            values[track.first + i] = copy[sorted[i] - track.first];
    };
    permute(timeline.start);
    permute(timeline.end);
    permute(timeline.kind);
    permute(timeline.taskClass);
    permute(timeline.microBatch);
    permute(timeline.chunk);
    permute(timeline.pairedMicroBatch);
    permute(timeline.pairedChunk);
    permute(timeline.cause);
    permute(timeline.origin);
    permute(timeline.moved);
    permute(timeline.isVoid);
    for (std::uint32_t i = 0; i < sorted.size(); ++i)
        newIndex[sorted[i]] = track.first + i;
}

} // namespace

bool needsEvents(const TaskGraph &graph)
{
    for (const Resource &resource : graph.resources)
        if (resource.discipline != Discipline::FixedOrder)
            return true;
    const ClassTable &table = graph.table;
    if (table.flows.empty() || table.linkCapacity.empty())
        return false;
    // A resource carries one flow at a time: on each link it asks at most the largest of its flows there.
    std::vector<double> demand(table.linkCapacity.size(), 0), largest(table.linkCapacity.size(), 0);
    std::vector<std::uint32_t> touched;
    for (const Resource &resource : graph.resources) {
        std::uint32_t previous = kNoSpan;
        for (std::uint32_t task = resource.track.first; task < resource.track.last; ++task) {
            const std::uint32_t index = graph.flow[task];
            if (index == kNoSpan || index == previous)
                continue;
            previous = index;
            const Flow &flow = table.flows[index];
            for (std::size_t i = 0; i < flow.links.size(); ++i) {
                const std::uint32_t link = flow.links[i];
                if (largest[link] == 0)
                    touched.push_back(link);
                largest[link] = std::max(largest[link], demandOf(flow, i));
            }
        }
        for (const std::uint32_t link : touched) {
            demand[link] += largest[link];
            largest[link] = 0;
        }
        touched.clear();
    }
    for (const Hold &hold : table.holds)
        demand[hold.link] += hold.amount;
    for (std::size_t link = 0; link < demand.size(); ++link)
        if (demand[link] > table.linkCapacity[link] * (1 + 1e-9))
            return true;
    return false;
}

void prepareTimeline(Timeline &timeline, const TaskGraph &graph)
{
    const std::size_t tasks = graph.taskCount();
    if (graph.table.version == 0 || timeline.classesVersion != graph.table.version)
        timeline.classes = graph.table.about;
    timeline.classesVersion = graph.table.version;
    // A timeline of this topology keeps its labels; only the times are written anew.
    if (graph.fingerprint != 0 && timeline.fingerprint == graph.fingerprint && timeline.spanCount() == tasks)
        return;
    timeline.fingerprint = graph.fingerprint;
    timeline.tracks.resize(graph.resources.size());
    for (std::size_t r = 0; r < graph.resources.size(); ++r)
        timeline.tracks[r] = graph.resources[r].track;
    timeline.kind = graph.kind;
    timeline.taskClass = graph.taskClass;
    timeline.microBatch = graph.microBatch;
    timeline.chunk = graph.chunk;
    timeline.pairedMicroBatch = graph.pairedMicroBatch;
    timeline.pairedChunk = graph.pairedChunk;
    timeline.origin = graph.origin;
    timeline.trackOf = graph.resource;
    timeline.start.resize(tasks);
    timeline.end.resize(tasks);
    timeline.cause.resize(tasks);
}

void finishTimeline(Timeline &timeline, const TaskGraph &graph)
{
    std::vector<std::uint32_t> newIndex;
    for (const Resource &resource : graph.resources) {
        if (resource.discipline == Discipline::FixedOrder || isSorted(timeline, resource.track))
            continue;
        if (newIndex.empty()) {
            newIndex.resize(graph.taskCount());
            std::iota(newIndex.begin(), newIndex.end(), 0u);
        }
        sortTrack(timeline, resource.track, newIndex);
    }
    if (!newIndex.empty()) {
        timeline.fingerprint = 0;
        for (auto *references : { &timeline.cause, &timeline.origin })
            for (std::uint32_t &span : *references)
                span = span == kNoSpan ? kNoSpan : newIndex[span];
    }
    timeline.duration = 0;
    for (std::size_t r = 0; r < timeline.tracks.size(); ++r) {
        const Track &track = timeline.tracks[r];
        if (track.first == track.last)
            continue;
        const bool endsInOrder = graph.resources[r].discipline == Discipline::FixedOrder;
        const auto from = timeline.end.begin() + (endsInOrder ? track.last - 1 : track.first);
        timeline.duration = std::max(timeline.duration, *std::max_element(from, timeline.end.begin() + track.last));
    }
}

Expected<void> runSinglePass(
    const TaskGraph &graph, SimulationWorkspace &workspace, Timeline &timeline, const std::stop_token &stop)
{
    const std::size_t tasks = graph.taskCount();
    if (graph.steps.size() != tasks)
        return std::unexpected(Error { ErrorCode::Internal, "schedule", "a graph without a topological order", "" });
    workspace.free.assign(graph.resources.size(), 0);
    workspace.lags.assign(1, kNeverBinds);
    workspace.lags.insert(workspace.lags.end(), graph.table.lags.begin(), graph.table.lags.end());
    for (std::size_t from = 0; from < tasks; from += kTasksPerStopCheck) {
        if (stop.stop_requested())
            return std::unexpected(Error { ErrorCode::Cancelled, "", "cancelled", "" });
        passBlock(graph, from, std::min(from + kTasksPerStopCheck, tasks), workspace.lags.data(), workspace.free.data(),
            timeline);
    }
    correctFirstCauses(timeline);
    return {};
}

Expected<void> simulateInto(
    Timeline &timeline, const TaskGraph &graph, SimulationWorkspace &workspace, std::stop_token stop)
{
    prepareTimeline(timeline, graph);
    timeline.moved.clear();
    timeline.isVoid.clear();
    const auto ran = needsEvents(graph) ? runEvents(graph, workspace, timeline, stop)
                                        : runSinglePass(graph, workspace, timeline, stop);
    if (ran)
        finishTimeline(timeline, graph);
    return ran;
}

Expected<Timeline> simulate(const TaskGraph &graph, SimulationWorkspace &workspace, std::stop_token stop)
{
    Timeline timeline;
    if (const auto ran = simulateInto(timeline, graph, workspace, std::move(stop)); !ran)
        return std::unexpected(ran.error());
    return timeline;
}

} // namespace trainyard

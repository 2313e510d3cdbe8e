// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/timeline/simulator.h"

#include "core/timeline/event_loop.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

namespace {

constexpr std::size_t kTasksPerStopCheck = 8192;

/// Tasks order[from .. to).
void passBlock(const TaskGraph &graph, std::size_t from, std::size_t to, Nanoseconds *__restrict freeAt, std::uint32_t *__restrict lastOn,
               Timeline &timeline)
{
    const std::uint32_t *const order = graph.order.data();
    const std::uint32_t *const resource = graph.resource.data();
    const std::uint32_t *const durationClass = graph.durationClass.data();
    const std::uint32_t *const predBegin = graph.predBegin.data();
    const std::uint32_t *const pred = graph.pred.data();
    const std::uint32_t *const lagClass = graph.lagClass.data();
    const Nanoseconds *const durations = graph.durations.data();
    const Nanoseconds *const lags = graph.lags.data();
    Nanoseconds *const starts = timeline.start.data();
    Nanoseconds *const ends = timeline.end.data();
    std::uint32_t *const causes = timeline.cause.data();
    for (std::size_t i = from; i < to; ++i) {
        const std::uint32_t task = order[i], on = resource[task];
        Nanoseconds start = freeAt[on];
        std::uint32_t cause = lastOn[on];
        for (std::uint32_t p = predBegin[task], end = predBegin[task + 1]; p < end; ++p) {
            const Nanoseconds ready = ends[pred[p]] + lags[lagClass[p]];
            cause = ready > start ? pred[p] : cause;
            start = std::max(start, ready);
        }
        const Nanoseconds end = start + durations[durationClass[task]];
        starts[task] = start;
        ends[task] = end;
        causes[task] = cause;
        freeAt[on] = end;
        lastOn[on] = task;
    }
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
        auto copy = values;
        for (std::uint32_t i = 0; i < sorted.size(); ++i)
            values[track.first + i] = copy[sorted[i]];
    };
    permute(timeline.start);
    permute(timeline.end);
    permute(timeline.kind);
    permute(timeline.microBatch);
    permute(timeline.chunk);
    permute(timeline.cause);
    permute(timeline.origin);
    for (std::uint32_t i = 0; i < sorted.size(); ++i)
        newIndex[sorted[i]] = track.first + i;
}

} // namespace

bool needsEvents(const TaskGraph &graph)
{
    for (const Resource &resource : graph.resources)
        if (resource.discipline == Discipline::Priority)
            return true;
    if (graph.flow.empty() || graph.linkCapacity.empty())
        return false;
    // A resource carries one flow at a time: on each link it asks at most the largest of its flows there.
    std::vector<double> demand(graph.linkCapacity.size(), 0), largest(graph.linkCapacity.size(), 0);
    std::vector<std::uint32_t> touched;
    for (const Resource &resource : graph.resources) {
        std::uint32_t previous = kNoSpan;
        for (std::uint32_t task = resource.track.first; task < resource.track.last; ++task) {
            if (graph.flow[task] == kNoSpan || graph.flow[task] == previous)
                continue;
            previous = graph.flow[task];
            const Flow &flow = graph.flows[previous];
            for (const std::uint32_t link : flow.links) {
                if (largest[link] == 0)
                    touched.push_back(link);
                largest[link] = std::max(largest[link], flow.weight * flow.rateCap);
            }
        }
        for (const std::uint32_t link : touched) {
            demand[link] += largest[link];
            largest[link] = 0;
        }
        touched.clear();
    }
    for (std::size_t link = 0; link < demand.size(); ++link)
        if (demand[link] > graph.linkCapacity[link] * (1 + 1e-9))
            return true;
    return false;
}

void prepareTimeline(Timeline &timeline, const TaskGraph &graph)
{
    const std::size_t tasks = graph.taskCount();
    timeline.tracks.resize(graph.resources.size());
    timeline.origin.clear();
    for (std::size_t r = 0; r < graph.resources.size(); ++r) {
        const Track &track = timeline.tracks[r] = graph.resources[r].track;
        if (track.stream != Stream::Wan)
            continue;
        if (timeline.origin.empty())
            timeline.origin.assign(tasks, kNoSpan);
        for (std::uint32_t task = track.first; task < track.last; ++task)
            if (graph.predBegin[task] < graph.predBegin[task + 1])
                timeline.origin[task] = graph.pred[graph.predBegin[task]];
    }
    timeline.kind = graph.kind;
    timeline.microBatch = graph.microBatch;
    timeline.chunk = graph.chunk;
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
    if (!newIndex.empty())
        for (auto *references : {&timeline.cause, &timeline.origin})
            for (std::uint32_t &span : *references)
                span = span == kNoSpan ? kNoSpan : newIndex[span];
    timeline.duration = 0;
    for (const Track &track : timeline.tracks)
        if (track.first < track.last)
            timeline.duration = std::max(timeline.duration, *std::max_element(timeline.end.begin() + track.first, timeline.end.begin() + track.last));
}

Expected<void> runSinglePass(const TaskGraph &graph, SimulationWorkspace &workspace, Timeline &timeline, const std::stop_token &stop)
{
    const std::size_t tasks = graph.taskCount();
    if (graph.order.size() != tasks)
        return std::unexpected(Error{ErrorCode::Internal, "schedule", "a graph without a topological order", ""});
    workspace.free.assign(graph.resources.size(), 0);
    workspace.last.assign(graph.resources.size(), kNoSpan);
    for (std::size_t from = 0; from < tasks; from += kTasksPerStopCheck) {
        if (stop.stop_requested())
            return std::unexpected(Error{ErrorCode::Cancelled, "", "cancelled", ""});
        passBlock(graph, from, std::min(from + kTasksPerStopCheck, tasks), workspace.free.data(), workspace.last.data(), timeline);
    }
    return {};
}

Expected<void> simulateInto(Timeline &timeline, const TaskGraph &graph, SimulationWorkspace &workspace, std::stop_token stop)
{
    prepareTimeline(timeline, graph);
    const auto ran = needsEvents(graph) ? runEvents(graph, workspace, timeline, stop) : runSinglePass(graph, workspace, timeline, stop);
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

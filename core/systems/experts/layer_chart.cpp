// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/simulator.h"
#include "core/systems/experts/layer_graph.h"

#include <algorithm>
#include <tuple>

namespace trainyard {

namespace {

/// What an exchange carries over each way, all pieces.
void addBytes(LayerExchange &exchange, const std::vector<Leg> &legs)
{
    for (const Leg &leg : legs) {
        exchange.bytes[static_cast<std::size_t>(leg.way)] += leg.bytes;
        exchange.bytes[static_cast<std::size_t>(Way::Nvlink)] += leg.nvlinkToo;
    }
}

void addExchange(LayerChart &chart, const Exchange &exchange, LayerStep step, bool isBackward)
{
    LayerExchange made { .step = step, .isBackward = isBackward, .logicalBytes = exchange.logicalBytes };
    bool isEmpty = true;
    for (const LayerSpan &span : chart.spans) {
        if (span.step != step || span.isBackward != isBackward || span.track.rank != 0)
            continue;
        made.start = isEmpty ? span.start : std::min(made.start, span.start);
        made.end = std::max(made.end, span.end + span.lag);
        isEmpty = false;
    }
    if (isEmpty)
        return;
    addBytes(made, exchange.legs);
    chart.exchanges.push_back(made);
}

void addExchanges(LayerChart &chart, const LayerWork &work)
{
    addExchange(chart, work.dispatch, LayerStep::Dispatch, work.isBackward);
    addExchange(chart, work.combine, LayerStep::Combine, work.isBackward);
}

LayerChart spansOf(const LayerGraph &layer)
{
    thread_local SimulationWorkspace workspace;
    // The graph has no circle, and every hold and flow on its links ends.
    const Timeline timeline = simulate(layer.graph, workspace).value();
    LayerChart chart;
    chart.ranks = layer.ranks;
    std::vector<Nanoseconds> start(layer.tasks.size()), end(layer.tasks.size());
    for (std::size_t span = 0; span < timeline.spanCount(); ++span) {
        const auto task = static_cast<std::size_t>(timeline.microBatch[span]);
        start[task] = timeline.start[span];
        end[task] = timeline.end[span];
    }
    for (std::size_t i = 0; i < layer.tasks.size(); ++i) {
        const LayerTask &task = layer.tasks[i];
        if (task.isStart)
            continue;
        const Nanoseconds begin = start[i > 0 && layer.tasks[i - 1].isStart ? i - 1 : i];
        if (task.step != LayerStep::Beside)
            chart.duration = std::max(chart.duration, end[i]);
        if (end[i] > begin && !task.isLag)
            chart.spans.push_back({ task.track, task.step, task.piece, task.isBackward, begin, end[i], task.bytes,
                task.nvlinkToo, task.alone, task.lag });
    }
    return chart;
}

void sort(LayerChart &chart)
{
    std::ranges::stable_sort(chart.spans, {}, [](const LayerSpan &span) { return std::tuple(span.track, span.start); });
    std::ranges::stable_sort(chart.exchanges, {}, &LayerExchange::start);
}

/// What still runs beside the first pass when the second begins gets lanes of its own.
void separateBeside(LayerChart &chart)
{
    for (LayerSpan &span : chart.spans) {
        const auto meets = [&](const LayerSpan &other) {
            return &other != &span && other.track == span.track && other.start < span.end && span.start < other.end;
        };
        while (span.step == LayerStep::Beside && std::ranges::any_of(chart.spans, meets))
            ++span.track.lane;
    }
}

/// The spans of the other chart, by `by` later.
void append(LayerChart &chart, const LayerChart &other, Nanoseconds by)
{
    for (LayerSpan span : other.spans) {
        span.start += by;
        span.end += by;
        chart.spans.push_back(span);
    }
    for (LayerExchange exchange : other.exchanges) {
        exchange.start += by;
        exchange.end += by;
        chart.exchanges.push_back(exchange);
    }
    chart.duration = std::max(chart.duration, by + other.duration);
    chart.ranks = std::max(chart.ranks, other.ranks);
}

void appendBefore(LayerChart &chart, const LayerWork &work, int ranks)
{
    const Seconds time = work.fullest.before;
    const Nanoseconds length = toNanoseconds(time);
    for (int rank = 0; rank < ranks && length > 0; ++rank)
        chart.spans.push_back({ { rank, LayerStream::Compute, 0 }, LayerStep::Before, 0, work.isBackward,
            chart.duration, chart.duration + length, 0, 0, time.value });
    chart.duration += length;
}

/// The backward behind the forward.
LayerChart oneAfterTheOther(const PairWork &work)
{
    LayerChart forward = layerChart(work.forward), backward = layerChart(work.backward), chart;
    appendBefore(chart, work.forward, std::max(forward.ranks, backward.ranks));
    append(chart, forward, chart.duration);
    append(chart, backward, chart.duration);
    appendBefore(chart, work.backward, chart.ranks);
    separateBeside(chart);
    sort(chart);
    return chart;
}

} // namespace

LayerChart layerChart(const LayerWork &work)
{
    LayerChart chart = spansOf(layerGraph(work));
    addExchanges(chart, work);
    sort(chart);
    return chart;
}

LayerChart pairChart(const PairWork &work)
{
    LayerChart chart = spansOf(pairGraph(work));
    LayerChart apart = oneAfterTheOther(work);
    if (apart.duration < chart.duration)
        return apart;
    addExchanges(chart, work.forward);
    addExchanges(chart, work.backward);
    sort(chart);
    return chart;
}

const char *toString(LayerStep step)
{
    switch (step) {
    case LayerStep::Before:
        return "attention";
    case LayerStep::Router:
        return "router";
    case LayerStep::HostWait:
        return "host";
    case LayerStep::Permute:
        return "permute";
    case LayerStep::Dispatch:
        return "dispatch";
    case LayerStep::Products:
        return "experts";
    case LayerStep::Combine:
        return "combine";
    case LayerStep::Unpermute:
        return "unpermute";
    case LayerStep::Shared:
        return "shared experts";
    case LayerStep::Beside:
        return "other traffic";
    }
    return "";
}

const char *toString(LayerStream stream)
{
    switch (stream) {
    case LayerStream::Compute:
        return "compute";
    case LayerStream::Nic:
        return "NIC";
    case LayerStream::Nvlink:
        return "NVLink";
    case LayerStream::Wan:
        return "WAN";
    case LayerStream::Copy:
        return "copies";
    }
    return "";
}

} // namespace trainyard

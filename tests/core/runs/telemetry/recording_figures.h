#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a recording says in numbers, each under a name that a file of a test can state: "spans", "step_time: last",
// "point 3: bus bytes per second", "rank 0: compute". Header only, for tests.

#include "core/runs/telemetry/collectives.h"
#include "core/runs/telemetry/summarize.h"

#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>

namespace trainyard::tests {

using Figures = std::map<std::string, double>;

namespace figures {

inline void ofRanks(const Recording &recording, Figures &made)
{
    double gpuSpans = 0, gpuStreams = 0, collectives = 0, steps = 0;
    std::map<std::string, double> operations;
    for (const RankRecording &rank : recording.ranks) {
        for (const RecordedStream &stream : rank.streams) {
            const bool isKernels = stream.isGpu && stream.label.empty();
            gpuSpans += isKernels ? static_cast<double>(stream.spans.size()) : 0;
            gpuStreams += isKernels ? 1 : 0;
        }
        collectives += static_cast<double>(rank.collectives.size());
        steps += static_cast<double>(rank.steps.size());
        const std::string place = "rank " + std::to_string(rank.rank) + ": ";
        made[place + "world size"] = rank.worldSize;
        for (const RecordedCollective &one : rank.collectives)
            made["bytes of " + recording.names.at(one.operation)] += one.bytes;
        for (const RecordedCollective &one : rank.collectives)
            made["collectives " + recording.names.at(one.operation)] += 1;
        for (const RecordedCollective &one : rank.collectives)
            made["bytes of collectives"] += one.bytes;
    }
    made["ranks"] = static_cast<double>(recording.ranks.size());
    made["GPU spans"] = gpuSpans;
    made["GPU streams"] = gpuStreams;
    made["collectives"] = collectives;
    made["steps"] = steps;
    for (const RankSummary &summary : summarize(recording, SummaryRule::Hta)) {
        const std::string place = "rank " + std::to_string(summary.rank) + ": ";
        if (summary.communicationOverlap)
            made[place + "communication overlap"] = *summary.communicationOverlap;
        if (!summary.breakdown)
            continue;
        made[place + "kernel time"] = summary.breakdown->kernelTime;
        made[place + "compute"] = summary.breakdown->compute;
        made[place + "non-compute"] = summary.breakdown->nonCompute;
        made[place + "idle"] = summary.breakdown->idle;
    }
}

inline void ofSeries(const Recording &recording, Figures &made)
{
    double samples = 0;
    for (const SampleSeries &series : recording.series) {
        const std::string place = series.name.text() + (series.where.empty() ? "" : " " + series.where.text())
            + (series.rank < 0 ? "" : " rank " + std::to_string(series.rank)) + ": ";
        samples += static_cast<double>(series.at.size());
        made[place + "samples"] += static_cast<double>(series.at.size());
        if (series.at.empty())
            continue;
        made[place + "first"] = series.value.front();
        made[place + "last"] = series.value.back();
        made[place + "sum"] += std::accumulate(series.value.begin(), series.value.end(), 0.0);
        if (series.isByStep) {
            made[place + "first step"] = static_cast<double>(series.at.front());
            made[place + "last step"] = static_cast<double>(series.at.back());
        }
    }
    made["series"] = static_cast<double>(recording.series.size());
    made["samples"] = samples;
}

inline void ofPoints(const Recording &recording, Figures &made)
{
    made["points"] = static_cast<double>(recording.benchmarks.size());
    for (std::size_t i = 0; i < recording.benchmarks.size(); ++i) {
        const BenchmarkPoint &point = recording.benchmarks[i];
        const std::string place = "point " + std::to_string(i) + ": ";
        made[place + "ranks"] = point.ranks;
        made[place + "streams"] = point.streams;
        made[place + "bytes"] = point.bytes;
        made[place + "seconds"] = point.seconds;
        made[place + "bytes per second"] = point.bytesPerSecond;
        made[place + "bus bytes per second"] = point.busBytesPerSecond;
        made[place + "round trip seconds"] = point.rttSeconds;
    }
}

inline void ofMachines(const Recording &recording, Figures &made)
{
    double nodes = 0;
    for (std::size_t i = 0; i < recording.nodes.size(); ++i) {
        const RecordedNodes &node = recording.nodes[i];
        const std::string place = "nodes " + std::to_string(i) + ": ";
        nodes += node.count;
        made[place + "count"] = node.count;
        made[place + "GPUs"] = node.gpus;
        made[place + "NICs"] = node.nics;
        made[place + "NIC bytes per second"] = node.nicBytesPerSecond;
        made[place + "NVLink bytes per second"] = node.nvlinkBytesPerSecond;
        made[place + "host memory"] = node.hostMemoryBytes;
        made[place + "NVLink is switched"] = node.isNvlinkSwitched;
    }
    made["nodes"] = nodes;
    made["kinds of nodes"] = static_cast<double>(recording.nodes.size());
    made["switches"] = static_cast<double>(recording.switches.size());
    for (const RecordedSwitch &one : recording.switches) {
        made["switch " + one.name + ": below"] = static_cast<double>(one.below.size());
        made["switch " + one.name + ": link bytes per second"] = one.linkBytesPerSecond;
    }
    made["prices"] = static_cast<double>(recording.prices.size());
    for (std::size_t i = 0; i < recording.prices.size(); ++i) {
        const RecordedPrice &price = recording.prices[i];
        made["price " + std::to_string(i) + ": GPUs"] = price.gpus;
        made["price " + std::to_string(i) + ": USD per hour"] = price.usdPerHour;
        made["price " + std::to_string(i) + ": spot USD per hour"] = price.spotUsdPerHour;
    }
}

} // namespace figures

inline Figures figuresOf(const Recording &recording)
{
    Figures made;
    figures::ofRanks(recording, made);
    figures::ofSeries(recording, made);
    figures::ofPoints(recording, made);
    figures::ofMachines(recording, made);
    made["spans"] = static_cast<double>(recording.spanCount());
    made["groups"] = static_cast<double>(recording.groups.size());
    made["arguments"] = static_cast<double>(recording.arguments.size());
    for (const auto &[name, text] : recording.arguments) {
        double value = 0;
        if (const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
            read.ec == std::errc() && read.ptr == text.data() + text.size())
            made["argument " + name] = value;
    }
    made["models"] = static_cast<double>(recording.models.size());
    for (const RecordedSource &source : recording.sources) {
        made["taken"] += static_cast<double>(source.taken);
        for (const Dropped &dropped : source.dropped)
            made["dropped " + dropped.reason] += static_cast<double>(dropped.count);
    }
    return made;
}

} // namespace trainyard::tests

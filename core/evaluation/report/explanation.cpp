// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/explanation.h"

#include "core/base/number_text.h"
#include "core/base/printable.h"
#include "core/base/text_table.h"
#include "core/base/words.h"
#include "core/engine/timeline/analysis.h"
#include "core/evaluation/evaluate/comparable.h"
#include "core/evaluation/evaluate/metrics/breakdown_entries.h"
#include "core/evaluation/evaluate/track_names.h"
#include "core/evaluation/report/json_internal.h"
#include "core/evaluation/report/part_effects_internal.h"
#include "core/evaluation/report/selection_json_internal.h"
#include "core/evaluation/report/selection_table.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

struct PathSummary {
    std::vector<std::uint32_t> spans;
    std::array<Nanoseconds, kWorkKindCount> byKind {};
    std::array<int, kWorkKindCount> count {};
    Nanoseconds inTransit = 0; // between spans: latency, local transfers, waiting
};

/// Spans of the path may overlap where a lag is negative (a reduction that starts early): only new time counts.
PathSummary summarize(const Timeline &timeline)
{
    PathSummary path;
    path.spans = criticalPath(timeline);
    Nanoseconds reached = 0;
    for (const std::uint32_t span : path.spans) {
        const Nanoseconds from = std::max(reached, timeline.start[span]);
        path.inTransit += from - reached;
        const auto kind = std::size_t(timeline.kind[span]);
        path.byKind[kind] += std::max<Nanoseconds>(0, timeline.end[span] - from);
        path.count[kind] += 1;
        reached = std::max(from, timeline.end[span]);
    }
    return path;
}

double seconds(Nanoseconds ns)
{
    return toSeconds(ns).value;
}

std::vector<std::uint32_t> computeTracks(const Timeline &timeline)
{
    std::vector<std::uint32_t> tracks;
    for (std::uint32_t t = 0; t < timeline.tracks.size(); ++t) {
        if (timeline.tracks[t].stream == Stream::Compute)
            tracks.push_back(t);
    }
    return tracks;
}

std::string stagesTable(const Evaluation &evaluation)
{
    const Timeline &timeline = evaluation.timeline;
    const std::vector<StageTime> times = stageTimes(timeline);
    const std::vector<std::uint32_t> tracks = computeTracks(timeline);
    using enum TextTable::Align;
    TextTable table({ Left, Left, Left, Right, Right, Right, Right, Right, Right, Right },
        { "datacenter", "pipelines", "stage", "compute", "bubble", "WAN", "pipeline transfers", "data parallel",
            "optimizer", "overhead" });
    for (std::size_t i = 0; i < times.size() && i < tracks.size(); ++i) {
        const Track &track = timeline.tracks[tracks[i]];
        const StageTime &t = times[i];
        table.add({ datacenterName(evaluation, track), pipelinesName(evaluation, track),
            std::to_string(track.stage + 1), secondsText(seconds(t.compute)), secondsText(seconds(t.bubble)),
            secondsText(seconds(t.wan)), secondsText(seconds(t.pipeline)), secondsText(seconds(t.reduce)),
            secondsText(seconds(t.optimizer)), secondsText(seconds(t.overhead)) });
    }
    return table.text();
}

std::string pathTable(const Timeline &timeline)
{
    const PathSummary path = summarize(timeline);
    const double total = std::max(1e-12, seconds(timeline.duration));
    using enum TextTable::Align;
    TextTable table({ Left, Right, Right, Right }, { "on the critical path", "time", "share", "spans" });
    for (std::size_t k = 0; k < kWorkKindCount; ++k) {
        if (path.byKind[k] > 0)
            table.add({ toString(WorkKind(k)), secondsText(seconds(path.byKind[k])),
                percentText(seconds(path.byKind[k]) / total), std::to_string(path.count[k]) });
    }
    if (path.inTransit > 0)
        table.add({ "in transit between them", secondsText(seconds(path.inTransit)),
            percentText(seconds(path.inTransit) / total), "" });
    return table.text();
}

Json pathJson(const Evaluation &evaluation)
{
    const Timeline &timeline = evaluation.timeline;
    const PathSummary path = summarize(timeline);
    Json kinds = Json::object();
    for (std::size_t k = 0; k < kWorkKindCount; ++k) {
        if (path.count[k] > 0)
            kinds[toString(WorkKind(k))] = { { "seconds", seconds(path.byKind[k]) }, { "spans", path.count[k] } };
    }
    Json spans = Json::array();
    for (const std::uint32_t s : path.spans) {
        const Track &track = timeline.tracks[timeline.trackOf[s]];
        spans.push_back({ { "datacenter", datacenterName(evaluation, track) }, { "stage", track.stage },
            { "stream", toString(track.stream) }, { "kind", toString(timeline.kind[s]) },
            { "micro_batch", timeline.microBatch[s] >= 0 ? Json(timeline.microBatch[s]) : Json(nullptr) },
            { "start_s", seconds(timeline.start[s]) }, { "end_s", seconds(timeline.end[s]) } });
    }
    return { { "by_kind", kinds }, { "in_transit_s", seconds(path.inTransit) }, { "spans", spans } };
}

Json stagesJson(const Evaluation &evaluation)
{
    const Timeline &timeline = evaluation.timeline;
    const std::vector<StageTime> times = stageTimes(timeline);
    const std::vector<std::uint32_t> tracks = computeTracks(timeline);
    Json stages = Json::array();
    for (std::size_t i = 0; i < times.size() && i < tracks.size(); ++i) {
        const Track &track = timeline.tracks[tracks[i]];
        const StageTime &t = times[i];
        stages.push_back({ { "datacenter", datacenterName(evaluation, track) },
            { "pipeline_class", track.pipelineClass }, { "stage", track.stage }, { "compute_s", seconds(t.compute) },
            { "bubble_s", seconds(t.bubble) }, { "wan_s", seconds(t.wan) }, { "pipeline_s", seconds(t.pipeline) },
            { "reduce_s", seconds(t.reduce) }, { "optimizer_s", seconds(t.optimizer + t.overhead) },
            { "overhead_s", seconds(t.overhead) }, { "offload_s", seconds(t.offload) } });
    }
    return stages;
}

/// What fills the fullest GPU, largest first; the parts add up to what is in use there.
std::string fullestGpuTable(const Evaluation &evaluation)
{
    const auto &memory = evaluation.metrics.memory;
    if (!memory || memory->perStage.empty())
        return {};
    const StageMemory &fullest = memory->perStage[std::size_t(memory->fullestStage)];
    using enum TextTable::Align;
    TextTable table({ Left, Right, Right },
        { "in the fullest GPU, stage " + std::to_string(fullest.stage + 1), "bytes", "of its memory" });
    const auto add = [&](const std::string &name, std::int64_t bytes) {
        table.add({ name, bytesText(double(bytes)),
            percentText(double(bytes) / double(std::max<std::int64_t>(1, fullest.capacity))) });
    };
    for (const auto &[name, bytes] : fullest.parts)
        add(name, bytes);
    add("in use", fullest.device);
    return "\n" + table.text();
}

Json memoryJson(const Evaluation &evaluation)
{
    if (!evaluation.metrics.memory)
        return nullptr;
    Json stages = Json::array();
    for (const StageMemory &stage : evaluation.metrics.memory->perStage) {
        Json parts = Json::array();
        for (const auto &[name, bytes] : stage.parts)
            parts.push_back({ { "name", name }, { "bytes", bytes } });
        stages.push_back(
            { { "stage", stage.stage }, { "device_bytes", stage.device }, { "capacity_bytes", stage.capacity },
                { "micro_batches_in_flight", finite(stage.inFlight) }, { "parts", parts } });
    }
    return stages;
}

} // namespace

std::string explanationTable(const Evaluation &evaluation, PartEffects effects, const Selection *selection)
{
    std::string datacenters = selection ? selectionTable(*selection) : std::string();
    if (!datacenters.empty())
        datacenters.insert(0, "\n");
    if (evaluation.timeline.isEmpty())
        return (evaluation.layout.unplaced.empty() ? "Nothing was simulated.\n" : evaluation.layout.unplaced + "\n")
            + fixesTable(evaluation, effects.fixes) + idleText(effects.idle) + datacenters;
    const double total = evaluation.metrics.iterationTime.value_or(0);
    using enum TextTable::Align;
    TextTable breakdown({ Left, Right, Right, Left },
        { "of " + secondsText(total) + ", slowest pipeline", "time", "share", "in the timeline" });
    for (const BreakdownEntry &entry : breakdownEntries(evaluation.metrics.breakdown.value_or(Breakdown {}))) {
        if (entry.seconds > 0 && total > 0)
            breakdown.add({ entry.label, secondsText(entry.seconds), percentText(entry.seconds / total), entry.where });
    }
    const std::string why = whyNotCompared(evaluation);
    return breakdown.text() + "\n" + pathTable(evaluation.timeline) + "\n" + stagesTable(evaluation)
        + fullestGpuTable(evaluation) + fixesTable(evaluation, effects.fixes) + bindingText(effects.binding)
        + partsTable(evaluation, ranked(std::move(effects.parts)), effects.leftOut) + retiredText(effects.retired)
        + idleText(effects.idle) + datacenters
        + (why.empty() ? std::string() : "\n" + printable(asSentence(why)) + "\n");
}

std::string explanationJson(const Evaluation &evaluation, PartEffects effects, const Selection *selection)
{
    const Json metrics = metricsObject(evaluation);
    Json json { { "name", evaluation.plan->name }, { "iteration_time_s", metrics["iteration_time_s"] },
        { "breakdown_s", metrics["breakdown_s"] }, { "breakdown", Json::array() }, { "critical_path", nullptr },
        { "stages", nullptr } };
    for (const BreakdownEntry &entry : breakdownEntries(evaluation.metrics.breakdown.value_or(Breakdown {}))) {
        if (entry.seconds > 0)
            json["breakdown"].push_back(
                { { "part", entry.key }, { "seconds", finite(entry.seconds) }, { "where", entry.where } });
    }
    if (!evaluation.timeline.isEmpty()) {
        json["critical_path"] = pathJson(evaluation);
        json["stages"] = stagesJson(evaluation);
    }
    json["memory"] = memoryJson(evaluation);
    const double now = evaluation.metrics.iterationTime.value_or(0);
    const std::string why = whyNotCompared(evaluation);
    json["not_compared"] = why.empty() ? Json(nullptr) : Json(why);
    json["better_parts"] = effectsJson(ranked(std::move(effects.parts)), now);
    json["fixes"] = effectsJson(effects.fixes, now);
    json["better_parts_left_out"] = effects.leftOut;
    json["binding"] = effects.binding;
    json["retirements"] = retiredJson(effects.retired);
    json["idle_settings"] = idleJson(effects.idle);
    json["datacenter_selection"] = selection ? selectionObject(*selection) : Json(nullptr);
    return dumped(json);
}

} // namespace trainyard

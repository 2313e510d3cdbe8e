// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/track_layout.h"

#include "core/engine/timeline/cell_members.h"
#include "core/iteration/placement/activations_leave.h"
#include "models/job_spans.h"
#include "models/text/format.h"
#include "views/timeline/layer_text.h"
#include "views/timeline/other_pipelines.h"
#include "views/timeline/row_details.h"
#include "views/timeline/row_heights.h"
#include "views/timeline/state_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace trainyard {

namespace {

constexpr int kGroupGap = 6;
constexpr int kClassGap = 4;
constexpr int kGpuWithTransfers = 30; // pixels: where GPUs of jobs have less, transfers wait for unfolding

QString rowText(const char *text, int n = -1)
{
    return QCoreApplication::translate("trainyard::TrackLayout", text, nullptr, n);
}

QString streamName(Stream stream)
{
    switch (stream) {
    case Stream::Compute:
        return rowText("compute");
    case Stream::Wan:
        return rowText("WAN");
    case Stream::Collective:
        return rowText("collectives");
    case Stream::Copy:
        return rowText("copies");
    case Stream::Prefill:
        return rowText("prefill");
    case Stream::Store:
        return rowText("store");
    case Stream::Load:
        return rowText("load");
    default:
        return {}; // states off the GPU have their own words
    }
}

bool isOffload(const Track &track)
{
    return track.stream == Stream::Store || track.stream == Stream::Load;
}

/// "→ drives", "← host memory": where a stage's activations wait.
QString offloadName(const Evaluation &evaluation, Stream stream)
{
    const bool isHost = evaluation.plan
        && (isLayerByLayer(evaluation) || activationsLeaveTo(evaluation.plan->memory) == ActivationOffload::Host);
    const QString place = isHost ? rowText("host memory") : rowText("drives");
    return (stream == Stream::Store ? QStringLiteral("→ ") : QStringLiteral("← ")) + place;
}

/// What ranks exchange of each layer is what layered accumulation is about, unless it takes no time.
bool isLayerExchange(const Evaluation &evaluation, const Track &track)
{
    const Timeline &timeline = evaluation.timeline;
    if (!isLayerByLayer(evaluation) || track.stream != Stream::Collective)
        return false;
    for (std::uint32_t span = track.first; span < track.last; ++span)
        if (timeline.end[span] > timeline.start[span])
            return true;
    return false;
}

/// A cell's transfer leaves its node in pieces and is put together again on the other side.
QString furtherStreamName(const Track &track)
{
    if (track.stream != Stream::Copy || track.toStage < 0)
        return streamName(track.stream);
    return track.toStage == track.stage ? rowText("gather") : rowText("scatter → %1").arg(track.toStage + 1);
}

QString pipelinesText(const Evaluation &evaluation, int pipelineClass)
{
    if (pipelineClass < 0 || pipelineClass >= int(evaluation.layout.classes.size()))
        return {};
    const PipelineClass &of = evaluation.layout.classes[std::size_t(pipelineClass)];
    const int pipelines = of.pipelines;
    if (of.cellMembers > 1) // a pipeline of each of the equal cells
        return pipelines == 1
            ? rowText("pipeline %1 of %2").arg(of.cellMember + 1).arg(of.cellMembers)
            : rowText("pipeline %1 of %2 · %3 cells").arg(of.cellMember + 1).arg(of.cellMembers).arg(pipelines);
    if (evaluation.layout.classes.size() > 1) { // several classes are told apart by their pipelines
        const int first = of.firstPipeline + 1;
        return pipelines == 1 ? rowText("pipeline %1").arg(first)
                              : rowText("pipelines %1–%2").arg(first).arg(first + pipelines - 1);
    }
    return countOf(pipelines, rowText("pipeline"), rowText("pipelines"));
}

QString groupKey(const Evaluation &evaluation, int datacenter)
{
    if (evaluation.plan && datacenter < int(evaluation.plan->cluster.datacenters.size()))
        return QString::fromStdString(evaluation.plan->cluster.datacenters[std::size_t(datacenter)].id);
    return QString::number(datacenter);
}

QString rowKey(const Track &track, const QString &group)
{
    return QStringLiteral("%1/%2/%3/%4/%5")
        .arg(group)
        .arg(track.pipelineClass)
        .arg(track.stage)
        .arg(int(track.stream))
        .arg(track.toStage);
}

int lanesOf(const Timeline &timeline, const Track &track)
{
    QSet<int> lanes;
    for (std::uint32_t s = track.first; s < track.last; ++s)
        lanes.insert(sendingMember(timeline, s));
    return int(lanes.size());
}

TrackRow makeRow(const Evaluation &evaluation, std::uint32_t index, int datacenter)
{
    const Track &track = evaluation.timeline.tracks[index];
    TrackRow row;
    row.datacenter = datacenter;
    row.pipelineClass = track.pipelineClass;
    row.stage = track.stage;
    row.tracks = { index };
    row.key = rowKey(track, groupKey(evaluation, datacenter));
    if (track.stream == Stream::Wan) {
        row.kind = TrackRow::Kind::Channel;
        row.label = QStringLiteral("→ ")
            + datacenterName(evaluation, datacenterOf(evaluation, track.pipelineClass, track.toStage));
        row.hasTurns = hasTurns(evaluation.timeline, track);
        if (row.hasTurns)
            row.label += rowText(", %1 in turn").arg(lanesOf(evaluation.timeline, track));
    } else {
        row.kind = track.stream == Stream::Compute ? TrackRow::Kind::Stage : TrackRow::Kind::Stream;
        row.label = row.kind == TrackRow::Kind::Stage ? rowText("stage %1").arg(track.stage + 1)
            : isLayerExchange(evaluation, track)      ? rowText("gather, reduce")
            : isOffload(track)                        ? offloadName(evaluation, track.stream)
            : isOfStates(track.stream)                ? stateRowName(evaluation, track)
                                                      : furtherStreamName(track);
        row.detail = row.kind == TrackRow::Kind::Stage ? pipelinesText(evaluation, track.pipelineClass) : QString();
        if (const QString gpu = rowGpu(evaluation, track); row.kind == TrackRow::Kind::Stage && !gpu.isEmpty()) {
            row.label = gpu;
            row.detail = rowSamples(evaluation, track.pipelineClass);
        }
        if (isOfJobs(evaluation)) {
            row.detail.clear();
            row.label = row.kind == TrackRow::Kind::Stage ? jobGpuName(evaluation, track.stage)
                : track.stream == Stream::Load            ? rowText("← host")
                : track.stream == Stream::Store           ? rowText("→ host")
                                                          : row.label;
        }
    }
    return row;
}

/// Tracks by datacenter, that with the earliest stage first, so that stages run from the top down; class, then stages
/// before channels, each by stage, streams of a stage after its compute.
std::vector<std::pair<int, std::uint32_t>> sortedTracks(const Evaluation &evaluation)
{
    const auto &tracks = evaluation.timeline.tracks;
    std::vector<std::pair<int, std::uint32_t>> sorted; // datacenter, track
    for (std::uint32_t t = 0; t < tracks.size(); ++t)
        sorted.emplace_back(datacenterOf(evaluation, tracks[t].pipelineClass, tracks[t].stage), t);
    std::map<int, int> earliest; // stage in a datacenter
    for (const auto &[datacenter, track] : sorted)
        if (tracks[track].stage >= 0) {
            const auto at = earliest.try_emplace(datacenter, tracks[track].stage).first;
            at->second = std::min(at->second, tracks[track].stage);
        }
    const auto rank = [&](const std::pair<int, std::uint32_t> &entry) {
        const Track &track = tracks[entry.second];
        const auto first = earliest.find(entry.first);
        return std::tuple(first == earliest.end() ? 0 : first->second, entry.first, track.pipelineClass,
            track.stream == Stream::Wan, track.stage, int(track.stream), track.toStage);
    };
    std::sort(sorted.begin(), sorted.end(), [&](const auto &a, const auto &b) { return rank(a) < rank(b); });
    return sorted;
}

QString stagesText(const Evaluation &evaluation, const std::vector<std::uint32_t> &tracks)
{
    QSet<int> stages;
    for (const std::uint32_t track : tracks)
        stages.insert(evaluation.timeline.tracks[track].stage);
    if (isOfJobs(evaluation))
        return gpusText(stages.size());
    return countOf(stages.size(), rowText("stage"), rowText("stages"));
}

/// What was measured of the places that a row stands for, whatever schedule they follow.
std::vector<std::uint32_t> measuredOf(const Evaluation &evaluation, const TrackRow &row, const MeasuredLanes &measured)
{
    std::vector<std::uint32_t> rows;
    for (const std::uint32_t index : row.tracks) {
        const Track &track = evaluation.timeline.tracks[index];
        if (track.pipelineClass < 0 || track.pipelineClass >= int(evaluation.layout.classes.size()))
            continue;
        if (const int found = measured.find(keyOf(evaluation, track)); found >= 0)
            rows.push_back(std::uint32_t(found));
    }
    return rows;
}

/// Rows without geometry, in order, groups marked by datacenter.
std::vector<TrackRow> makeRows(const Evaluation &evaluation, const TrackLayoutOptions &options)
{
    std::vector<TrackRow> rows;
    const bool areMany = evaluation.layout.gpusTotal * kGpuWithTransfers > options.availableHeight;
    for (const auto &[datacenter, index] : sortedTracks(evaluation)) {
        const Track &track = evaluation.timeline.tracks[index];
        const QString group = groupKey(evaluation, datacenter);
        if (options.folded.contains(group)) {
            if (rows.empty() || rows.back().datacenter != datacenter) {
                TrackRow summary;
                summary.kind = TrackRow::Kind::Summary;
                summary.datacenter = datacenter;
                summary.key = group;
                rows.push_back(summary);
            }
            if (track.stream == Stream::Compute)
                rows.back().tracks.push_back(index);
            continue;
        }
        const bool isFurtherStream = track.stream != Stream::Compute && track.stream != Stream::Wan && !isOffload(track)
            && !isOfStates(track.stream) && !isLayerExchange(evaluation, track);
        if (isOfJobs(evaluation) && isOffload(track) && !options.unfoldStreams && areMany)
            continue;
        if (isFurtherStream && !options.unfoldStreams) {
            // Prefill and collectives explain where the stage idles, so they lie behind its bars; copies wait for
            // unfolding. What offload moves and updates has rows of its own: they are what the switch is about.
            if (track.stream != Stream::Copy && !rows.empty() && rows.back().datacenter == datacenter)
                rows.back().tracks.push_back(index);
            continue;
        }
        rows.push_back(makeRow(evaluation, index, datacenter));
    }
    foldOthers(rows, evaluation, options);
    for (TrackRow &row : rows) {
        if (row.kind == TrackRow::Kind::Summary && !row.isOther)
            row.label = stagesText(evaluation, row.tracks);
        if (options.measured)
            row.measured = measuredOf(evaluation, row, *options.measured);
    }
    return rows;
}

} // namespace

QString datacenterName(const Evaluation &evaluation, int datacenter)
{
    if (evaluation.plan && datacenter >= 0 && datacenter < int(evaluation.plan->cluster.datacenters.size()))
        return QString::fromStdString(evaluation.plan->cluster.datacenters[std::size_t(datacenter)].label());
    return rowText("datacenter %1").arg(datacenter + 1);
}

int datacenterOf(const Evaluation &evaluation, int pipelineClass, int stage)
{
    const auto &classes = evaluation.layout.classes;
    if (pipelineClass < 0 || pipelineClass >= int(classes.size()))
        return 0;
    const auto &locations = classes[std::size_t(pipelineClass)].locations;
    return stage >= 0 && stage < int(locations.size()) ? locations[std::size_t(stage)].datacenter : 0;
}

TrackLayout layOutTracks(const Evaluation &evaluation, const TrackLayoutOptions &options)
{
    TrackLayout layout;
    std::vector<TrackRow> scrolling = makeRows(evaluation, options);
    for (const TrackRow &row : scrolling) {
        if (options.pinned.contains(row.key)) {
            layout.rows.push_back(row);
            layout.rows.back().isPinned = true;
        }
    }
    layout.pinnedCount = int(layout.rows.size());
    layout.rows.insert(layout.rows.end(), scrolling.begin(), scrolling.end());
    int groups = 0, previous = -1;
    for (const TrackRow &row : scrolling)
        groups += std::exchange(previous, row.datacenter) != row.datacenter ? 1 : 0;
    int gaps = std::max(0, groups - 1) * kGroupGap + (layout.pinnedCount > 0 ? kGroupGap : 0);
    for (std::size_t r = 1; r < scrolling.size(); ++r)
        gaps += scrolling[r].datacenter == scrolling[r - 1].datacenter
                && scrolling[r].pipelineClass != scrolling[r - 1].pipelineClass
            ? kClassGap
            : 0;
    const int bar = barHeight(layout.rows, options.showGhost, options.availableHeight - gaps);
    int y = 0;
    for (int r = 0; r < int(layout.rows.size()); ++r) {
        TrackRow &row = layout.rows[std::size_t(r)];
        setHeights(row, bar, options.showGhost);
        if (r == layout.pinnedCount)
            y = 0;
        if (!row.isPinned && (layout.groups.empty() || layout.groups.back().datacenter != row.datacenter)) {
            y += layout.groups.empty() ? 0 : kGroupGap;
            const QString key = groupKey(evaluation, row.datacenter);
            layout.groups.push_back({ row.datacenter, datacenterName(evaluation, row.datacenter), key,
                options.folded.contains(key), y, 0, row.barHeight });
        } else if (!row.isPinned && r > layout.pinnedCount
            && layout.rows[std::size_t(r) - 1].pipelineClass != row.pipelineClass) {
            y += kClassGap;
        }
        row.y = y;
        y += row.pitch;
        if (row.isPinned)
            layout.pinnedHeight = y + kGroupGap;
        else
            layout.groups.back().height = y - layout.groups.back().y;
    }
    layout.contentHeight = y;
    layout.others = othersOf(layout);
    sayDetailsOnce(layout, options.line);
    layout.rowOfTrack.assign(evaluation.timeline.tracks.size(), -1);
    for (int r = layout.pinnedCount; r < int(layout.rows.size()); ++r) {
        for (const std::uint32_t track : layout.rows[std::size_t(r)].tracks)
            layout.rowOfTrack[track] = r;
    }
    return layout;
}

TrackLayout withoutTracks(TrackLayout layout)
{
    layout.rowOfTrack.clear();
    for (TrackRow &row : layout.rows) {
        row.tracks.clear();
        row.measured.clear();
    }
    return layout;
}

int rowTop(const TrackLayout &layout, const TrackRow &row, int scroll)
{
    return row.isPinned ? row.y : layout.pinnedHeight + row.y - scroll;
}

int rowAt(const TrackLayout &layout, int y, int scroll)
{
    const bool inPinned = y < layout.pinnedHeight;
    for (int r = 0; r < int(layout.rows.size()); ++r) {
        const TrackRow &row = layout.rows[std::size_t(r)];
        const int top = rowTop(layout, row, scroll);
        if (row.isPinned == inPinned && y >= top && y < top + row.pitch)
            return r;
    }
    return -1;
}

int sameTrack(const Timeline &timeline, const Track &track)
{
    const auto found = std::find_if(timeline.tracks.begin(), timeline.tracks.end(), [&](const Track &other) {
        return other.stream == track.stream && other.pipelineClass == track.pipelineClass && other.stage == track.stage
            && other.toStage == track.toStage;
    });
    return found == timeline.tracks.end() ? -1 : int(found - timeline.tracks.begin());
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/plots/curve_data.h"

#include "core/engine/timeline/analysis.h"
#include "core/engine/timeline/cell_members.h"
#include "core/evaluation/evaluate/metrics/gpu_use.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>

namespace trainyard {

namespace {

double pipelinesOf(const Evaluation &evaluation, const Track &track)
{
    const auto &classes = evaluation.layout.classes;
    return track.pipelineClass < int(classes.size()) ? classes[track.pipelineClass].pipelines : 1;
}

/// What prefill adds to the mean of the stages; empty where none runs.
std::vector<double> prefillShare(const Evaluation &evaluation, int buckets)
{
    std::vector<double> share;
    double stages = 0;
    for (std::uint32_t t = 0; t < evaluation.timeline.tracks.size(); ++t) {
        const Track &track = evaluation.timeline.tracks[t];
        const double weight = pipelinesOf(evaluation, track);
        if (track.stream == Stream::Compute)
            stages += weight;
        if (track.stream != Stream::Prefill || track.first == track.last)
            continue;
        share.resize(std::size_t(std::max(0, buckets)), 0.0);
        const std::vector<double> own =
            utilization(evaluation.timeline, t, buckets, [](WorkKind kind) { return kind == WorkKind::Prefill; });
        for (std::size_t i = 0; i < share.size() && i < own.size(); ++i)
            share[i] += weight * own[i];
    }
    for (double &value : share)
        value = stages > 0 ? value / stages : 0;
    return share;
}

int datacenterOf(const Evaluation &evaluation, const Track &track, int stage)
{
    const auto &classes = evaluation.layout.classes;
    if (track.pipelineClass >= int(classes.size()) || stage < 0
        || stage >= int(classes[track.pipelineClass].locations.size()))
        return -1;
    return classes[track.pipelineClass].locations[stage].datacenter;
}

/// 0 or 1: which way over its link a WAN track sends.
int directionOf(const Evaluation &evaluation, const Track &track)
{
    const Cluster &cluster = evaluation.plan->cluster;
    const int from = datacenterOf(evaluation, track, track.stage);
    return from >= 0 && cluster.datacenters[from].id == cluster.wanLinks[track.wanLink].between[1] ? 1 : 0;
}

/// Adds the time of a span, in nanoseconds, to the buckets that it covers.
void addTime(std::vector<double> &buckets, Nanoseconds duration, Nanoseconds start, Nanoseconds end, double weight)
{
    const double width = double(duration) / double(buckets.size());
    auto i = static_cast<std::size_t>(std::max(0.0, double(start) / width));
    for (double at = double(start); i < buckets.size() && at < double(end); ++i) {
        const double until = std::min(double(end), double(i + 1) * width);
        buckets[i] += weight * std::max(0.0, until - at);
        at = std::max(at, until);
    }
}

void addTrack(std::vector<double> &buckets, const Evaluation &evaluation, const Track &track, bool (*accept)(WorkKind))
{
    const Timeline &timeline = evaluation.timeline;
    for (std::uint32_t s = track.first; s < track.last; ++s)
        if (accept(timeline.kind[s]))
            addTime(buckets, timeline.duration, timeline.start[s], timeline.end[s], pipelinesOf(evaluation, track));
}

/// Pipeline-nanoseconds of each pipeline's transfers, where pipelines take turns on one track; empty elsewhere.
std::vector<WanFlow::Turn> turnsOf(const Evaluation &evaluation, int link, int direction, int buckets)
{
    const Timeline &timeline = evaluation.timeline;
    std::map<int, std::vector<double>> byMember;
    bool areTurns = false;
    for (const Track &track : timeline.tracks) {
        if (track.stream != Stream::Wan || track.wanLink != link || directionOf(evaluation, track) != direction)
            continue;
        areTurns = areTurns || hasTurns(timeline, track);
        for (std::uint32_t s = track.first; s < track.last; ++s) {
            const auto sender = std::size_t(sendingMember(timeline, s));
            std::vector<double> &member =
                byMember[sender < evaluation.layout.classes.size() ? evaluation.layout.classes[sender].cellMember
                                                                   : int(sender)];
            member.resize(std::size_t(buckets), 0.0);
            addTime(member, timeline.duration, timeline.start[s], timeline.end[s], pipelinesOf(evaluation, track));
        }
    }
    std::vector<WanFlow::Turn> turns;
    if (areTurns)
        for (auto &[member, time] : byMember)
            turns.push_back({ member, std::move(time) });
    return turns;
}

std::string directionName(const Evaluation &evaluation, int link, int direction)
{
    const Cluster &cluster = evaluation.plan->cluster;
    std::array<std::string, 2> ends;
    for (int i = 0; i < 2; ++i) {
        const std::string &id = cluster.wanLinks[link].between[i];
        const int index = cluster.indexOf(id);
        ends[i] = index < 0 ? id : cluster.datacenters[index].label();
    }
    return ends[direction] + " → " + ends[1 - direction];
}

std::vector<MemoryPoint> thinned(
    const std::vector<std::vector<Evaluation::MemoryStep>> &curves, int stage, int buckets, Nanoseconds duration)
{
    std::vector<MemoryPoint> points;
    if (stage < 0 || stage >= int(curves.size()) || buckets <= 0)
        return points;
    const auto &steps = curves[std::size_t(stage)];
    const bool thin = steps.size() > 2 * static_cast<std::size_t>(buckets);
    Nanoseconds bucket = -1;
    for (const Evaluation::MemoryStep &step : steps) {
        const Nanoseconds own = thin ? step.time * buckets / std::max<Nanoseconds>(1, duration) : step.time;
        if (own == bucket && !points.empty())
            points.back().bytes = std::max(points.back().bytes, double(step.bytes));
        else
            points.push_back({ double(step.time) * 1e-9, double(step.bytes) });
        bucket = own;
    }
    return points;
}

} // namespace

int stageCount(const Evaluation &evaluation)
{
    int stages = 0;
    for (const Track &track : evaluation.timeline.tracks)
        if (track.stream == Stream::Compute)
            stages = std::max(stages, track.stage + 1);
    return stages;
}

std::vector<double> stageUtilization(const Evaluation &evaluation, int stage, int buckets)
{
    return fleetUse(evaluation, buckets, stage);
}

std::vector<double> fleetUtilization(const Evaluation &evaluation, int buckets)
{
    return fleetUse(evaluation, buckets);
}

std::vector<double> filledUtilization(const Evaluation &evaluation, int buckets)
{
    std::vector<double> filled = prefillShare(evaluation, buckets);
    if (filled.empty())
        return filled;
    const std::vector<double> training = fleetUtilization(evaluation, buckets);
    for (std::size_t i = 0; i < filled.size() && i < training.size(); ++i)
        filled[i] = std::min(1.0, filled[i] + training[i]);
    return filled;
}

std::vector<WanFlow> wanFlows(const Evaluation &evaluation, int buckets)
{
    std::vector<WanFlow> flows;
    const Timeline &timeline = evaluation.timeline;
    if (!evaluation.plan || timeline.duration <= 0 || buckets <= 0)
        return flows;
    const auto &links = evaluation.plan->cluster.wanLinks;
    for (const WanLinkUse &use : evaluation.metrics.wanLinks) {
        for (int direction = 0; direction < 2; ++direction) {
            if (use.bytes[direction] <= 0 || use.link < 0 || use.link >= int(links.size()))
                continue;
            WanFlow flow { use.link, direction, directionName(evaluation, use.link, direction),
                links[use.link].capacityGbps, {}, {} };
            std::vector<double> busy(buckets, 0.0); // pipeline-nanoseconds of transfer in each bucket
            for (const Track &track : timeline.tracks)
                if (track.stream == Stream::Wan && track.wanLink == use.link
                    && directionOf(evaluation, track) == direction)
                    addTrack(busy, evaluation, track, [](WorkKind) { return true; });
            flow.turns = turnsOf(evaluation, use.link, direction, buckets);
            double total = 0;
            for (const double b : busy)
                total += b;
            if (total <= 0) {
                for (const Track &track : timeline.tracks)
                    addTrack(busy, evaluation, track, [](WorkKind kind) { return kind == WorkKind::GradientReduce; });
                for (const double b : busy)
                    total += b;
            }
            const double seconds = double(timeline.duration) * 1e-9 / buckets;
            const double rate =
                total > 0 ? use.bytes[direction] / total * 8 / 1e9 / seconds : 0; // of a nanosecond in a bucket
            for (double &b : busy)
                b *= rate;
            for (WanFlow::Turn &turn : flow.turns)
                for (double &b : turn.gbps)
                    b *= rate;
            flow.gbps = std::move(busy);
            flows.push_back(std::move(flow));
        }
    }
    return flows;
}

std::vector<MemoryPoint> memoryCurve(const Evaluation &evaluation, int stage, int buckets)
{
    return thinned(evaluation.memoryCurves, stage, buckets, evaluation.timeline.duration);
}

double memoryAt(const std::vector<Evaluation::MemoryStep> &steps, double seconds)
{
    const auto time = Nanoseconds(std::llround(seconds * 1e9));
    const auto after = std::ranges::upper_bound(steps, time, {}, &Evaluation::MemoryStep::time);
    return after == steps.begin() ? 0 : double(std::prev(after)->bytes);
}

std::vector<MemoryPoint> memoryCurveKept(const Evaluation &evaluation, int stage, int buckets)
{
    return thinned(evaluation.memoryCurvesKept, stage, buckets, evaluation.timeline.duration);
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
// Details of what the map shows: links, GPUs, datacenters, and the stage that a GPU serves.
#include "views/details/details.h"

#include "core/engine/timeline/analysis.h"
#include "models/gpu_shares.h"
#include "models/job_spans.h"
#include "models/text/format.h"
#include "models/text/gpu_name.h"
#include "views/cluster/map_scene.h"

#include <QObject>

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

QString nameOf(const Cluster &cluster, const std::string &id)
{
    const int index = cluster.indexOf(id);
    return QString::fromStdString(index < 0 ? id : cluster.datacenters[std::size_t(index)].label());
}

/// "7", "7–9", from a set of stages that count from 0.
QString stages(const std::set<int> &served)
{
    return stageText({ served.begin(), served.end() });
}

void addStage(Details &details, const Evaluation &evaluation, int stage)
{
    const Timeline &timeline = evaluation.timeline;
    if (stage >= 0 && stage < int(evaluation.layout.chunks.size())) {
        int layers = 0;
        bool hasEmbedding = false, hasHead = false;
        for (const StageChunk &chunk : evaluation.layout.chunks[std::size_t(stage)]) {
            layers += chunk.layers;
            hasEmbedding = hasEmbedding || chunk.hasEmbedding;
            hasHead = hasHead || chunk.hasHead;
        }
        QStringList words { countOf(layers, QObject::tr("layer"), QObject::tr("layers")) };
        if (hasEmbedding)
            words << QObject::tr("embedding");
        if (hasHead)
            words << QObject::tr("output head");
        details.facts.push_back({ QObject::tr("Holds"), words.join(QStringLiteral(", ")), {} });
    }
    // Of the pipelines whose stage is slowest: busy = Σ lengths of its spans of training ÷ the iteration.
    std::optional<StageTime> slowest;
    std::size_t computeTrack = 0;
    const std::vector<StageTime> times = stageTimes(timeline);
    for (const Track &track : timeline.tracks) {
        if (track.stream != Stream::Compute)
            continue;
        if (track.stage == stage && computeTrack < times.size()
            && (!slowest || times[computeTrack].compute > slowest->compute))
            slowest = times[computeTrack];
        ++computeTrack;
    }
    if (slowest && timeline.duration > 0) {
        const struct {
            QString name;
            Nanoseconds time;
            QString explanation;
        } parts[] = {
            { QObject::tr("Computes"), slowest->compute,
                QObject::tr("Forward, backward and recompute, with the collectives inside them.") },
            { QObject::tr("Bubble"), slowest->bubble,
                QObject::tr("Waiting for work that is not ready elsewhere, not for a transfer to this stage.") },
            { QObject::tr("Waits for the WAN"), slowest->wan, QObject::tr("Queueing and latency included.") },
            { QObject::tr("Waits for a local transfer"), slowest->pipeline, {} },
            { QObject::tr("Gradient sync"), slowest->reduce,
                QObject::tr("Reduction of gradients and gathering of parameters that nothing hides.") },
            { QObject::tr("Waits for offload"), slowest->offload, {} },
            { QObject::tr("Optimizer"), slowest->optimizer, {} },
            { QObject::tr("Overhead"), slowest->overhead,
                QObject::tr("Work of the host at the end of the iteration.") },
        };
        for (const auto &part : parts)
            if (part.time > 0)
                details.facts.push_back({ part.name,
                    QObject::tr("%1 · %2").arg(formatSeconds(double(part.time) * 1e-9),
                        formatPercent(double(part.time) / double(timeline.duration))),
                    part.explanation });
    }
    if (!evaluation.metrics.memory)
        return;
    const auto &all = evaluation.metrics.memory->perStage;
    const auto memory = std::ranges::find(all, stage, &StageMemory::stage);
    if (memory == all.end())
        return;
    details.facts.push_back({ QObject::tr("Memory"),
        QObject::tr("%1 of %2").arg(formatBytes(double(memory->device)), formatBytes(double(memory->capacity))),
        QObject::tr("At its peak, of one GPU of the stage.") });
    for (std::size_t i = 0; i < memory->parts.size() && i < 3; ++i)
        details.facts.push_back({ QObject::tr("  %1").arg(QString::fromStdString(memory->parts[i].first)),
            formatBytes(double(memory->parts[i].second)), {} });
}

/// What these GPUs got of the work and of the states, where that is not the same for all.
void addShares(Details &details, const Evaluation &evaluation, StageLocation at, int firstGpu, int gpus)
{
    const GpuShares shares = gpuShares(evaluation);
    if (!shares.isShared)
        return;
    for (const GpuShare &share : shares.sets) {
        const bool isHere =
            share.gpus.at == at && share.gpus.first < firstGpu + gpus && firstGpu < share.gpus.first + share.gpus.count;
        if (!isHere || share.stage != 0)
            continue;
        details.facts.push_back({ QObject::tr("Gets"), shareText(share, shares.batch), share.why });
        details.facts.push_back({ QObject::tr("Waits"),
            QObject::tr("%1 · %2").arg(
                formatSeconds(share.wait), formatPercent(shares.duration > 0 ? share.wait / shares.duration : 0)),
            QObject::tr("Of the iteration, for the slowest GPUs and for transfers.") });
    }
}

} // namespace

Details linkDetails(const Evaluation &evaluation, int link)
{
    const Plan &plan = *evaluation.plan;
    if (link < 0 || link >= int(plan.cluster.wanLinks.size()))
        return {};
    const WanLink &wan = plan.cluster.wanLinks[std::size_t(link)];
    Details details;
    details.title =
        QObject::tr("%1 – %2").arg(nameOf(plan.cluster, wan.between[0]), nameOf(plan.cluster, wan.between[1]));
    details.subtitle = QObject::tr("WAN link");
    details.facts.push_back({ QObject::tr("Round trip"), formatSeconds(wan.rttMs * 1e-3), {} });
    details.facts.push_back({ QObject::tr("Capacity"), QObject::tr("%1 each way").arg(formatGbps(wan.capacityGbps)),
        QObject::tr("Of all node pairs together.") });
    const auto use = std::ranges::find(evaluation.metrics.wanLinks, link, &WanLinkUse::link);
    if (use != evaluation.metrics.wanLinks.end() && use->isMeasured)
        details.facts.push_back(
            { QObject::tr("Per node pair"), QObject::tr("%1, measured").arg(formatGbps(use->nodePairGbps)),
                QObject::tr("By message size and kind of machine, between these two zones: the catalogue's %1.")
                    .arg(QString::fromStdString(wan.cloud)) });
    else
        details.facts.push_back({ QObject::tr("Per node pair"), formatGbps(wan.nodePairGbps),
            QObject::tr("What two nodes can reach between them with enough connections.") });
    if (use == evaluation.metrics.wanLinks.end() || use->totalBytes() <= 0) {
        details.facts.push_back({ QObject::tr("Carries"), QObject::tr("nothing in this plan"), {} });
        return details;
    }
    details.facts.push_back(
        { QObject::tr("TCP connections"), QObject::tr("%1 per node pair").arg(use->tcpConnections), {} });
    details.facts.push_back(
        { QObject::tr("Reaches"), QObject::tr("%1 per node pair").arg(formatGbps(use->nodePairGbps)), {} });
    for (const int direction : { 0, 1 })
        details.facts.push_back(
            { QObject::tr("→ %1").arg(nameOf(plan.cluster, wan.between[std::size_t(1 - direction)])),
                QObject::tr("%1 per iteration").arg(formatBytes(use->bytes[std::size_t(direction)])), {} });
    if (use->limit != WanLimit::None)
        details.facts.push_back({ QObject::tr("Bound by"),
            QObject::tr("%1, %2").arg(QString::fromLatin1(toString(use->limit)), formatGbps(use->limitGbps)),
            QObject::tr("What keeps a transfer from being faster.") });
    details.facts.push_back({ QObject::tr("Use of what can be used"), formatPercent(use->usableUtilization),
        QObject::tr("Share of the iteration in which its busiest boundary carries at that limit.") });
    details.facts.push_back({ QObject::tr("Use of capacity"), formatPercent(use->utilization),
        QObject::tr("Of the busier direction, over the iteration.") });
    return details;
}

Details stageDetails(const Evaluation &evaluation, int stage)
{
    Details details;
    details.title = QObject::tr("Stage %1").arg(stage + 1);
    addStage(details, evaluation, stage);
    return details;
}

Details gpuDetails(const Evaluation &evaluation, int datacenter, int pool, int firstGpu, int gpus)
{
    const Plan &plan = *evaluation.plan;
    if (datacenter < 0 || datacenter >= int(plan.cluster.datacenters.size()))
        return {};
    const Datacenter &place = plan.cluster.datacenters[std::size_t(datacenter)];
    if (pool < 0 || pool >= int(place.pools.size()))
        return {};
    const Pool &of = place.pools[std::size_t(pool)];
    if (gpus <= 0) {
        firstGpu = 0;
        gpus = of.gpus();
    }
    std::set<int> served, pipelines;
    int working = 0;
    for (const GpuRun &run : evaluation.layout.runs) {
        if (run.datacenter != datacenter || run.pool != pool)
            continue;
        const int overlap = std::min(run.firstGpu + run.gpus, firstGpu + gpus) - std::max(run.firstGpu, firstGpu);
        if (overlap <= 0)
            continue;
        served.insert(run.stage);
        working += overlap;
    }
    Details details;
    details.title = gpus == 1
        ? QObject::tr("GPU %1 of node %2").arg(firstGpu % of.gpusPerNode + 1).arg(firstGpu / of.gpusPerNode + 1)
        : gpus == of.gpusPerNode && firstGpu % of.gpusPerNode == 0
        ? QObject::tr("Node %1").arg(firstGpu / of.gpusPerNode + 1)
        : gpusText(gpus);
    details.subtitle = QObject::tr("%1 in %2").arg(shortGpuName(of), QString::fromStdString(place.label()));
    if (isOfJobs(evaluation)) {
        std::vector<int> numbers;
        for (int gpu = firstGpu; gpu < firstGpu + gpus; ++gpu)
            numbers.push_back(gpuNumber(plan.cluster, datacenter, pool, gpu));
        if (gpus == 1)
            details.title = QObject::tr("GPU %1").arg(numbers.front());
        const std::vector<DetailFact> facts = jobFacts(evaluation, numbers);
        details.facts.insert(details.facts.end(), facts.begin(), facts.end());
        if (of.usdPerGpuHour)
            details.facts.push_back(
                { QObject::tr("Price"), QObject::tr("%1 per GPU-hour").arg(formatUsd(*of.usdPerGpuHour)), {} });
        return details;
    }
    details.facts.push_back({ QObject::tr("Serves"), served.empty() ? QObject::tr("nothing") : stages(served), {} });
    addShares(details, evaluation, { datacenter, pool }, firstGpu, gpus);
    if (working < gpus) {
        const auto idle = std::ranges::find_if(
            evaluation.layout.idle, [&](const IdleGpus &i) { return i.datacenter == datacenter && i.pool == pool; });
        details.facts.push_back({ QObject::tr("Idle"), gpusText(gpus - working),
            idle != evaluation.layout.idle.end() ? QString::fromStdString(idle->reason) : QString() });
        if (idle != evaluation.layout.idle.end())
            details.facts.push_back({ QObject::tr("Because"), QString::fromStdString(idle->reason), {} });
    }
    if (of.usdPerGpuHour)
        details.facts.push_back(
            { QObject::tr("Price"), QObject::tr("%1 per GPU-hour").arg(formatUsd(*of.usdPerGpuHour)), {} });
    if (served.size() == 1)
        addStage(details, evaluation, *served.begin());
    return details;
}

Details datacenterDetails(const Evaluation &evaluation, int datacenter)
{
    const Plan &plan = *evaluation.plan;
    if (datacenter < 0 || datacenter >= int(plan.cluster.datacenters.size()))
        return {};
    const Datacenter &place = plan.cluster.datacenters[std::size_t(datacenter)];
    std::set<int> served;
    int working = 0;
    for (const GpuRun &run : evaluation.layout.runs) {
        if (run.datacenter != datacenter)
            continue;
        served.insert(run.stage);
        working += run.gpus;
    }
    Details details;
    details.title = QString::fromStdString(place.label());
    details.subtitle = QObject::tr("datacenter");
    const bool hasJobs = isOfJobs(evaluation);
    if (!hasJobs)
        details.facts.push_back(
            { QObject::tr("GPUs"), QObject::tr("%1, %2 at work").arg(gpusText(place.gpus())).arg(working), {} });
    for (const Pool &pool : place.pools)
        details.facts.push_back({ shortGpuName(pool),
            QObject::tr("%1 of %2")
                .arg(countOf(pool.nodes, QObject::tr("node"), QObject::tr("nodes")), gpusText(pool.gpusPerNode)),
            {} });
    if (hasJobs) {
        std::vector<int> numbers;
        for (int gpu = 0; gpu < place.gpus(); ++gpu)
            numbers.push_back(gpuNumber(plan.cluster, datacenter, 0, gpu));
        const std::vector<DetailFact> facts = jobFacts(evaluation, numbers);
        details.facts.insert(details.facts.end(), facts.begin(), facts.end());
    } else {
        details.facts.push_back(
            { QObject::tr("Serves"), served.empty() ? QObject::tr("nothing") : stages(served), {} });
    }
    for (const IdleGpus &idle : evaluation.layout.idle)
        if (idle.datacenter == datacenter && idle.gpus > 0)
            details.facts.push_back({ QObject::tr("Idle"), gpusText(idle.gpus), QString::fromStdString(idle.reason) });
    if (place.fabricGbpsPerGpu)
        details.facts.push_back(
            { QObject::tr("Fabric"), QObject::tr("%1 per GPU").arg(formatGbps(*place.fabricGbpsPerGpu)), {} });
    if (place.usdPerKwh)
        details.facts.push_back(
            { QObject::tr("Electricity"), QObject::tr("%1 per kWh").arg(formatUsd(*place.usdPerKwh)), {} });
    double bytes = 0;
    for (const WanLinkUse &use : evaluation.metrics.wanLinks) {
        const WanLink &link = plan.cluster.wanLinks[std::size_t(use.link)];
        for (const int end : { 0, 1 })
            if (link.between[std::size_t(end)] == place.id)
                bytes += use.bytes[std::size_t(end)];
    }
    if (!hasJobs) // they stay with the host that holds them
        details.facts.push_back(
            { QObject::tr("Sends over the WAN"), QObject::tr("%1 per iteration").arg(formatBytes(bytes)), {} });
    return details;
}

Details itemDetails(const Evaluation &evaluation, const MapItem &item)
{
    if (!evaluation.plan)
        return {};
    switch (item.kind) {
    case MapItem::Kind::Link:
        return linkDetails(evaluation, item.link);
    case MapItem::Kind::Island:
        return datacenterDetails(evaluation, item.island);
    case MapItem::Kind::Pool:
        return gpuDetails(evaluation, item.island, item.pool, 0, 0);
    case MapItem::Kind::Gpus:
        return gpuDetails(evaluation, item.island, item.pool, item.firstGpu, item.gpus);
    case MapItem::Kind::None:
        break;
    }
    return {};
}

} // namespace trainyard

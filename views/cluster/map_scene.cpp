// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/map_scene.h"

#include "core/iteration/placement/degrees.h"
#include "models/text/format.h"
#include "models/text/gpu_name.h"
#include "views/cluster/link_scene.h"
#include "views/cluster/map_jobs.h"

#include <QLocale>
#include <QStringList>

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

constexpr std::size_t kAllLinksShown = 3; // or as many as there are datacenters: all of them are shown

QString text(const std::string &s)
{
    return QString::fromStdString(s);
}

QString gpuCount(int gpus)
{
    return QLocale(QLocale::English).toString(gpus);
}

/// Runs of the evaluation that belong to this pool; found by ids where the evaluation is of a neighbouring plan.
void addRuns(const Plan &plan, const Evaluation &evaluation, MapScene &scene)
{
    if (!evaluation.plan)
        return;
    const Cluster &from = evaluation.plan->cluster;
    for (const GpuRun &run : evaluation.layout.runs) {
        if (run.datacenter < 0 || run.datacenter >= int(from.datacenters.size()))
            continue;
        const Datacenter &source = from.datacenters[std::size_t(run.datacenter)];
        const int island = plan.cluster.indexOf(source.id);
        if (island < 0 || run.pool < 0 || run.pool >= int(source.pools.size()))
            continue;
        const auto &pools = plan.cluster.datacenters[std::size_t(island)].pools;
        const auto pool = std::ranges::find(pools, source.pools[std::size_t(run.pool)].id, &Pool::id);
        if (pool == pools.end())
            continue;
        PoolScene &target = scene.islands[std::size_t(island)].pools[std::size_t(pool - pools.begin())];
        GpuRun clipped = run;
        clipped.gpus = std::min(run.gpus, int(target.stageOfGpu.size()) - run.firstGpu);
        if (clipped.gpus <= 0 || run.firstGpu < 0)
            continue;
        std::fill_n(target.stageOfGpu.begin() + run.firstGpu, clipped.gpus, run.stage);
        target.runs.push_back(clipped);
    }
}

/// In an evaluated cluster a GPU without a run is idle; `reasons` come with the layout.
void addIdle(const Evaluation &evaluation, MapScene &scene)
{
    for (IslandScene &island : scene.islands) {
        for (PoolScene &pool : island.pools) {
            std::ranges::replace(pool.stageOfGpu, kUnknownStage, kIdleStage);
            island.idle += int(std::ranges::count(pool.stageOfGpu, kIdleStage));
        }
    }
    for (const IdleGpus &idle : evaluation.layout.idle) {
        if (idle.datacenter < 0 || idle.datacenter >= int(scene.islands.size()))
            continue;
        auto &pools = scene.islands[std::size_t(idle.datacenter)].pools;
        if (idle.pool >= 0 && idle.pool < int(pools.size()))
            pools[std::size_t(idle.pool)].idleReason = text(idle.reason);
    }
    if (evaluation.layout.data > 0 || evaluation.layout.unplaced.empty())
        return;
    for (IslandScene &island : scene.islands) {
        for (PoolScene &pool : island.pools) {
            if (pool.idleReason.isEmpty())
                pool.idleReason = text(evaluation.layout.unplaced);
        }
    }
}

QString workText(const IslandScene &island, const Layout *layout)
{
    std::set<int> stages;
    std::set<int> pipelines;
    for (const PoolScene &pool : island.pools) {
        for (const GpuRun &run : pool.runs) {
            stages.insert(run.stage);
            for (int p = run.firstPipeline; p < run.firstPipeline + run.pipelines && pipelines.size() < 4096; ++p)
                pipelines.insert(p);
        }
    }
    if (stages.empty())
        return {};
    if (layout && layout->mode == PlacementMode::DataAcross && !pipelines.empty()) {
        const int first = *pipelines.begin() + 1, last = *pipelines.rbegin() + 1;
        return first == last ? QStringLiteral("pipeline %1").arg(first)
                             : QStringLiteral("pipelines %1–%2").arg(first).arg(last);
    }
    return stageText({ stages.begin(), stages.end() });
}

void addTexts(IslandScene &island, const Layout *layout)
{
    for (GroupScene &group : island.groups) {
        int gpus = 0;
        for (const int pool : group.pools)
            gpus += int(island.pools[std::size_t(pool)].stageOfGpu.size());
        group.label =
            QStringLiteral("%1 × %2").arg(gpuCount(gpus), island.pools[std::size_t(group.pools.front())].gpuName);
    }
    const QString work = island.work.isEmpty() ? workText(island, layout) : island.work;
    if (island.groups.empty())
        island.hardware = QStringLiteral("empty");
    else
        island.hardware = island.groups.size() == 1 ? island.groups.front().label : gpusText(island.gpus);
    island.count = gpuCount(island.gpus);
    island.subtitle = island.hardware;
    if (!work.isEmpty())
        island.subtitle += QStringLiteral(" · ") + work;
    if (island.idle > 0)
        island.idleText = QStringLiteral("%1 idle").arg(gpuCount(island.idle));
}

IslandScene buildIsland(const Datacenter &datacenter)
{
    IslandScene island;
    island.id = text(datacenter.id);
    island.title = text(datacenter.label());
    island.gpus = datacenter.gpus();
    for (std::size_t p = 0; p < datacenter.pools.size(); ++p) {
        const Pool &pool = datacenter.pools[p];
        PoolScene scene { shortGpuName(pool), pool.nodes, pool.gpusPerNode, {}, {}, {} };
        scene.stageOfGpu.assign(std::size_t(std::max(0, pool.gpus())), kUnknownStage);
        const auto same = std::ranges::find_if(island.groups, [&](const GroupScene &group) {
            return island.pools[std::size_t(group.pools.front())].gpuName == scene.gpuName;
        });
        if (same == island.groups.end())
            island.groups.push_back({ {}, { int(p) } });
        else
            same->pools.push_back(int(p));
        island.pools.push_back(std::move(scene));
    }
    return island;
}

} // namespace

QString stageText(std::vector<int> stages)
{
    if (stages.empty())
        return {};
    std::ranges::sort(stages);
    stages.erase(std::ranges::unique(stages).begin(), stages.end());
    QStringList parts;
    for (std::size_t i = 0; i < stages.size();) {
        std::size_t j = i;
        while (j + 1 < stages.size() && stages[j + 1] == stages[j] + 1)
            ++j;
        parts +=
            i == j ? QString::number(stages[i] + 1) : QStringLiteral("%1–%2").arg(stages[i] + 1).arg(stages[j] + 1);
        i = j + 1;
    }
    const QString noun = stages.size() == 1 ? QStringLiteral("stage ") : QStringLiteral("stages ");
    if (parts.size() > 4)
        return QStringLiteral("%1 stages").arg(stages.size());
    if (parts.size() == 1)
        return noun + parts.front();
    const QString last = parts.takeLast();
    return noun + parts.join(QStringLiteral(", ")) + QStringLiteral(" and ") + last;
}

MapScene buildScene(const Plan &plan, const Evaluation *evaluation)
{
    MapScene scene;
    scene.gpus = plan.cluster.gpus();
    scene.stages = std::max(1, degreesOf(plan).pipeline);
    scene.tensor = std::max(1, degreesOf(plan).tensor);
    for (const Datacenter &datacenter : plan.cluster.datacenters)
        scene.islands.push_back(buildIsland(datacenter));
    const bool matches = evaluation && evaluation->plan && evaluation->plan->cluster == plan.cluster;
    if (evaluation && evaluation->metrics.jobs)
        addJobs(plan, *evaluation, scene);
    else if (evaluation)
        addRuns(plan, *evaluation, scene);
    if (matches)
        addIdle(*evaluation, scene);
    for (IslandScene &island : scene.islands)
        addTexts(island, evaluation ? &evaluation->layout : nullptr);
    for (std::size_t i = 0; i < plan.cluster.wanLinks.size(); ++i) {
        const WanLink &link = plan.cluster.wanLinks[i];
        scene.links.push_back(buildLink(plan, link, evaluation ? useOf(*evaluation, link, i) : nullptr, matches));
    }
    // Of many links those that carry nothing would only hide those that do; few may all show.
    const bool areFew = scene.links.size() <= std::max<std::size_t>(kAllLinksShown, scene.islands.size());
    for (LinkScene &link : scene.links)
        link.isResting = link.isUsed || areFew;
    scene.summary = QStringLiteral("%1 · %2").arg(gpusText(scene.gpus),
        countOf(qint64(scene.islands.size()), QStringLiteral("datacenter"), QStringLiteral("datacenters")));
    return scene;
}

QStringList islandCard(const MapScene &scene, int island)
{
    if (island < 0 || island >= int(scene.islands.size()))
        return {};
    const IslandScene &place = scene.islands[std::size_t(island)];
    QStringList lines { place.title, place.subtitle };
    if (place.groups.size() > 1) {
        for (const GroupScene &group : place.groups)
            lines += group.label;
    }
    if (place.idle > 0)
        lines += place.idleText;
    return lines;
}

QStringList gpuCard(const MapScene &scene, int island, int pool, int gpu)
{
    if (island < 0 || island >= int(scene.islands.size()))
        return {};
    const IslandScene &place = scene.islands[std::size_t(island)];
    if (pool < 0 || pool >= int(place.pools.size()) || gpu < 0
        || gpu >= int(place.pools[std::size_t(pool)].stageOfGpu.size()))
        return {};
    const PoolScene &hardware = place.pools[std::size_t(pool)];
    const int perNode = std::max(1, hardware.gpusPerNode);
    QStringList lines {
        QStringLiteral("%1 · node %2 · GPU %3").arg(place.title).arg(gpu / perNode + 1).arg(gpu % perNode + 1)
    };
    const int stage = hardware.stageOfGpu[std::size_t(gpu)];
    if (scene.hasJobs) // as jobs are pinned to it
        lines = { QStringLiteral("%1 · node %2 · GPU %3")
                      .arg(place.title)
                      .arg(gpu / perNode + 1)
                      .arg(hardware.firstNumber + gpu) };
    if (stage >= 0 && scene.hasJobs) {
        lines += jobLines(hardware, gpu);
    } else if (stage >= 0) {
        const auto run = std::ranges::find_if(
            hardware.runs, [&](const GpuRun &r) { return gpu >= r.firstGpu && gpu < r.firstGpu + r.gpus; });
        QString work = QStringLiteral("stage %1 of %2").arg(stage + 1).arg(scene.stages);
        if (run != hardware.runs.end() && run->pipelines > 0) {
            const int first = run->firstPipeline + 1, last = run->firstPipeline + run->pipelines;
            work += first == last ? QStringLiteral(" · pipeline %1").arg(first)
                                  : QStringLiteral(" · pipelines %1–%2").arg(first).arg(last);
        }
        lines += work;
    } else if (stage == kIdleStage) {
        lines +=
            hardware.idleReason.isEmpty() ? QStringLiteral("idle") : QStringLiteral("idle: ") + hardware.idleReason;
    }
    lines += hardware.gpuName;
    return lines;
}

} // namespace trainyard

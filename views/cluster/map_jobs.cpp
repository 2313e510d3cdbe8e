// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/map_jobs.h"

#include "models/job_spans.h"
#include "models/text/format.h"

#include <QStringList>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace trainyard {

namespace {

constexpr std::size_t kMostNames = 3;

QString jobsText(std::size_t jobs)
{
    return countOf(qint64(jobs), QStringLiteral("job"), QStringLiteral("jobs"));
}

/// "bert-large, gpt-2 and 10 more".
QString namesText(const std::vector<QString> &names)
{
    QStringList shown;
    for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
        shown << names[i];
    const QString text = shown.join(QStringLiteral(" · "));
    return names.size() > kMostNames ? QStringLiteral("%1 · %2 more").arg(text).arg(names.size() - kMostNames) : text;
}

PoolScene *poolNamed(const Plan &plan, MapScene &scene, const std::string &datacenter, const std::string &pool)
{
    const int island = plan.cluster.indexOf(datacenter);
    if (island < 0)
        return nullptr;
    const auto &pools = plan.cluster.datacenters[std::size_t(island)].pools;
    const auto found = std::ranges::find(pools, pool, &Pool::id);
    return found == pools.end() ? nullptr
                                : &scene.islands[std::size_t(island)].pools[std::size_t(found - pools.begin())];
}

} // namespace

void addJobs(const Plan &plan, const Evaluation &evaluation, MapScene &scene)
{
    if (!evaluation.plan || !isOfJobs(evaluation))
        return;
    scene.hasJobs = true;
    for (std::size_t d = 0, number = 0; d < plan.cluster.datacenters.size(); ++d)
        for (std::size_t p = 0; p < plan.cluster.datacenters[d].pools.size(); ++p) {
            scene.islands[d].pools[p].firstNumber = int(number);
            number += std::size_t(std::max(0, plan.cluster.datacenters[d].pools[p].gpus()));
        }
    const auto &results = evaluation.metrics.jobs->perJob;
    std::vector<std::vector<int>> jobsOf(std::size_t(std::max(0, evaluation.plan->cluster.gpus())));
    for (std::size_t job = 0; job < results.size(); ++job)
        for (const int gpu : results[job].ranOn)
            if (gpu >= 0 && gpu < int(jobsOf.size()))
                jobsOf[std::size_t(gpu)].push_back(int(job));
    std::map<const IslandScene *, std::set<int>> ofIsland;
    std::size_t number = 0;
    for (const Datacenter &place : evaluation.plan->cluster.datacenters)
        for (const Pool &pool : place.pools) {
            PoolScene *target = poolNamed(plan, scene, place.id, pool.id);
            for (int gpu = 0; gpu < pool.gpus(); ++gpu, ++number) {
                const std::vector<int> &jobs = jobsOf[number];
                if (!target || gpu >= int(target->stageOfGpu.size()) || jobs.empty())
                    continue;
                target->stageOfGpu[std::size_t(gpu)] = 0;
                target->jobs.resize(target->stageOfGpu.size());
                GpuJobs &of = target->jobs[std::size_t(gpu)];
                of.busy = busyShare(evaluation, int(number));
                for (const int job : jobs)
                    of.names.push_back(QString::fromStdString(results[std::size_t(job)].name));
                const int island = plan.cluster.indexOf(place.id);
                ofIsland[&scene.islands[std::size_t(island)]].insert(jobs.begin(), jobs.end());
            }
        }
    for (IslandScene &island : scene.islands)
        if (const auto found = ofIsland.find(&island); found != ofIsland.end())
            island.work = jobsText(found->second.size());
}

QStringList jobLines(const PoolScene &pool, int gpu)
{
    if (gpu < 0 || gpu >= int(pool.jobs.size()) || pool.jobs[std::size_t(gpu)].names.empty())
        return {};
    const GpuJobs &of = pool.jobs[std::size_t(gpu)];
    return { QStringLiteral("%1 · computes %2 of the time").arg(jobsText(of.names.size()), formatPercent(of.busy)),
        namesText(of.names) };
}

std::vector<int> gpusUnder(const Cluster &cluster, const MapHit &hit)
{
    const auto &places = cluster.datacenters;
    if (hit.island < 0 || hit.island >= int(places.size()))
        return {};
    const Datacenter &place = places[std::size_t(hit.island)];
    const bool isOfPool = hit.pool >= 0 && hit.pool < int(place.pools.size());
    const auto range = [&](int pool, int first, int count) {
        std::vector<int> gpus(std::size_t(std::max(0, count)));
        std::iota(gpus.begin(), gpus.end(), gpuNumber(cluster, hit.island, pool, first));
        return gpus;
    };
    switch (hit.kind) {
    case MapHit::Kind::Gpu:
        return isOfPool ? range(hit.pool, hit.gpu, 1) : std::vector<int>();
    case MapHit::Kind::Node:
        return isOfPool ? range(hit.pool, hit.gpu, place.pools[std::size_t(hit.pool)].gpusPerNode) : std::vector<int>();
    case MapHit::Kind::Pool:
        return isOfPool ? range(hit.pool, 0, place.pools[std::size_t(hit.pool)].gpus()) : std::vector<int>();
    case MapHit::Kind::Island:
    case MapHit::Kind::Title:
        return range(0, 0, place.gpus());
    case MapHit::Kind::None:
    case MapHit::Kind::Handle:
    case MapHit::Kind::Link:
        break;
    }
    return {};
}

} // namespace trainyard

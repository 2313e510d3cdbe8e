// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/names/plan_names.h"

#include "core/facts/plan/key_list.h"
#include "core/iteration/placement/rank_map.h"
#include "models/job_spans.h"
#include "models/sample_plans.h"
#include "models/text/foreign_text.h"
#include "models/text/format.h"
#include "models/text/gpu_name.h"

#include <QCoreApplication>

#include <algorithm>
#include <memory>
#include <unordered_map>

namespace trainyard {

namespace {

/// As they were found when the index was made.
QString named(const char *source)
{
    return QCoreApplication::translate("Names", source);
}

QString textOf(const std::string &text)
{
    return foreignText(QString::fromStdString(text));
}

using Labels = std::unordered_map<std::string, QString>;

Labels labelsOf(const Cluster &cluster)
{
    Labels labels;
    for (const Datacenter &one : cluster.datacenters)
        labels.emplace(one.id, textOf(one.label()));
    return labels;
}

QString labelOf(const Labels &labels, const std::string &id)
{
    const auto found = labels.find(id);
    return found == labels.end() ? textOf(id) : found->second;
}

void addDatacenter(NameIndex &index, const Datacenter &one)
{
    const QString id = QString::fromStdString(one.id), name = textOf(one.label());
    index.add(NamedThing { ThingKind::Datacenter, named("Datacenter"), name, gpusText(one.gpus()), id, id });
    for (std::size_t p = 0; p < one.pools.size(); ++p) {
        const Pool &pool = one.pools[p];
        const QString gpu = shortGpuName(pool), own = QString::fromStdString(pool.id);
        index.add(NamedThing { ThingKind::Pool, named("Pool"), QStringLiteral("%1 · %2").arg(name, gpu),
            gpusText(pool.gpus()), own + u' ' + QString::fromStdString(pool.gpu), id, int(p) });
        index.add(NumberedThings { ThingKind::Node, named("Node"), named("Node %1"),
            QStringList { name, gpu, own }.join(u' '), id + u'/' + QString::number(p), pool.nodes, 1,
            [where = QStringLiteral("%1 · %2").arg(name, gpu)](int) { return where; } });
    }
}

QString placeText(const Cluster &cluster, const GpuSelection &gpu)
{
    const Datacenter &place = cluster.datacenters[std::size_t(gpu.datacenter)];
    const Pool &pool = place.pools[std::size_t(gpu.pool)];
    return named("GPU %1 of node %2, %3")
        .arg(gpu.firstGpu % pool.gpusPerNode + 1)
        .arg(gpu.firstGpu / pool.gpusPerNode + 1)
        .arg(textOf(place.label()));
}

QString valueText(const KeyRow &row, const Plan &plan)
{
    return row.read && row.offset >= 0 ? QString::fromStdString(row.shownText(row.value(plan))) : QString();
}

} // namespace

void addClusterNames(NameIndex &index, const PlanPtr &plan)
{
    const Cluster &cluster = plan->cluster;
    int gpus = 0;
    for (const Datacenter &one : cluster.datacenters) {
        addDatacenter(index, one);
        gpus += one.gpus();
    }
    const Labels labels = labelsOf(cluster);
    for (std::size_t i = 0; i < cluster.wanLinks.size(); ++i) {
        const WanLink &link = cluster.wanLinks[i];
        index.add(NamedThing { ThingKind::Link, named("Link"),
            QStringLiteral("%1 – %2").arg(labelOf(labels, link.between[0]), labelOf(labels, link.between[1])),
            QStringLiteral("%1 · %2").arg(formatSeconds(link.rttMs * 1e-3), formatGbps(link.capacityGbps)),
            QString::fromStdString(link.between[0] + ' ' + link.between[1]), {}, int(i) });
    }
    index.add(NumberedThings { ThingKind::Gpu, named("GPU"), named("GPU %1"), {}, {}, gpus, 0, [plan](int number) {
                                  const auto gpu = gpuOfNumber(plan->cluster, number);
                                  return gpu ? placeText(plan->cluster, *gpu) : QString();
                              } });
    for (std::size_t i = 0; i < plan->jobs.size(); ++i)
        index.add(NamedThing { ThingKind::Job, named("Job"), textOf(plan->jobs[i].name), textOf(plan->jobs[i].model),
            {}, QString::fromStdString(plan->jobs[i].name), int(i) });
}

void addPlacedNames(NameIndex &index, const EvaluationPtr &evaluation)
{
    if (!evaluation || evaluation->layout.data == 0 || isOfJobs(*evaluation))
        return;
    const auto map = std::make_shared<const RankMap>(*evaluation->plan, evaluation->layout);
    index.add(NumberedThings {
        ThingKind::Stage, named("Stage"), named("Stage %1"), {}, {}, map->stages(), 1, [evaluation](int stage) {
            QStringList places;
            for (const PipelineClass &one : evaluation->layout.classes) {
                const int at = one.locations[std::size_t(stage)].datacenter;
                const QString name = textOf(evaluation->plan->cluster.datacenters[std::size_t(at)].label());
                if (!places.contains(name) && places.size() < 3)
                    places << name;
            }
            return places.join(QStringLiteral(", "));
        } });
    index.add(NumberedThings {
        ThingKind::Rank, named("Rank"), named("Rank %1"), {}, {}, map->worldSize(), 0, [evaluation, map](int rank) {
            const RankPlace place = map->placeOf(rank);
            const QString what = named("stage %1, pipeline %2").arg(place.stage + 1).arg(place.replica + 1);
            const auto at = gpuOfRank(*evaluation, rank);
            return at ? what + QStringLiteral(" · ") + placeText(evaluation->plan->cluster, at->gpu) : what;
        } });
}

void addKeyNames(NameIndex &index, const Plan &plan, std::span<const std::string> paths)
{
    for (const std::string &path : paths) {
        const KeyRow &row = planKey(path);
        const QString id = QString::fromStdString(path);
        index.add(NamedThing {
            ThingKind::Key, named("Key"), QString::fromUtf8(row.key.title), valueText(row, plan), id, id });
    }
}

void addModelNames(NameIndex &index, const Catalogue &catalogue)
{
    for (const ModelSpec &model : catalogue.models) {
        const QString id = QString::fromStdString(model.id);
        index.add(NamedThing { ThingKind::Model, named("Model"),
            model.name.empty() ? id : QString::fromStdString(model.name), {}, id, id });
    }
}

void addFileNames(NameIndex &index, const QStringList &recent)
{
    for (const SamplePlan &sample : samplePlans())
        index.add(NamedThing { ThingKind::Sample, named("Sample"), sample.title, {}, sample.id, sample.path });
    for (int i = 0; i < recent.size(); ++i)
        index.add(NamedThing {
            ThingKind::RecentFile, named("Recent"), fileText(recent[i]), pathText(recent[i]), {}, recent[i], i });
}

void addSessionNames(NameIndex &index, const Session &session, const std::string &current)
{
    for (std::size_t i = 0; session.variants.size() > 1 && i < session.variants.size(); ++i) {
        const Variant &one = session.variants[i];
        QStringList about;
        if (one.id == current)
            about << named("shown");
        if (one.id == session.baseline)
            about << named("baseline");
        index.add(
            NamedThing { ThingKind::Variant, named("Variant"), textOf(one.name), about.join(QStringLiteral(" · ")),
                QString::fromStdString(one.note).left(200), QString::fromStdString(one.id), int(i) });
    }
    for (std::size_t i = 0; i < session.decisions.size(); ++i)
        index.add(NamedThing {
            ThingKind::Decision, named("Decision"), textOf(session.decisions[i].text), {}, {}, {}, int(i) });
}

void addAlarmNames(NameIndex &index, std::span<const watch::Alarm> alarms)
{
    for (std::size_t i = 0; i < alarms.size(); ++i)
        index.add(NamedThing { ThingKind::Alarm, named("Alarm"), textOf(alarms[i].sentence),
            alarms[i].isOver() ? named("over") : QString(),
            QString::fromUtf8(watch::nameOf(alarms[i].kind)) + u' ' + QString::fromStdString(alarms[i].place),
            QString::fromStdString(alarms[i].place), int(i) });
}

std::optional<GpuSelection> gpusOfNode(const Plan &plan, const NamedThing &node)
{
    const qsizetype slash = node.id.lastIndexOf(u'/');
    GpuSelection gpus;
    gpus.datacenter = plan.cluster.indexOf(node.id.left(slash).toStdString());
    gpus.pool = node.id.mid(slash + 1).toInt();
    if (slash < 0 || gpus.datacenter < 0)
        return std::nullopt;
    const auto &pools = plan.cluster.datacenters[std::size_t(gpus.datacenter)].pools;
    if (gpus.pool < 0 || gpus.pool >= int(pools.size()) || node.number < 0
        || node.number >= pools[std::size_t(gpus.pool)].nodes)
        return std::nullopt;
    gpus.gpus = pools[std::size_t(gpus.pool)].gpusPerNode;
    gpus.firstGpu = node.number * gpus.gpus;
    return gpus;
}

/// Within a run each pipeline has its tensor × context GPUs, pipelines in their order.
std::optional<GpuOfRank> gpuOfRank(const Evaluation &evaluation, int rank)
{
    const Layout &layout = evaluation.layout;
    const RankMap map(*evaluation.plan, layout);
    if (rank < 0 || rank >= map.worldSize())
        return std::nullopt;
    const RankPlace place = map.placeOf(rank);
    const auto isHere = [&](int first, int count) { return place.replica >= first && place.replica < first + count; };
    const auto of = std::ranges::find_if(
        layout.classes, [&](const PipelineClass &one) { return isHere(one.firstPipeline, one.pipelines); });
    for (const GpuRun &run : layout.runs) {
        if (run.stage != place.stage || run.pipelines == 0 || !isHere(run.firstPipeline, run.pipelines))
            continue;
        const int each = run.gpus / run.pipelines;
        const int within = rank - map.rankOf({ place.replica, place.stage, 0, 0, 0 });
        return GpuOfRank { { run.datacenter, run.pool,
                               run.firstGpu + (place.replica - run.firstPipeline) * each + std::min(within, each - 1),
                               1 },
            place.stage, of == layout.classes.end() ? 0 : int(of - layout.classes.begin()) };
    }
    return std::nullopt;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/map_changes.h"

#include "models/text/foreign_text.h"
#include "models/text/format.h"
#include "models/text/gpu_name.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace trainyard {

namespace {

constexpr double kNoUse = 0.01; // of the iteration: less is no change of a link's use

QString mapText(const char *source)
{
    return QCoreApplication::translate("MapChanges", source);
}

QString numberText(double value)
{
    return QLocale(QLocale::English).toString(value, 'g', 6);
}

QString signedCount(int count)
{
    return (count < 0 ? QStringLiteral("−") : QStringLiteral("+")) + numberText(std::abs(count));
}

QString arrow(const QString &before, const QString &after)
{
    return before + QStringLiteral(" → ") + after;
}

/// Ids of both, those of the first in its order.
std::vector<std::string> datacentersOf(const Cluster &before, const Cluster &after)
{
    std::vector<std::string> ids;
    for (const Cluster *cluster : { &before, &after })
        for (const Datacenter &one : cluster->datacenters)
            if (std::ranges::find(ids, one.id) == ids.end())
                ids.push_back(one.id);
    return ids;
}

const Datacenter *datacenterIn(const Cluster &cluster, const std::string &id)
{
    const int index = cluster.indexOf(id);
    return index < 0 ? nullptr : &cluster.datacenters[std::size_t(index)];
}

QString labelOf(const Cluster &before, const Cluster &after, const std::string &id)
{
    const Datacenter *one = datacenterIn(after, id);
    if (!one)
        one = datacenterIn(before, id);
    return foreignText(QString::fromStdString(one ? one->label() : id));
}

/// By the type's name.
std::map<QString, int> gpusByType(const Datacenter *datacenter)
{
    std::map<QString, int> counts;
    if (datacenter)
        for (const Pool &pool : datacenter->pools)
            counts[shortGpuName(pool)] += pool.gpus();
    return counts;
}

void addGpuChanges(const Cluster &before, const Cluster &after, std::vector<MapChange> &changes)
{
    for (const std::string &id : datacentersOf(before, after)) {
        const Datacenter *old = datacenterIn(before, id), *now = datacenterIn(after, id);
        if (!old || !now) {
            const int gpus = (old ? old : now)->gpus();
            const QString text = old ? mapText("Datacenter removed, %1") : mapText("Datacenter added, %1");
            changes.push_back(
                { MapChange::Kind::Gpus, { id }, {}, signedCount(now ? gpus : -gpus), text.arg(gpusText(gpus)) });
            continue;
        }
        std::map<QString, std::pair<int, int>> counts;
        for (const auto &[type, count] : gpusByType(old))
            counts[type].first = count;
        for (const auto &[type, count] : gpusByType(now))
            counts[type].second = count;
        for (const auto &[type, both] : counts)
            if (both.first != both.second)
                changes.push_back({ MapChange::Kind::Gpus, { id }, {}, signedCount(both.second - both.first),
                    mapText("%1: %2 GPUs").arg(type, arrow(numberText(both.first), numberText(both.second))) });
    }
}

/// GPUs of a stage by datacenter id.
using Places = std::map<std::string, int>;

std::map<int, Places> placesByStage(const Evaluation &evaluation)
{
    std::map<int, Places> stages;
    const auto &datacenters = evaluation.plan->cluster.datacenters;
    for (const GpuRun &run : evaluation.layout.runs)
        if (run.datacenter >= 0 && std::size_t(run.datacenter) < datacenters.size())
            stages[run.stage][datacenters[std::size_t(run.datacenter)].id] += run.gpus;
    return stages;
}

int gpusIn(const Places &places)
{
    int sum = 0;
    for (const auto &[id, gpus] : places)
        sum += gpus;
    return sum;
}

/// More replicas are no move: then only where the stage lies counts.
bool isMoved(const Places &before, const Places &after)
{
    if (gpusIn(before) == gpusIn(after))
        return before != after;
    return !std::ranges::equal(before, after, {}, &Places::value_type::first, &Places::value_type::first);
}

/// "Virginia", "16 GPUs in Virginia, 16 GPUs in Oregon".
QString placesText(const Places &places, const Cluster &before, const Cluster &after)
{
    QStringList texts;
    for (const auto &[id, gpus] : places) {
        const QString label = labelOf(before, after, id);
        texts << (places.size() == 1 ? label : mapText("%1 in %2").arg(gpusText(gpus), label));
    }
    return texts.join(QStringLiteral(", "));
}

/// "Stage 5", "Stages 1, 5–8", from 1.
QString stagesText(const std::vector<int> &stages)
{
    QStringList parts;
    for (std::size_t i = 0; i < stages.size();) {
        std::size_t last = i;
        while (last + 1 < stages.size() && stages[last + 1] == stages[last] + 1)
            ++last;
        parts << (last == i ? QString::number(stages[i] + 1)
                            : QStringLiteral("%1–%2").arg(stages[i] + 1).arg(stages[last] + 1));
        i = last + 1;
    }
    return (stages.size() == 1 ? mapText("Stage %1") : mapText("Stages %1")).arg(parts.join(QStringLiteral(", ")));
}

void addStageChanges(const Evaluation &before, const Evaluation &after, std::vector<MapChange> &changes)
{
    const auto old = placesByStage(before), now = placesByStage(after);
    const std::size_t first = changes.size();
    std::vector<std::pair<Places, Places>> moves; // of changes[first…]
    for (const auto &[stage, from] : old) {
        const auto found = now.find(stage);
        if (found == now.end() || !isMoved(from, found->second))
            continue;
        const std::pair move(from, found->second);
        const auto alike = std::size_t(std::ranges::find(moves, move) - moves.begin());
        if (alike == moves.size()) {
            moves.push_back(move);
            changes.push_back({ MapChange::Kind::Stages, {}, {}, {}, {} });
        }
        changes[first + alike].stages.push_back(stage);
    }
    const Cluster &c = before.plan->cluster, &d = after.plan->cluster;
    for (std::size_t i = 0; i < moves.size(); ++i) {
        MapChange &change = changes[first + i];
        const auto &[from, to] = moves[i];
        for (const std::string &id : datacentersOf(c, d))
            if ((from.contains(id) ? from.at(id) : 0) != (to.contains(id) ? to.at(id) : 0))
                change.datacenters.push_back(id);
        change.text = QStringLiteral("%1: %2").arg(
            stagesText(change.stages), arrow(placesText(from, c, d), placesText(to, c, d)));
    }
}

const WanLinkUse *useOfLink(const Evaluation &evaluation, int link)
{
    const auto found = std::ranges::find(evaluation.metrics.wanLinks, link, &WanLinkUse::link);
    return found == evaluation.metrics.wanLinks.end() ? nullptr : &*found;
}

/// What differs of a link that both have; empty: nothing.
QStringList linkDifferences(const WanLink &before, const WanLink &after, const WanLinkUse *used, const WanLinkUse *use)
{
    QStringList texts;
    const auto add = [&texts](double one, double two, const char *source) {
        if (one != two)
            texts << mapText(source).arg(arrow(numberText(one), numberText(two)));
    };
    add(before.rttMs, after.rttMs, "round trip %1 ms");
    add(before.nodePairGbps, after.nodePairGbps, "%1 Gbps per node pair");
    add(before.capacityGbps, after.capacityGbps, "capacity %1 Gbps");
    add(before.tcpWindowMb, after.tcpWindowMb, "TCP window %1 MB");
    add(before.lossRate * 100, after.lossRate * 100, "packet loss %1 %");
    const double share = used ? used->usableUtilization : 0, shareNow = use ? use->usableUtilization : 0;
    const double bytes = used ? used->totalBytes() : 0, bytesNow = use ? use->totalBytes() : 0;
    if (std::abs(share - shareNow) >= kNoUse)
        texts << mapText("in use %1 of the iteration").arg(arrow(formatPercent(share), formatPercent(shareNow)));
    if (std::abs(bytes - bytesNow) > kNoUse * std::max(bytes, bytesNow))
        texts << mapText("%1 per iteration").arg(arrow(formatBytes(bytes), formatBytes(bytesNow)));
    if (texts.isEmpty() && (before.jitterMs != after.jitterMs || before.usdPerGb != after.usdPerGb))
        texts << mapText("other jitter or price");
    return texts;
}

QString linkText(const WanLink &link)
{
    return mapText("round trip %1 ms, %2 Gbps per node pair")
        .arg(numberText(link.rttMs), numberText(link.nodePairGbps));
}

void addLinkChanges(const Evaluation &before, const Evaluation &after, std::vector<MapChange> &changes)
{
    const Cluster &old = before.plan->cluster, &now = after.plan->cluster;
    const auto add = [&changes](const WanLink &link, const QString &text) {
        changes.push_back({ MapChange::Kind::Link, { link.between[0], link.between[1] }, {}, {}, text });
    };
    for (std::size_t i = 0; i < old.wanLinks.size(); ++i) {
        const WanLink &link = old.wanLinks[i];
        const int other = now.linkBetween(link.between[0], link.between[1]);
        if (other < 0) {
            add(link, mapText("Link removed: %1").arg(linkText(link)));
            continue;
        }
        QStringList texts =
            linkDifferences(link, now.wanLinks[std::size_t(other)], useOfLink(before, int(i)), useOfLink(after, other));
        if (texts.isEmpty())
            continue;
        texts.front().front() = texts.front().front().toUpper();
        add(link, texts.join(QStringLiteral("; ")));
    }
    for (const WanLink &link : now.wanLinks)
        if (old.linkBetween(link.between[0], link.between[1]) < 0)
            add(link, mapText("Link added: %1").arg(linkText(link)));
}

/// Stages that the layout has; 0 where nothing could be placed.
std::size_t stagesIn(const Evaluation &evaluation)
{
    std::size_t stages = 0;
    for (const PipelineClass &one : evaluation.layout.classes)
        stages = std::max(stages, one.locations.size());
    return stages;
}

} // namespace

MapChanges mapChanges(const Evaluation &before, const Evaluation &after)
{
    MapChanges found;
    addGpuChanges(before.plan->cluster, after.plan->cluster, found.changes);
    const std::size_t old = stagesIn(before), now = stagesIn(after);
    if (before.metrics.jobs || after.metrics.jobs)
        found.whyNoStages = mapText("Jobs have no stages.");
    else if (old != now)
        found.whyNoStages = mapText("%1 stages: which GPUs a stage has is not compared.")
                                .arg(arrow(numberText(double(old)), numberText(double(now))));
    else
        addStageChanges(before, after, found.changes);
    addLinkChanges(before, after, found.changes);
    return found;
}

} // namespace trainyard

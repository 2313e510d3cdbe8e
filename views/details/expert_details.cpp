// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/details/expert_details.h"

#include "models/text/format.h"

#include <QObject>

#include <algorithm>
#include <map>
#include <set>

namespace trainyard {

namespace {

constexpr std::size_t kMostLines = 300; // more are a blot

const Pool &poolOf(const Evaluation &evaluation, StageLocation at)
{
    return evaluation.plan->cluster.datacenters[std::size_t(at.datacenter)].pools[std::size_t(at.pool)];
}

MapItem nodeItem(const Evaluation &evaluation, StageLocation at, int node)
{
    const int gpus = poolOf(evaluation, at).gpusPerNode;
    return { MapItem::Kind::Gpus, at.datacenter, at.pool, node * gpus, gpus, -1 };
}

MapItem gpuItem(const ExpertPlace &place)
{
    return { MapItem::Kind::Gpus, place.at.datacenter, place.at.pool, place.gpu, 1, -1 };
}

QString nodeName(const Evaluation &evaluation, StageLocation at, int node)
{
    const Datacenter &datacenter = evaluation.plan->cluster.datacenters[std::size_t(at.datacenter)];
    return QObject::tr("Node %1, %2").arg(node + 1).arg(QString::fromStdString(datacenter.label()));
}

} // namespace

QString expertName(int expert)
{
    return QObject::tr("Expert %1").arg(expert);
}

ExpertsHere expertsHere(
    const Evaluation &evaluation, const ExpertPlaces &places, StageLocation at, int firstGpu, int gpus)
{
    ExpertsHere here;
    here.stage = places.stage();
    std::map<int, ExpertHere> experts;
    std::map<std::pair<std::pair<int, int>, int>, double> senders; // by datacenter, pool, node
    for (const ExpertPlace &place : places.ranks()) {
        if (place.at != at || place.gpu < firstGpu || place.gpu >= firstGpu + gpus)
            continue;
        for (int e = places.firstExpert(place); e < places.firstExpert(place) + places.expertsEach(); ++e) {
            ExpertHere &entry = experts.try_emplace(e, ExpertHere { e, place.load, 0 }).first->second;
            ++entry.gpus;
        }
        for (const ExpertSender &sender : places.senders(place, SenderKind::Node)) {
            senders[{ { sender.at.datacenter, sender.at.pool }, sender.node }] += sender.bytes;
            here.bytes += sender.bytes;
        }
    }
    for (const auto &[number, expert] : experts)
        here.experts.push_back(expert);
    for (const auto &[from, bytes] : senders) {
        const StageLocation location { from.first.first, from.first.second };
        const MapItem item = nodeItem(evaluation, location, from.second);
        const bool isOwn = location == at && item.firstGpu < firstGpu + gpus && firstGpu < item.firstGpu + item.gpus;
        here.senders.push_back({ nodeName(evaluation, location, from.second), item, bytes,
            here.bytes > 0 ? bytes / here.bytes : 0, isOwn });
    }
    std::ranges::stable_sort(here.senders, std::ranges::greater {}, &SenderHere::bytes);
    if (here.experts.empty())
        here.stage = -1;
    return here;
}

MapTraffic expertTraffic(const Evaluation &evaluation, const ExpertPlaces &places, int expert)
{
    MapTraffic traffic;
    double bytes = 0;
    std::set<int> sites;
    for (const ExpertPlace *holder : places.holders(expert)) {
        traffic.ends.push_back(gpuItem(*holder));
        for (const ExpertSender &sender : places.senders(*holder, SenderKind::Node)) {
            bytes += sender.bytes;
            sites.insert(sender.at.datacenter);
            if (sender.at != holder->at || sender.node != holder->node)
                traffic.flows.push_back(
                    { nodeItem(evaluation, sender.at, sender.node), gpuItem(*holder), sender.bytes });
        }
    }
    std::ranges::stable_sort(traffic.flows, std::ranges::greater {}, &MapFlow::bytes);
    traffic.flows.resize(std::min(traffic.flows.size(), kMostLines));
    const std::size_t holders = traffic.ends.size();
    traffic.title = QObject::tr("%1, stage %2: %3 · %4 a layer to each%5 · Esc hides")
                        .arg(expertName(expert))
                        .arg(places.stage() + 1)
                        .arg(gpusText(int(holders)), formatBytes(holders > 0 ? bytes / double(holders) : 0),
                            sites.size() > 1 ? QObject::tr(", also by WAN") : QString());
    return traffic;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/map_edits.h"

#include "models/text/format.h"

#include <QLocale>
#include <QStringList>

#include <algorithm>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

/// From the last pool and GPU to the first, so that a cut never shifts what is still to be cut.
std::vector<GpuSelection> lastFirst(std::vector<GpuSelection> what)
{
    std::ranges::sort(what, [](const GpuSelection &a, const GpuSelection &b) {
        return std::tie(a.datacenter, a.pool, a.firstGpu) > std::tie(b.datacenter, b.pool, b.firstGpu);
    });
    return what;
}

Expected<Cluster> moved(const Cluster &cluster, const Carry &carry, int to)
{
    if (carry.what.empty())
        return moveGpus(cluster, carry.island, carry.amount, to);
    Cluster next = cluster;
    for (const GpuSelection &part : lastFirst(carry.what)) {
        if (part.datacenter == to)
            continue;
        Expected<Cluster> step = moveGpus(next, part, to);
        if (!step)
            return step;
        next = std::move(*step);
    }
    return next;
}

std::set<int> sources(const Carry &carry)
{
    std::set<int> from;
    if (carry.what.empty())
        from.insert(carry.island);
    for (const GpuSelection &part : carry.what)
        from.insert(part.datacenter);
    return from;
}

const Pool *poolIn(const Cluster &cluster, int datacenter, int pool)
{
    if (datacenter < 0 || datacenter >= int(cluster.datacenters.size()))
        return nullptr;
    const auto &pools = cluster.datacenters[std::size_t(datacenter)].pools;
    return pool >= 0 && pool < int(pools.size()) ? &pools[std::size_t(pool)] : nullptr;
}

/// GPUs go by giving them to a datacenter that is then taken away: one way of cutting pools, tested once.
std::optional<Cluster> withoutGpus(const Cluster &cluster, const std::vector<GpuSelection> &what)
{
    Datacenter bin;
    bin.id = "removed";
    Cluster next = withDatacenter(cluster, bin);
    const int at = int(next.datacenters.size()) - 1;
    Carry carry { what, -1, 0 };
    Expected<Cluster> without = moved(next, carry, at);
    if (without)
        without = withoutDatacenter(*without, at);
    return without ? std::optional(std::move(*without)) : std::nullopt;
}

} // namespace

QString datacenterLabel(const Cluster &cluster, int datacenter)
{
    return QString::fromStdString(cluster.datacenters[std::size_t(datacenter)].label());
}

QString datacenterLabel(const Cluster &cluster, const std::string &id)
{
    const int index = cluster.indexOf(id);
    return index >= 0 ? datacenterLabel(cluster, index) : QString::fromStdString(id);
}

std::optional<MapEdit> clusterEdit(const PlanPtr &plan, Cluster next, QString text)
{
    if (!plan || plan->cluster == next)
        return std::nullopt;
    Plan changed = *plan;
    changed.cluster = std::move(next);
    return MapEdit { std::make_shared<const Plan>(std::move(changed)), std::move(text) };
}

std::optional<MapEdit> moveEdit(const PlanPtr &plan, const Carry &carry, int to)
{
    if (!plan || carry.isEmpty() || to < 0 || to >= int(plan->cluster.datacenters.size()))
        return std::nullopt;
    std::set<int> from = sources(carry);
    from.erase(to);
    if (from.empty())
        return std::nullopt;
    int gpus = carry.what.empty() ? carry.amount : 0;
    for (const GpuSelection &part : carry.what)
        gpus += part.datacenter == to ? 0 : part.gpus;
    Expected<Cluster> next = moved(plan->cluster, carry, to);
    if (!next)
        return std::nullopt;
    const QString target = datacenterLabel(plan->cluster, to);
    const QString text = from.size() == 1
        ? QStringLiteral("Move %1 %2 → %3").arg(gpusText(gpus), datacenterLabel(plan->cluster, *from.begin()), target)
        : QStringLiteral("Move %1 → %2").arg(gpusText(gpus), target);
    return clusterEdit(plan, std::move(*next), text);
}

std::optional<MapEdit> placeEdit(const PlanPtr &plan, int datacenter, Place place)
{
    if (!plan || datacenter < 0 || datacenter >= int(plan->cluster.datacenters.size()))
        return std::nullopt;
    const Datacenter &before = plan->cluster.datacenters[std::size_t(datacenter)];
    const auto from = placeOf(before);
    auto next = from ? withDatacenterAt(plan->cluster, datacenter, place) : std::nullopt;
    if (!next)
        return std::nullopt;
    QStringList trips;
    for (std::size_t l = 0; l < next->wanLinks.size(); ++l) {
        const WanLink &was = plan->cluster.wanLinks[l], &is = next->wanLinks[l];
        if (was.rttMs != is.rttMs)
            trips += QStringLiteral("%1 %2 → %3 ms")
                         .arg(datacenterLabel(*next, is.between[is.between[0] == before.id ? 1 : 0]))
                         .arg(was.rttMs, 0, 'g', 4)
                         .arg(is.rttMs, 0, 'g', 4);
    }
    QString text = QStringLiteral("Move %1 %2 km")
                       .arg(datacenterLabel(*next, datacenter),
                           QLocale(QLocale::English).toString(qRound(greatCircleKm(*from, place))));
    if (!trips.isEmpty())
        text += QStringLiteral(", round trip to ") + trips.join(QStringLiteral(", "));
    return clusterEdit(plan, std::move(*next), text);
}

std::optional<MapEdit> removeEdit(const PlanPtr &plan, const MapSelection &selection)
{
    if (!plan || selection.empty())
        return std::nullopt;
    Cluster next = plan->cluster;
    std::vector<GpuSelection> gpus;
    std::set<int, std::greater<>> islands, links;
    QStringList words;
    int count = 0;
    for (const MapItem &item : selection) {
        const Pool *pool = poolIn(next, item.island, item.pool);
        if (item.kind == MapItem::Kind::Island)
            islands.insert(item.island);
        else if (item.kind == MapItem::Kind::Link)
            links.insert(item.link);
        else if (pool)
            gpus.push_back(item.kind == MapItem::Kind::Pool
                    ? GpuSelection { item.island, item.pool, 0, pool->gpus() }
                    : GpuSelection { item.island, item.pool, item.firstGpu, item.gpus });
    }
    std::erase_if(gpus, [&](const GpuSelection &part) { return islands.contains(part.datacenter); });
    for (const GpuSelection &part : gpus)
        count += part.gpus;
    if (count > 0) {
        const auto without = withoutGpus(next, gpus);
        if (!without)
            return std::nullopt;
        next = *without;
        const bool one =
            std::ranges::all_of(gpus, [&](const GpuSelection &p) { return p.datacenter == gpus.front().datacenter; });
        words += one
            ? QStringLiteral("%1 from %2").arg(gpusText(count), datacenterLabel(plan->cluster, gpus.front().datacenter))
            : gpusText(count);
    }
    for (const int link : links) {
        if (link < 0 || link >= int(next.wanLinks.size()))
            continue;
        const auto &ends = next.wanLinks[std::size_t(link)].between;
        words += QStringLiteral("link %1 – %2")
                     .arg(datacenterLabel(plan->cluster, ends[0]), datacenterLabel(plan->cluster, ends[1]));
        if (auto without = withoutWanLink(next, link))
            next = std::move(*without);
    }
    for (const int island : islands) {
        if (island < 0 || island >= int(next.datacenters.size()))
            continue;
        words += datacenterLabel(next, island);
        if (auto without = withoutDatacenter(next, island))
            next = std::move(*without);
    }
    return clusterEdit(plan, std::move(next), QStringLiteral("Remove ") + words.join(QStringLiteral(", ")));
}

int mostGpus(const Carry &carry, const Cluster &cluster)
{
    if (carry.what.empty())
        return carry.island >= 0 && carry.island < int(cluster.datacenters.size())
            ? cluster.datacenters[std::size_t(carry.island)].gpus()
            : 0;
    if (carry.what.size() > 1)
        return carry.gpus();
    const Pool *pool = poolIn(cluster, carry.what.front().datacenter, carry.what.front().pool);
    return pool ? pool->gpus() : 0;
}

Carry resized(const Carry &carry, const Cluster &cluster, int gpus)
{
    Carry next = carry;
    gpus = std::clamp(gpus, 1, std::max(1, mostGpus(carry, cluster)));
    if (next.what.empty()) {
        next.amount = gpus;
    } else if (next.what.size() == 1) {
        GpuSelection &part = next.what.front();
        part.firstGpu = std::clamp(part.firstGpu, 0, std::max(0, mostGpus(carry, cluster) - gpus));
        part.gpus = gpus;
    }
    return next;
}

int steppedAmount(const Carry &carry, const Cluster &cluster, int direction)
{
    int perNode = 1;
    if (!carry.what.empty()) {
        if (const Pool *pool = poolIn(cluster, carry.what.front().datacenter, carry.what.front().pool))
            perNode = pool->gpusPerNode;
    } else if (carry.island >= 0 && carry.island < int(cluster.datacenters.size())) {
        const auto &pools = cluster.datacenters[std::size_t(carry.island)].pools;
        perNode = pools.empty() ? 1 : pools.back().gpusPerNode;
    }
    perNode = std::max(1, perNode);
    const int now = carry.gpus();
    int next = now;
    if (direction > 0)
        next = now < perNode ? now + 1 : (now / perNode + 1) * perNode;
    else
        next = now <= perNode ? now - 1 : (now - 1) / perNode * perNode;
    return std::clamp(next, 1, std::max(1, mostGpus(carry, cluster)));
}

QString carryText(const Carry &carry, const Cluster &cluster)
{
    const std::set<int> from = sources(carry);
    const bool one = from.size() == 1 && *from.begin() >= 0 && *from.begin() < int(cluster.datacenters.size());
    return one ? gpusText(carry.gpus()) + QStringLiteral(" of ") + datacenterLabel(cluster, *from.begin())
               : gpusText(carry.gpus());
}

} // namespace trainyard

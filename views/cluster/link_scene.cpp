// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/link_scene.h"

#include "models/text/format.h"

#include <QLocale>
#include <QRegularExpression>

#include <algorithm>
#include <cmath>
#include <optional>

namespace trainyard {

namespace {

constexpr double kReached = 0.98; // of a limit: as good as all of it

/// "36.0 ms" -> "36 ms": a label has no room for zeros that say nothing.
QString withoutZeros(QString number)
{
    static const QRegularExpression zeros(QStringLiteral("\\.0+(?= )|(\\.\\d*?[1-9])0+(?= )"));
    return number.replace(zeros, QStringLiteral("\\1"));
}

QString rateText(double gbps)
{
    return gbps < 1000
        ? withoutZeros(formatGbps(gbps))
        : withoutZeros(QLocale(QLocale::English).toString(gbps / 1000, 'f', 1) + QStringLiteral(" Tbps"));
}

QString wholePercent(double share)
{
    return share > 0 && share < 0.01 ? QStringLiteral("<1 %") : QStringLiteral("%1 %").arg(std::lround(share * 100));
}

QString roundTrip(const WanLink &link)
{
    return withoutZeros(formatSeconds(link.rttMs * 1e-3));
}

/// The evaluation's own word for the limit, where it has one.
std::optional<BindingLimit> evaluatedLimit(const WanLinkUse &use)
{
    return use.limitGbps > 0
        ? std::optional(BindingLimit { QString::fromLatin1(toString(use.limit)), use.limitGbps, use.usableUtilization })
        : std::nullopt;
}

} // namespace

const WanLinkUse *useOf(const Evaluation &evaluation, const WanLink &link, std::size_t likely)
{
    if (!evaluation.plan)
        return nullptr;
    const Cluster &cluster = evaluation.plan->cluster;
    const bool isThere = likely < cluster.wanLinks.size() && cluster.wanLinks[likely].between == link.between;
    const int index = isThere ? int(likely) : cluster.linkBetween(link.between[0], link.between[1]);
    const auto &uses = evaluation.metrics.wanLinks;
    if (index >= 0 && std::size_t(index) < uses.size() && uses[std::size_t(index)].link == index)
        return &uses[std::size_t(index)];
    const auto found = std::ranges::find(uses, index, &WanLinkUse::link);
    return index < 0 || found == uses.end() ? nullptr : &*found;
}

BindingLimit bindingLimit(const WanLink &link, const WanLinkUse &use)
{
    if (auto known = evaluatedLimit(use))
        return *known;
    const double pair = std::min(link.nodePairGbps, link.capacityGbps);
    if (use.utilization >= kReached || (link.capacityGbps <= link.nodePairGbps && use.nodePairGbps >= kReached * pair))
        return { QStringLiteral("link capacity"), link.capacityGbps, use.utilization };
    const bool isPair = use.nodePairGbps >= kReached * pair;
    return { isPair ? QStringLiteral("node pair") : QStringLiteral("TCP window"),
        isPair ? link.nodePairGbps : use.nodePairGbps, use.utilization };
}

LinkScene buildLink(const Plan &plan, const WanLink &link, const WanLinkUse *use, bool isCurrent)
{
    LinkScene scene;
    scene.a = plan.cluster.indexOf(link.between[0]);
    scene.b = plan.cluster.indexOf(link.between[1]);
    const auto label = [&](int index, const std::string &id) {
        return QString::fromStdString(index >= 0 ? plan.cluster.datacenters[std::size_t(index)].label() : id);
    };
    scene.name = label(scene.a, link.between[0]) + QStringLiteral(" – ") + label(scene.b, link.between[1]);
    scene.capacityGbps = link.capacityGbps;
    scene.isUsed = use && use->totalBytes() > 0;
    scene.evaluated = use && isCurrent;
    const QString rtt = roundTrip(link);
    scene.brief = scene.tag = rtt;
    scene.head = QStringLiteral("%1 · %2").arg(rtt, rateText(link.capacityGbps));
    if (!scene.evaluated)
        return scene;
    if (!scene.isUsed) {
        scene.foot = QStringLiteral("not used");
        return scene;
    }
    const BindingLimit limit = bindingLimit(link, *use);
    scene.utilization = limit.use;
    scene.tag = wholePercent(limit.use);
    scene.brief = QStringLiteral("%1 · %2").arg(rtt, scene.tag);
    scene.head = QStringLiteral("%1 · %2").arg(rtt, rateText(limit.gbps));
    scene.foot = QStringLiteral("%1 · %2").arg(limit.name, scene.tag);
    return scene;
}

QStringList linkCard(const MapScene &scene, const Plan &plan, const Evaluation *evaluation, int link)
{
    if (link < 0 || link >= int(scene.links.size()) || link >= int(plan.cluster.wanLinks.size()))
        return {};
    const WanLink &wan = plan.cluster.wanLinks[std::size_t(link)];
    QStringList lines { scene.links[std::size_t(link)].name };
    const bool isEvaluated = scene.links[std::size_t(link)].evaluated && evaluation;
    const WanLinkUse *use = isEvaluated ? useOf(*evaluation, wan, std::size_t(link)) : nullptr;
    const bool isMeasured = use && use->isMeasured;
    lines += QStringLiteral("round trip %1 · %2 each way · %3 per node pair%4")
                 .arg(roundTrip(wan), rateText(wan.capacityGbps),
                     rateText(isMeasured ? use->nodePairGbps : wan.nodePairGbps),
                     isMeasured ? QStringLiteral(", measured between these zones") : QString());
    if (!isEvaluated)
        return lines;
    if (!use || use->totalBytes() <= 0)
        return lines + QStringList { QStringLiteral("not used by this plan") };
    lines += QStringLiteral("%1 per iteration, %2 of the capacity")
                 .arg(formatBytes(use->totalBytes()), formatPercent(use->utilization));
    lines += QStringLiteral("%1 per node pair over %2")
                 .arg(rateText(use->nodePairGbps),
                     countOf(qint64(use->tcpConnections), QStringLiteral("TCP connection"),
                         QStringLiteral("TCP connections")));
    const BindingLimit limit = bindingLimit(wan, *use);
    lines += QStringLiteral("bound by: %1, %2, of which %3 is used")
                 .arg(limit.name, rateText(limit.gbps), formatPercent(limit.use));
    return lines;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/alarms/what_if_plans.h"

#include "core/base/number_text.h"
#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/cluster/edits.h"
#include "core/facts/plan/calibration.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard::watch {

namespace {

const WanLinkUse *useOf(const Evaluation &evaluation, int link)
{
    const auto use = std::ranges::find(evaluation.metrics.wanLinks, link, &WanLinkUse::link);
    return use == evaluation.metrics.wanLinks.end() ? nullptr : &*use;
}

} // namespace

Plan openPlan(Plan plan)
{
    plan.placement.mode = PlacementMode::Auto;
    plan.placement.stages.clear();
    plan.parallelism.data.reset();
    return plan;
}

std::vector<MeasuredLink> measuredLinks(const std::vector<LinkRate> &rates)
{
    std::map<std::pair<int, int>, MeasuredLink> links;
    for (const LinkRate &rate : rates) {
        if (!(rate.bytesPerSecond > 0) || !(rate.planned > 0) || rate.from == rate.to)
            continue;
        const auto [entry, isNew] = links.try_emplace(std::minmax(rate.from, rate.to));
        MeasuredLink &link = entry->second;
        link.a = entry->first.first;
        link.b = entry->first.second;
        if (isNew || rate.share() < link.share()) {
            link.bytesPerSecond = rate.bytesPerSecond;
            link.planned = rate.planned;
        }
        link.plannedLatency = std::max(link.plannedLatency, rate.plannedLatency);
        if (std::isfinite(rate.latencySeconds)) {
            link.latencySeconds = std::max(link.latencySeconds, rate.latencySeconds);
            link.isLatencyTold = true;
        }
    }
    std::vector<MeasuredLink> result;
    for (auto &[ends, link] : links) {
        if (!link.isLatencyTold)
            link.latencySeconds = link.plannedLatency;
        result.push_back(link);
    }
    return result;
}

void setMeasured(Plan &plan, const MeasuredLink &link, const Evaluation &evaluation)
{
    const auto &datacenters = plan.cluster.datacenters;
    const std::string &a = datacenters[static_cast<std::size_t>(link.a)].id,
                      &b = datacenters[static_cast<std::size_t>(link.b)].id;
    const int index = plan.cluster.linkBetween(a, b);
    const WanLinkUse *use = useOf(evaluation, index);
    if (use && use->limit == WanLimit::LinkCapacity && index >= 0)
        plan.cluster.wanLinks[static_cast<std::size_t>(index)].capacityGbps *= std::min(1.0, link.share());
    CalibrationFactor factor;
    factor.what = CalibratedPart::Wan;
    factor.between = { a, b };
    constexpr double kLeastRate = 1e-6, kMostRate = 1e5, kMostLatency = 1e7; // what factors may be
    factor.gbytesPerS = std::clamp(link.bytesPerSecond * 1e-9, kLeastRate, kMostRate);
    factor.latencyUs = std::clamp(link.latencySeconds * 1e6, 0.0, kMostLatency);
    factor.recording = "live";
    std::string id = "wan-" + a + "-" + b;
    for (auto entry = plan.calibration.begin(); entry != plan.calibration.end();) {
        const auto known = parseCalibrationFactor(entry->second, entry->first);
        const bool isWan = known && known->what == CalibratedPart::Wan;
        if (isWan && known->between.empty()) // of all links: this one has to come behind it
            id = std::max(id, entry->first + "-" + a + "-" + b);
        const bool isSame = isWan && std::ranges::is_permutation(known->between, factor.between);
        entry = isSame ? plan.calibration.erase(entry) : std::next(entry);
    }
    plan.calibration[id] = formatCalibrationFactor(factor);
}

std::string changeOf(const MeasuredLink &link, const Cluster &cluster)
{
    const auto label = [&](int at) { return cluster.datacenters[static_cast<std::size_t>(at)].label(); };
    std::string text = label(link.a) + "–" + label(link.b) + " " + plainText(link.bytesPerSecond * 8e-9)
        + " instead of " + gbpsText(link.planned * 8e-9) + " per node pair";
    if (link.isLatencyTold)
        text += ", RTT " + secondsText(2 * link.latencySeconds);
    return text;
}

Expected<Cluster> withoutNode(const Cluster &cluster, int datacenter, int pool)
{
    const auto d = static_cast<std::size_t>(datacenter), p = static_cast<std::size_t>(pool);
    const bool hasMore = datacenter >= 0 && d < cluster.datacenters.size() && pool >= 0
        && p < cluster.datacenters[d].pools.size() && cluster.datacenters[d].pools[p].nodes > 1;
    if (!hasMore)
        return withoutPool(cluster, datacenter, pool);
    Cluster next = cluster;
    --next.datacenters[d].pools[p].nodes;
    return next;
}

} // namespace trainyard::watch

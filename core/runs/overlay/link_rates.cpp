// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/link_rates.h"

#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/cluster/wan.h"
#include "core/facts/plan/calibration.h"
#include "core/runs/overlay/span_index.h"
#include "core/runs/overlay/transfer_walk.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kLeastTransfers = 5;
constexpr double kSlowShare = 0.9; // of plan

/// One way: a calibration's where it has one.
double latencyOf(const WanLink &link, const Calibration &factors)
{
    double seconds = roundTripMs(link) / 2e3;
    for (const auto &[id, factor] : factors) {
        const bool isMeant = factor.between.empty() || std::ranges::is_permutation(factor.between, link.between);
        if (factor.what == CalibratedPart::Wan && factor.latencyUs && isMeant)
            seconds = *factor.latencyUs * 1e-6;
    }
    return seconds;
}

} // namespace

LinkRates::LinkRates(const Evaluation &plan)
    : m_plan(plan)
{
    if (!plan.plan || plan.layout.data <= 0)
        return;
    const Cluster &cluster = plan.plan->cluster;
    const Calibration factors = calibrationOf(*plan.plan).value_or(Calibration());
    for (std::size_t i = 0; i < cluster.wanLinks.size(); ++i) {
        const WanLink &link = cluster.wanLinks[i];
        const int a = cluster.indexOf(link.between[0]), b = cluster.indexOf(link.between[1]);
        const auto use = std::ranges::find(plan.metrics.wanLinks, static_cast<int>(i), &WanLinkUse::link);
        const bool isUsed = use != plan.metrics.wanLinks.end() && use->nodePairGbps > 0;
        double gbps = isUsed ? use->nodePairGbps : link.nodePairGbps;
        if (isUsed && use->limit == WanLimit::NodeNics && use->limitGbps > 0)
            gbps = std::min(gbps, use->limitGbps);
        if (a >= 0 && b >= 0)
            m_links[std::minmax(a, b)] = { gbps * 1e9 / 8, latencyOf(link, factors) };
    }
    const Timeline &timeline = plan.timeline;
    for (const Track &track : timeline.tracks) {
        if (track.stream != Stream::Wan || track.toStage < 0)
            continue;
        std::vector<double> rates;
        for (std::uint32_t span = track.first; span < track.last; ++span)
            if (const Nanoseconds took = timeline.end[span] - timeline.start[span]; took > 0)
                rates.push_back(timeline.bytesMoved(span) / (static_cast<double>(took) * 1e-9));
        const double rate = medianOf(std::move(rates));
        if (!(rate > 0))
            continue;
        const auto first = static_cast<std::size_t>(std::max(track.pipelineClass, 0));
        const int members = first < plan.layout.classes.size() ? plan.layout.classes[first].cellMembers : 1;
        for (int member = 0; member < members; ++member) // of a cell: one channel carries all of its classes
            m_ways[{ static_cast<int>(first) + member, track.stage, track.toStage }] = { track.wanLink, rate,
                members > 1 };
    }
}

int LinkRates::datacenterOf(int replica, int stage) const
{
    for (const PipelineClass &pipelines : m_plan.layout.classes)
        if (replica >= pipelines.firstPipeline && replica < pipelines.firstPipeline + pipelines.pipelines)
            return stage >= 0 && static_cast<std::size_t>(stage) < pipelines.locations.size()
                ? pipelines.locations[static_cast<std::size_t>(stage)].datacenter
                : -1;
    return -1;
}

std::vector<LinkRate> LinkRates::of(const Run &run, const RankMap &map, std::span<const RunStep *const> steps) const
{
    if (isEmpty() || !run.recording || run.collectives.empty())
        return {};
    TransferWalk walk(*this, run, map);
    for (const RunStep *step : steps)
        walk.add(*step);
    return walk.rates(static_cast<double>(std::max<std::size_t>(1, steps.size())));
}

std::vector<SlowLink> slowPlannedLinks(const Run &run, const RankMap &map, const Evaluation &plan, double least)
{
    const LinkRates links(plan);
    if (links.isEmpty())
        return {};
    std::vector<const RunStep *> steps;
    for (const bool all : { false, true }) {
        for (const RunStep &step : run.steps)
            if (step.hasSpans() && (all || (!step.isWarmUp && !step.isOutlier)))
                steps.push_back(&step);
        if (!steps.empty())
            break;
    }
    std::vector<LinkRate> rates = links.of(run, map, steps);
    const auto moreSeconds = [](const LinkRate &rate) { return rate.plannedSeconds * (1 / rate.share() - 1); };
    std::erase_if(rates, [&](const LinkRate &rate) {
        return rate.transfers < kLeastTransfers || !(rate.share() > 0) || rate.share() >= kSlowShare
            || moreSeconds(rate) < least;
    });
    std::ranges::stable_sort(
        rates, [&](const LinkRate &a, const LinkRate &b) { return moreSeconds(a) > moreSeconds(b); });
    std::vector<SlowLink> slow;
    const auto &datacenters = plan.plan->cluster.datacenters;
    for (const LinkRate &rate : rates) {
        SlowLink &link = slow.emplace_back();
        const std::string to = datacenters[static_cast<std::size_t>(rate.to)].label();
        link.between = datacenters[static_cast<std::size_t>(rate.from)].label() + " to " + to;
        link.busBytesPerSecond = rate.bytesPerSecond;
        link.expected = rate.planned;
        link.from = rate.from;
        link.to = rate.to;
        link.sentence = "Link " + link.between + " carries " + bytesText(rate.bytesPerSecond) + "/s per node pair, "
            + percentText(rate.share()) + " of plan; each pipeline's transfers take " + secondsText(moreSeconds(rate))
            + " more per step";
    }
    return slow;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/network_causes.h"

#include "core/base/median.h"
#include "core/runs/overlay/communication_kind.h"
#include "core/runs/overlay/link_rates.h"
#include "core/runs/overlay/median_of_others.h"
#include "core/runs/overlay/span_index.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace trainyard {

namespace {

constexpr double kSlowerExchange = 1.04;
constexpr std::size_t kLeastExchanges = 5;
constexpr std::size_t kMostLinks = 16;
constexpr double kLessOfPlan = 0.96; // of a link between datacenters

/// Exchanges of a step that move data as one: seconds of the replay's collectives.
struct TimedExchange {
    std::uint32_t matched = 0;
    int step = 0;
    double seconds = 0;
};

std::vector<TimedExchange> exchangesOf(const Run &run, const StepReplay &replay)
{
    std::map<std::uint32_t, TimedExchange> found;
    for (const ReplayWork &work : replay.works())
        if (work.matched != kNoIndex)
            if (const MatchedCollective &one = run.collectives[work.matched];
                one.leastDuration > 0 && static_cast<int>(one.parts.size()) == one.groupRanks)
                found.try_emplace(work.matched,
                    TimedExchange { work.matched, work.step, static_cast<double>(one.leastDuration) * 1e-9 });
    std::vector<TimedExchange> exchanges;
    for (const auto &[matched, one] : found)
        exchanges.push_back(one);
    return exchanges;
}

std::vector<std::int64_t> measuredDurations(const StepReplay &replay)
{
    std::vector<std::int64_t> durations;
    for (const ReplayWork &work : replay.works())
        durations.push_back(work.duration);
    return durations;
}

/// A link as one names it: the boundary of a pipeline with all its pairs, else the group.
struct NamedLink {
    int replica = -1, stage = -1;
    std::uint32_t group = kNoIndex;
    auto operator<=>(const NamedLink &) const = default;
};

NamedLink linkOf(const Run &run, const RankMap &map, const MatchedCollective &one)
{
    const std::vector<int> &ranks = run.recording->groups[one.group].ranks;
    const bool isKnown =
        ranks.size() == 2 && std::ranges::all_of(ranks, [&](int rank) { return rank >= 0 && rank < map.worldSize(); });
    if (!isKnown || !isTransferName(run.recording->names[one.operation]))
        return { -1, -1, one.group };
    const RankPlace a = map.placeOf(ranks[0]), b = map.placeOf(ranks[1]);
    return { a.replica, std::min(a.stage, b.stage), kNoIndex };
}

struct LinkTimes {
    std::vector<double> seconds;
    double median = 0, error = 0;
};

/// Of links with exchanges of one kind.
struct ExchangeKind {
    std::string operation;
    double bytes = 0;
    int ranks = 0, stage = -1, hosts = 0;
    auto operator<=>(const ExchangeKind &) const = default;
};

/// Hosts that a group's recorded ranks are on.
class Hosts {
public:
    explicit Hosts(const Recording &recording)
    {
        std::map<int, std::string> hosts;
        for (const RankRecording &rank : recording.ranks)
            hosts.try_emplace(rank.rank, rank.host);
        for (const CommunicatorGroup &group : recording.groups) {
            std::set<std::string> own;
            for (const int rank : group.ranks)
                if (const auto known = hosts.find(rank); known != hosts.end())
                    own.insert(known->second);
            m_counts.push_back(static_cast<int>(own.size()));
        }
    }
    [[nodiscard]] int of(std::uint32_t group) const { return m_counts[group]; }

private:
    std::vector<int> m_counts;
};

struct SlowOfLink {
    double taken = 0, usual = 0; // seconds
    std::map<std::uint32_t, double> factors; // by matched collective: usual over its link's median
    std::uint32_t group = kNoIndex; // one of them
};

std::map<NamedLink, SlowOfLink> slowLinksOf(
    const Run &run, const RankMap &map, const std::vector<TimedExchange> &exchanges)
{
    struct OfKind {
        std::map<NamedLink, LinkTimes> links;
        std::vector<double> medians, errors; // sorted
    };
    std::map<ExchangeKind, OfKind> kinds;
    const Hosts hosts(*run.recording);
    struct Placed {
        NamedLink link;
        OfKind *kind = nullptr;
    };
    std::map<std::uint32_t, Placed> placed; // by matched collective
    for (const TimedExchange &exchange : exchanges) {
        const MatchedCollective &one = run.collectives[exchange.matched];
        if (one.group >= run.recording->groups.size())
            continue;
        const NamedLink link = linkOf(run, map, one);
        OfKind &kind =
            kinds[{ run.recording->names[one.operation], one.bytes, one.groupRanks, link.stage, hosts.of(one.group) }];
        kind.links[link].seconds.push_back(exchange.seconds);
        placed[exchange.matched] = { link, &kind };
    }
    for (auto &[key, kind] : kinds) {
        std::erase_if(kind.links, [](const auto &entry) { return entry.second.seconds.size() < kLeastExchanges; });
        for (auto &[link, times] : kind.links) {
            times.median = medianOf(times.seconds);
            times.error = kMedianError * medianDistance(times.seconds, times.median)
                / std::sqrt(static_cast<double>(times.seconds.size()));
            kind.medians.push_back(times.median);
            kind.errors.push_back(times.error);
        }
        std::ranges::sort(kind.medians);
        std::ranges::sort(kind.errors);
    }
    std::map<NamedLink, SlowOfLink> slow;
    for (const auto &[matched, place] : placed) {
        const auto own = place.kind->links.find(place.link);
        if (own == place.kind->links.end() || place.kind->links.size() < 2)
            continue;
        const LinkTimes &times = own->second;
        const double usual = medianOfOthers(place.kind->medians, times.median),
                     error = medianOfOthers(place.kind->errors, times.error);
        if (times.median < kSlowerExchange * usual
            || times.median - usual < kSureErrors * std::hypot(times.error, error))
            continue;
        SlowOfLink &of = slow[place.link];
        of.taken += times.median;
        of.usual += usual;
        of.factors[matched] = usual / times.median;
        of.group = run.collectives[matched].group;
    }
    return slow;
}

std::string linkText(const NamedLink &link, const CommunicatorGroup &group)
{
    if (link.stage >= 0)
        return "stages " + std::to_string(link.stage + 1) + " and " + std::to_string(link.stage + 2) + " of pipeline "
            + std::to_string(link.replica + 1);
    return "group " + (group.name.empty() ? std::to_string(group.ranks.size()) + " ranks" : group.name);
}

void addLinksOfPlan(const Run &run, const RankMap &map, const StepReplay &replay, const Evaluation &evaluation,
    std::vector<SlowExchanges> &slow)
{
    const LinkRates links(evaluation);
    if (links.isEmpty())
        return;
    const auto &datacenters = evaluation.plan->cluster.datacenters;
    for (const LinkRate &rate : links.of(run, map, replay.steps())) {
        if (rate.transfers < static_cast<int>(kLeastExchanges) || !(rate.share() > 0) || rate.share() >= kLessOfPlan)
            continue;
        SlowExchanges &one = slow.emplace_back();
        one.where = datacenters[static_cast<std::size_t>(rate.from)].label() + " to "
            + datacenters[static_cast<std::size_t>(rate.to)].label();
        one.ratio = 1 / rate.share();
        one.mended = measuredDurations(replay);
        const auto placeOf = [&](std::uint32_t rank) { return map.placeOf(run.recording->ranks[rank].rank); };
        const auto latency = static_cast<std::int64_t>(
            (std::isfinite(rate.latencySeconds) ? rate.latencySeconds : rate.plannedLatency) * 1e9);
        for (std::size_t i = 0; i < replay.works().size(); ++i) {
            const ReplayWork &work = replay.works()[i];
            if (work.matched == kNoIndex || run.collectives[work.matched].parts.size() != 2)
                continue;
            const MatchedCollective &all = run.collectives[work.matched];
            const RecordedCollective &first =
                run.recording->ranks[all.parts[0].rank].collectives[all.parts[0].collective];
            const bool isSwapped = run.recording->names[first.operation].starts_with("recv");
            const RankPlace from = placeOf(all.parts[isSwapped ? 1 : 0].rank),
                            to = placeOf(all.parts[isSwapped ? 0 : 1].rank);
            if (links.datacenterOf(from.replica, from.stage) != rate.from
                || links.datacenterOf(to.replica, to.stage) != rate.to || work.duration <= latency)
                continue;
            one.mended[i] =
                latency + std::llround(static_cast<double>(work.duration - latency) * std::min(1.0, rate.share()));
        }
    }
}

/// How exchanges scatter about the median of those like them (of one group and size), as logarithms.
class ExchangeScatter {
public:
    ExchangeScatter(const Run &run, const std::vector<TimedExchange> &exchanges)
    {
        std::map<std::tuple<std::uint32_t, std::uint32_t, double>, std::vector<const TimedExchange *>> likes;
        for (const TimedExchange &one : exchanges) {
            const MatchedCollective &of = run.collectives[one.matched];
            likes[{ of.group, of.operation, of.bytes }].push_back(&one);
        }
        for (const auto &[key, all] : likes) {
            std::vector<double> seconds;
            for (const TimedExchange *one : all)
                seconds.push_back(one->seconds);
            const double median = medianOf(std::move(seconds));
            for (const TimedExchange *one : all)
                if (all.size() >= kLeastExchanges)
                    m_deviations[one->matched] = std::log(one->seconds / median);
        }
    }
    [[nodiscard]] double of(std::uint32_t matched) const
    {
        const auto known = m_deviations.find(matched);
        return known == m_deviations.end() ? 0 : known->second;
    }
    /// Median distance of those for which `isMeant`; 0: there are none.
    [[nodiscard]] double spread(auto &&isMeant) const
    {
        std::vector<double> some;
        for (const auto &[matched, deviation] : m_deviations)
            if (isMeant(matched))
                some.push_back(std::abs(deviation));
        return medianOf(std::move(some));
    }

private:
    std::map<std::uint32_t, double> m_deviations;
};

} // namespace

std::vector<SlowExchanges> slowLinkExchanges(
    const Run &run, const RankMap &map, const StepReplay &replay, const Evaluation &evaluation)
{
    std::vector<SlowExchanges> found;
    const auto links = slowLinksOf(run, map, exchangesOf(run, replay));
    std::vector<double> more; // seconds
    for (const auto &[link, of] : links)
        more.push_back(of.taken - of.usual);
    std::ranges::sort(more, std::greater {});
    const double least = more.size() > kMostLinks ? more[kMostLinks - 1] : 0; // each costs a replay
    for (const auto &[link, of] : links) {
        if (of.taken - of.usual < least)
            continue;
        SlowExchanges &one = found.emplace_back();
        one.where = linkText(link, run.recording->groups[of.group]);
        one.ratio = of.taken / of.usual;
        one.mended = measuredDurations(replay);
        for (std::size_t i = 0; i < replay.works().size(); ++i)
            if (const auto factor = of.factors.find(replay.works()[i].matched); factor != of.factors.end())
                one.mended[i] = std::llround(static_cast<double>(one.mended[i]) * factor->second);
    }
    addLinksOfPlan(run, map, replay, evaluation, found);
    return found;
}

std::optional<SlowExchanges> slowFabric(const Run &run, const RankMap &map, const StepReplay &replay,
    const Evaluation &evaluation, const PlannedTimes &planned)
{
    struct Sum {
        std::vector<double> bySteps;
        double planned = 0;
    };
    std::map<CommunicationKind, std::map<int, Sum>> sums; // by rank of the job
    std::map<std::uint32_t, CommunicationKind> kinds; // by matched collective
    const std::size_t steps = replay.steps().size();
    const std::vector<TimedExchange> exchanges = exchangesOf(run, replay);
    std::set<std::uint32_t> inside; // matched collectives of one node
    for (const TimedExchange &exchange : exchanges) {
        const MatchedCollective &one = run.collectives[exchange.matched];
        if (one.group >= run.recording->groups.size())
            continue;
        const std::vector<int> &ranks = run.recording->groups[one.group].ranks;
        if (ranks.empty() || std::ranges::any_of(ranks, [&](int rank) { return rank < 0 || rank >= map.worldSize(); }))
            continue;
        if (std::ranges::all_of(
                ranks, [&](int rank) { return rank / planned.domain == ranks.front() / planned.domain; })) {
            inside.insert(exchange.matched);
            continue;
        }
        const CommunicationKind kind = communicationKind(
            { .group = one.group, .operation = one.operation }, *run.recording, map, *evaluation.plan);
        if (kind != CommunicationKind::Gradients && kind != CommunicationKind::Pipeline)
            continue;
        const bool isTransfer = kind == CommunicationKind::Pipeline;
        const RankPlace a = map.placeOf(ranks.front()), b = map.placeOf(ranks.back());
        const PlannedStage *stage = planned.of(a.stage <= b.stage ? a : b, evaluation);
        const double expected = !stage ? 0 : isTransfer ? stage->transfers : stage->gradients;
        if (!(expected > 0) || (isTransfer && std::abs(a.stage - b.stage) != 1))
            continue;
        kinds[exchange.matched] = kind;
        for (const int rank : ranks) { // of a pair its lower stage, which has one such way
            if (isTransfer && map.placeOf(rank).stage != std::min(a.stage, b.stage))
                continue;
            Sum &sum = sums[kind][rank];
            sum.bySteps.resize(steps);
            sum.bySteps[static_cast<std::size_t>(exchange.step)] += exchange.seconds;
            sum.planned = expected;
        }
    }
    SlowExchanges slow;
    std::map<CommunicationKind, double> ratios;
    double taken = 0, usual = 0;
    for (auto &[kind, ofRanks] : sums) {
        std::vector<double> ratiosOfRanks;
        double expected = 0;
        for (auto &[rank, sum] : ofRanks) {
            double mean = 0;
            for (const double seconds : sum.bySteps)
                mean += seconds / static_cast<double>(steps);
            ratiosOfRanks.push_back(mean / sum.planned);
            expected += sum.planned;
        }
        const double ratio = medianOf(std::move(ratiosOfRanks));
        if (ratio < kSlowerExchange)
            continue;
        ratios[kind] = ratio;
        taken += expected * ratio;
        usual += expected;
        slow.where += (slow.where.empty() ? "" : " and ")
            + std::string(kind == CommunicationKind::Gradients ? "gradients" : "transfers between stages");
    }
    if (ratios.empty())
        return std::nullopt;
    slow.ratio = taken / usual;
    slow.mended = measuredDurations(replay);
    // Congestion scatters too: without it exchanges differ as those inside nodes do.
    const ExchangeScatter scatter(run, exchanges);
    const double usualSpread = scatter.spread([&](std::uint32_t matched) { return inside.contains(matched); });
    const double spread = scatter.spread([&](std::uint32_t matched) { return kinds.contains(matched); });
    const double kept = usualSpread > 0 && spread > usualSpread ? usualSpread / spread : 1;
    for (std::size_t i = 0; i < replay.works().size(); ++i)
        if (const auto kind = kinds.find(replay.works()[i].matched); kind != kinds.end())
            if (const auto ratio = ratios.find(kind->second); ratio != ratios.end())
                slow.mended[i] = std::llround(static_cast<double>(slow.mended[i]) / ratio->second
                    * std::exp((kept - 1) * scatter.of(kind->first)));
    return slow;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/transfer_walk.h"

#include "core/base/median.h"
#include "core/evaluation/evaluate/evaluation.h"
#include "core/runs/overlay/span_index.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {

namespace {

constexpr double kLeastLeft = 0.2; // of a duration: more than the rest is never taken for latency
constexpr double kSizesDiffer = 2;
constexpr double kLeastOfLatency = 0.1; // what takes less says nothing of the rate
constexpr double kClearlyMore = 1.33; // than the plan's latency
constexpr double kSentTooSoon = 0.8; // of the seconds that the plan says
constexpr std::size_t kLeastOfSize = 3;

double seconds(Moment nanoseconds)
{
    return static_cast<double>(nanoseconds) * 1e-9;
}

} // namespace

double middleOfDensest(std::vector<double> values)
{
    if (values.size() < 4)
        return medianOf(std::move(values));
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2 + 1;
    std::size_t best = 0;
    for (std::size_t i = 0; i + half <= values.size(); ++i)
        if (values[i + half - 1] - values[i] < values[best + half - 1] - values[best])
            best = i;
    return medianOf(std::vector<double>(
        values.begin() + static_cast<std::ptrdiff_t>(best), values.begin() + static_cast<std::ptrdiff_t>(best + half)));
}

TransferWalk::TransferWalk(const LinkRates &plan, const Run &run, const RankMap &map)
    : m_plan(plan)
    , m_run(run)
    , m_map(map)
    , m_areClocksOne(std::ranges::all_of(run.clockShift, [](Moment shift) { return shift == 0; }))
{
}

TransferWalk::Side TransferWalk::sideOf(const MatchedCollective::Part &part) const
{
    const RankRecording &rank = m_run.recording->ranks[part.rank];
    const RecordedCollective &own = rank.collectives[part.collective];
    const Moment shift = part.rank < m_run.clockShift.size() ? m_run.clockShift[part.rank] : 0;
    return { rank.rank, own.start + shift, own.start + shift + own.duration };
}

int TransferWalk::classOf(int replica) const
{
    const auto &classes = m_plan.m_plan.layout.classes;
    const auto own = std::ranges::find_if(classes, [&](const PipelineClass &one) {
        return replica >= one.firstPipeline && replica < one.firstPipeline + one.pipelines;
    });
    return own == classes.end() ? -1 : static_cast<int>(own - classes.begin());
}

void TransferWalk::add(const RunStep &step)
{
    if (!step.hasSpans())
        return;
    m_before.clear();
    const auto startOf = [&](const MatchedCollective &one) {
        const MatchedCollective::Part &part = one.parts.front();
        return m_run.recording->ranks[part.rank].collectives[part.collective].start;
    };
    auto from = m_run.collectives.begin(), to = m_run.collectives.end();
    if (m_areClocksOne) { // they are in order of these starts
        from = std::ranges::lower_bound(m_run.collectives, step.start, {}, startOf);
        to = std::ranges::lower_bound(from, to, step.end, {}, startOf);
    }
    for (; from != to; ++from)
        addOne(*from, step);
}

void TransferWalk::addOne(const MatchedCollective &one, const RunStep &step)
{
    if (one.groupRanks != 2 || one.parts.size() != 2 || one.bytes <= 0 || one.leastDuration <= 0)
        return;
    Side first = sideOf(one.parts[0]), second = sideOf(one.parts[1]);
    if (first.start < step.start || first.start >= step.end || std::min(first.rank, second.rank) < 0
        || std::max(first.rank, second.rank) >= m_map.worldSize())
        return;
    const std::vector<std::string> &names = m_run.recording->names;
    if (!isTransferName(names[one.operation]))
        return addExchange(one, m_map.placeOf(first.rank), m_map.placeOf(second.rank));
    const RecordedCollective &own = m_run.recording->ranks[one.parts[0].rank].collectives[one.parts[0].collective];
    if (names[own.operation].starts_with("recv"))
        std::swap(first, second);
    addTransfer(one, first, second);
}

void TransferWalk::addTransfer(const MatchedCollective &one, Side sender, Side receiver)
{
    const RankPlace from = m_map.placeOf(sender.rank), to = m_map.placeOf(receiver.rank);
    const int own = classOf(from.replica);
    const auto way = m_plan.m_ways.find({ own, from.stage, to.stage });
    if (way == m_plan.m_ways.end() || from.replica != to.replica)
        return;
    const int a = m_plan.datacenterOf(from.replica, from.stage), b = m_plan.datacenterOf(to.replica, to.stage);
    if (a == b || !m_plan.m_links.contains(std::minmax(a, b)))
        return;
    // Of a cell all pipelines take turns, else each pair of ranks has a connection of its own.
    const PipelineClass &pipelines = m_plan.m_plan.layout.classes[static_cast<std::size_t>(own)];
    const auto key = way->second.isOfCell
        ? std::tuple(-1 - (from.replica - pipelines.firstPipeline), from.stage, to.stage)
        : std::tuple(sender.rank, receiver.rank, 0);
    const auto [before, isFirst] = m_before.try_emplace(key, sender.end, receiver.end);
    Moment begin = sender.start, arrived = receiver.start;
    if (!isFirst) {
        begin = before->second.first < sender.end ? std::max(begin, before->second.first) : begin;
        arrived = before->second.second < receiver.end ? std::max(arrived, before->second.second) : arrived;
        before->second = { std::max(before->second.first, sender.end), std::max(before->second.second, receiver.end) };
    }
    const bool isLate = receiver.start >= sender.end; // it finds all there
    if (!isLate)
        begin = std::max(begin, receiver.start);
    const double ranks = static_cast<double>(m_map.ranksOf(from.stage, from.replica, 1).size());
    Sample sample;
    sample.seconds = seconds(sender.end - begin);
    sample.planned = one.bytes * ranks / way->second.bytesPerSecond;
    if (!(sample.seconds > 0 && sample.planned > 0))
        return;
    sample.endsApart = seconds(receiver.end - sender.end);
    if (!isLate && areClocksJoined(one)) {
        const double latency = m_plan.m_links.at(std::minmax(a, b)).latency;
        sample.arrival = std::min(seconds(receiver.end - begin) - latency, seconds(receiver.end - arrived));
    }
    Direction &direction = m_directions[{ a, b }];
    direction.samples.push_back(sample);
    direction.planned[{ from.replica, to.stage }] += sample.planned / ranks;
}

/// Both send as much as busFactor() says, at once; several of a node share its connections.
void TransferWalk::addExchange(const MatchedCollective &one, const RankPlace &a, const RankPlace &b)
{
    const int from = m_plan.datacenterOf(a.replica, a.stage), to = m_plan.datacenterOf(b.replica, b.stage);
    const auto link = m_plan.m_links.find(std::minmax(from, to));
    if (from == to || from < 0 || to < 0 || link == m_plan.m_links.end() || !(link->second.nodePair > 0))
        return;
    const std::string &operation = m_run.recording->names[one.operation];
    const int own = classOf(a.replica);
    const StageLocation at =
        m_plan.m_plan.layout.classes[static_cast<std::size_t>(own)].locations[static_cast<std::size_t>(a.stage)];
    const int ofNode = m_plan.m_plan.plan->cluster.datacenters[static_cast<std::size_t>(at.datacenter)]
                           .pools[static_cast<std::size_t>(at.pool)]
                           .gpusPerNode;
    Sample sample;
    sample.isTransfer = false;
    sample.seconds = seconds(one.leastDuration);
    sample.latencies = operation == "all_reduce" ? 2 : 1;
    sample.planned = one.bytes * busFactor(operation, 2) * std::max(1, ofNode) / link->second.nodePair;
    if (sample.planned < kLeastOfLatency * link->second.latency) // a barrier, or a loss that all agree on
        return;
    for (const auto &ends : { std::pair(from, to), std::pair(to, from) }) {
        Direction &direction = m_directions[ends];
        direction.samples.push_back(sample);
        direction.planned[{ -1, ends.second == to ? b.stage : a.stage }] += sample.planned / std::max(1, ofNode);
    }
}

bool TransferWalk::areClocksJoined(const MatchedCollective &one) const
{
    const auto &clocks = m_run.alignment.ranks;
    const auto island = [&](const MatchedCollective::Part &part) {
        return part.rank < clocks.size() && clocks[part.rank].refused.empty() ? clocks[part.rank].island : -1;
    };
    return island(one.parts[0]) >= 0 && island(one.parts[0]) == island(one.parts[1]);
}

/// How far receives end behind their sends: nothing where both sides wait for each other to the end, the latency where
/// a send ends as its last byte leaves, more where it ends when some buffer has taken that.
TransferWalk::Latency TransferWalk::latencyOf(const Direction &own, double planned)
{
    std::vector<double> apart, shares;
    for (const Sample &sample : own.samples)
        if (sample.isTransfer && sample.arrival > 0) {
            apart.push_back(sample.endsApart);
            shares.push_back(sample.seconds / sample.planned);
        }
    if (apart.empty())
        return {};
    const double behind = middleOfDensest(apart), sent = middleOfDensest(shares);
    Latency result;
    result.countsArrivals = behind > kClearlyMore * planned && sent < kSentTooSoon;
    result.seen = result.countsArrivals ? 0 : std::max(0.0, behind);
    result.isClear = !result.countsArrivals && apart.size() >= 4 && behind > 0.5 * planned
        && behind > 5 * medianDistance(apart, behind);
    if (!result.isClear)
        result.seen = std::min(result.seen, planned);
    return result;
}

LinkRate TransferWalk::rateOf(const std::pair<int, int> &ends, const Direction &own, double steps) const
{
    const LinkRates::Link &link = m_plan.m_links.at(std::minmax(ends.first, ends.second));
    LinkRate rate { .from = ends.first, .to = ends.second, .transfers = static_cast<int>(own.samples.size()) };
    rate.planned = link.nodePair;
    rate.plannedLatency = link.latency;
    rate.latencySeconds = std::numeric_limits<double>::quiet_NaN();
    for (const auto &[place, planned] : own.planned)
        rate.plannedSeconds = std::max(rate.plannedSeconds, planned / steps);
    const Latency latency = latencyOf(own, link.latency);
    // Seconds by planned seconds: sizes that differ tell latency and rate apart.
    std::map<double, std::vector<double>> bySize;
    for (const Sample &sample : own.samples)
        bySize[sample.planned].push_back(
            latency.countsArrivals && sample.arrival > 0 ? sample.arrival : sample.seconds);
    std::erase_if(bySize, [&](const auto &entry) {
        return entry.second.size() < kLeastOfSize && entry.second.size() < own.samples.size() / 2;
    });
    if (bySize.empty())
        for (const Sample &sample : own.samples)
            bySize[sample.planned].push_back(sample.seconds);
    double n = 0, x = 0, y = 0, xx = 0, xy = 0; // sums, weighted by how many there are
    for (auto &[planned, all] : bySize) {
        const auto weight = static_cast<double>(all.size());
        const double took = middleOfDensest(std::move(all));
        n += weight, x += weight * planned, y += weight * took;
        xx += weight * planned * planned, xy += weight * planned * took;
    }
    const int latencies = own.samples.front().latencies;
    const double slope = (n * xy - x * y) / (n * xx - x * x), left = (y - slope * x) / n;
    double ratio = 0; // measured over planned seconds
    if (bySize.size() > 1 && bySize.rbegin()->first >= kSizesDiffer * bySize.begin()->first && slope > 0 && left >= 0) {
        ratio = slope;
        rate.latencySeconds = left / latencies + (latency.countsArrivals ? link.latency : latency.seen);
    } else {
        const double hidden = latency.countsArrivals ? 0 : latencies * std::max(0.0, link.latency - latency.seen);
        ratio = std::max(y / n - hidden, kLeastLeft * y / n) / (x / n);
        if (latency.isClear)
            rate.latencySeconds = latency.seen;
    }
    rate.bytesPerSecond = ratio > 0 ? rate.planned / ratio : 0;
    return rate;
}

std::vector<LinkRate> TransferWalk::rates(double steps) const
{
    std::vector<LinkRate> result;
    for (const auto &[ends, own] : m_directions)
        if (!own.samples.empty())
            result.push_back(rateOf(ends, own, steps));
    return result;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/nccl_tests_section.h"

#include "core/runs/telemetry/collectives.h"
#include "core/runs/telemetry/readers/reading_bounds_internal.h"

#include <algorithm>
#include <cmath>

namespace trainyard::readers {

namespace {

/// Ranks of which a bus bandwidth of `ratio` times the algorithm bandwidth speaks, for an operation whose ratio depends
/// on them; 0: not to be told.
int ranksOfRatio(const std::string &operation, double ratio)
{
    if (operation != "all_reduce" && busFactor(operation, 2) != 0.5)
        return 0;
    const double others = operation == "all_reduce" ? ratio / 2 : ratio;
    if (!(others > 0.4) || !(others < 0.9995))
        return 0;
    return static_cast<int>(std::lround(1 / (1 - others)));
}

bool isNear(double a, double b)
{
    return std::abs(a - b) < 0.02 * b;
}

} // namespace

void NcclTestsSection::addRank(std::int64_t rank, std::int64_t group, std::string_view host, std::int64_t device)
{
    if (rank < 0 || rank >= kMostRanks)
        return;
    m_highestRank = std::max(m_highestRank, rank);
    m_highestDevice = std::max(m_highestDevice, std::clamp<std::int64_t>(device, -1, 1023));
    ++m_listed;
    if (!host.empty())
        m_hosts.emplace(host);
    m_groups.insert(group);
}

double NcclTestsSection::busRatio() const
{
    std::vector<double> ratios;
    for (const Measured &one : m_measured) // small bandwidths have too few digits
        if (one.algorithm >= 0.5 && one.bus > 0)
            ratios.push_back(one.bus / one.algorithm);
    if (ratios.empty())
        return 0;
    std::ranges::nth_element(ratios, ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2));
    return ratios[ratios.size() / 2];
}

bool NcclTestsSection::isAlone() const
{
    const bool isOne = m_highestRank <= 0 && m_ranksPerProcess == 1;
    return isOne && std::ranges::none_of(m_measured, [](const Measured &one) { return one.bus > 0; });
}

int NcclTestsSection::rankCount(RecordingBuilder &scribe) const
{
    const auto listed = static_cast<int>(std::min(m_highestRank + m_ranksPerProcess, kMostRanks));
    const std::string named = operation.empty() ? "all_reduce" : operation;
    const double ratio = busRatio();
    const int told = ranksOfRatio(named, ratio);
    const auto groups = static_cast<int>(std::max<std::size_t>(m_groups.size(), 1));
    if (groups > 1) {
        scribe.note("It ran in " + std::to_string(groups)
            + " groups at once: ranks and bandwidths are those of one group while all ran");
        return std::max(listed / groups, 1);
    }
    const bool isSure = hasRanks() && m_listed * m_ranksPerProcess >= listed && !m_isListShortened && listed > 1;
    if (isSure || told == 0)
        return hasRanks() ? listed : 0;
    if (hasRanks() && listed != told && (operation.empty() ? listed < 2 : true)
        && !isNear(busFactor(named, listed), ratio)) {
        scribe.note("Its rank list shows " + std::to_string(listed) + (listed == 1 ? " rank" : " ranks")
            + "; by the ratio of its bandwidths there were " + std::to_string(told));
        return told;
    }
    if (!hasRanks() && !operation.empty()) {
        scribe.note(
            "It has no rank list; by the ratio of its bandwidths there were " + std::to_string(told) + " ranks");
        return told;
    }
    return hasRanks() ? listed : 0;
}

int NcclTestsSection::nodeCount(int ranks, RecordingBuilder &scribe) const
{
    if (m_hosts.empty())
        return 0;
    const auto hosts = static_cast<int>(m_hosts.size());
    const auto perHost = static_cast<int>(m_highestDevice + 1);
    if (m_listed * m_ranksPerProcess >= ranks && m_groups.size() < 2 && !m_isListShortened)
        return hosts;
    if (m_groups.size() > 1)
        return hosts;
    if (perHost < 2 && hosts == 1) {
        scribe.note("Its rank list is shortened: " + std::to_string(m_listed) + " of " + std::to_string(ranks)
            + " ranks, which does not tell over how many nodes they ran");
        return 0;
    }
    const int nodes = std::max(hosts, (ranks + perHost - 1) / std::max(perHost, 1));
    scribe.note("Its rank list is shortened: " + std::to_string(m_listed) + " of " + std::to_string(ranks)
        + " ranks; nodes are counted as " + std::to_string(nodes) + ", by the highest device of those listed");
    return nodes;
}

std::string NcclTestsSection::operationOf(int ranks, RecordingBuilder &scribe) const
{
    if (!operation.empty())
        return operation;
    const double ratio = busRatio();
    const Measured &first = m_measured.front();
    const bool reduces = !first.reduction.empty() && first.reduction != "none";
    std::string name;
    if (ratio > 0 && reduces && first.root < 0 && isNear(ratio, busFactor("all_reduce", ranks)))
        name = "all_reduce";
    else if (ratio > 0 && isNear(ratio, busFactor("all_gather", ranks)))
        name = reduces ? "reduce_scatter" : "all_gather";
    else if (ratio > 0 && isNear(ratio, 1))
        name = reduces ? "reduce" : first.root >= 0 ? "broadcast" : "send_recv";
    if (name.empty())
        scribe.note("It does not tell which collective was measured, nor does the ratio of its bandwidths");
    else
        scribe.note("It does not tell which collective was measured; by the ratio of its bandwidths it is " + name);
    return name.empty() ? "collective" : name;
}

void NcclTestsSection::write(RecordingBuilder &scribe) const
{
    if (m_measured.empty())
        return;
    const int ranks = rankCount(scribe);
    const int nodes = nodeCount(ranks, scribe);
    const std::string what = operationOf(ranks, scribe);
    for (const Measured &one : m_measured) {
        BenchmarkPoint point { .what = what, .ranks = ranks, .nodes = nodes, .bytes = one.bytes };
        point.bytesPerSecond = one.algorithm * 1e9;
        point.busBytesPerSecond = one.bus * 1e9;
        point.seconds = one.isCpuTime && one.algorithm > 0 ? one.bytes / point.bytesPerSecond : one.microseconds * 1e-6;
        point.isInPlace = one.isInPlace;
        if (one.isCpuTime)
            scribe.note("Its times are those of the CPU (-C 1): times of operations follow from size and bandwidth");
        scribe.add(point);
    }
}

} // namespace trainyard::readers

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/alarms/sentences.h"

#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/evaluation/evaluate/evaluation.h"

#include <algorithm>
#include <cmath>

namespace trainyard::watch {

std::string wholePercent(double share)
{
    return formatted("%.0f %%", 100 * share);
}

std::string timeOfDay(Moment at, int utcOffsetSeconds)
{
    constexpr std::int64_t kDay = 86400;
    std::int64_t second = (at / 1'000'000'000 + utcOffsetSeconds) % kDay;
    second += second < 0 ? kDay : 0;
    return formatted("%02d:%02d", static_cast<int>(second / 3600), static_cast<int>(second / 60 % 60));
}

std::string rankList(const std::vector<int> &ranks)
{
    if (ranks.size() == 1)
        return "rank " + wholeText(ranks.front());
    const bool isRow = !ranks.empty() && ranks.back() - ranks.front() + 1 == static_cast<int>(ranks.size());
    if (isRow && ranks.size() > 2)
        return "ranks " + wholeText(ranks.front()) + " to " + wholeText(ranks.back());
    constexpr std::size_t kMost = 6;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < std::min(ranks.size(), kMost); ++i)
        texts.push_back(wholeText(ranks[i]));
    if (ranks.size() > kMost)
        texts.push_back(wholeText(double(ranks.size() - kMost)) + " more");
    return "ranks " + joined(texts, ", ", " and ");
}

std::string Sentences::rank(int rank) const
{
    std::string text = "rank " + wholeText(rank);
    if (rank < 0 || rank >= m_watched.map.worldSize())
        return text;
    const RankPlace place = m_watched.map.placeOf(rank);
    return text + " (stage " + std::to_string(place.stage + 1) + ", pipeline " + std::to_string(place.replica + 1)
        + ")";
}

std::string Sentences::datacenter(int index) const
{
    const auto &datacenters = m_watched.plan()->plan->cluster.datacenters;
    return datacenters[static_cast<std::size_t>(index)].label();
}

std::string Sentences::linkPlace(int a, int b) const
{
    const auto &datacenters = m_watched.plan()->plan->cluster.datacenters;
    return "link " + datacenters[static_cast<std::size_t>(std::min(a, b))].id + "–"
        + datacenters[static_cast<std::size_t>(std::max(a, b))].id;
}

std::string Sentences::since(Moment at) const
{
    return at > 0 ? " since " + timeOfDay(at, m_utcOffset) : "";
}

std::string Sentences::atStep(std::int64_t step) const
{
    return step >= 0 ? "Step " + wholeText(static_cast<double>(step)) + ": " : "";
}

std::string Sentences::slowLink(const Alarm &alarm, const LinkRate &rate, const std::optional<Wait> &wait) const
{
    const std::string share = "at " + wholePercent(alarm.share) + " of plan";
    if (wait && wait->more > 0)
        return atStep(alarm.firstStep) + "stage " + std::to_string(wait->stage + 1) + " waits "
            + secondsText(wait->more) + " more for " + datacenter(wait->from) + since(alarm.since) + "; link " + share;
    return atStep(alarm.firstStep) + "link " + datacenter(rate.from) + " to " + datacenter(rate.to) + " " + share
        + since(alarm.since) + ": " + bytesText(rate.planned * alarm.share) + "/s instead of " + bytesText(rate.planned)
        + "/s per node pair";
}

std::string Sentences::straggler(const Alarm &alarm, int others) const
{
    return atStep(alarm.firstStep) + rank(alarm.ranks.front()) + " computes " + wholePercent(alarm.share - 1)
        + " longer than " + (others == 1 ? "the rank" : "the " + wholeText(others) + " ranks") + " like it"
        + since(alarm.since);
}

std::string Sentences::lateHost(const Alarm &alarm) const
{
    return atStep(alarm.firstStep) + rank(alarm.ranks.front()) + " waits " + secondsText(alarm.secondsPerStep)
        + " longer for its host than ranks like it" + since(alarm.since);
}

std::string Sentences::waiting(const Alarm &alarm, int stage, double more) const
{
    return atStep(alarm.firstStep) + "stage " + std::to_string(stage + 1) + " waits " + secondsText(more)
        + " more for others" + since(alarm.since);
}

std::string Sentences::stepTime(const Alarm &alarm, double before, double after) const
{
    return atStep(alarm.firstStep) + "steps take " + secondsText(after) + since(alarm.since) + ", "
        + secondsText(after - before) + " (" + wholePercent((after - before) / before) + ") more than before";
}

std::string Sentences::beyondRange(const Alarm &alarm, double level) const
{
    const Metrics &metrics = m_watched.plan()->metrics;
    const double high = metrics.confidence.iterationHigh.value_or(0);
    return atStep(alarm.firstStep) + "steps take " + secondsText(level) + since(alarm.since) + ", beyond the plan's "
        + secondsText(metrics.iterationTime.value_or(0)) + " and its range, which ends at " + secondsText(high);
}

} // namespace trainyard::watch

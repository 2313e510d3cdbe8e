// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/alarms/alarm_list.h"

#include <algorithm>
#include <tuple>

namespace trainyard::watch {

namespace {

constexpr std::size_t kMostAlarms = 1000;

} // namespace

const char *nameOf(AlarmKind kind)
{
    constexpr const char *kNames[] { "Step time", "Waiting", "Slow link", "Straggler", "Silent", "Memory", "Drift",
        "Hardware" };
    return kNames[static_cast<std::size_t>(kind)];
}

Alarm *AlarmList::holding(AlarmKind kind, const std::string &place)
{
    const auto found = std::ranges::find_if(
        m_all, [&](const Alarm &one) { return one.kind == kind && one.place == place && !one.isOver(); });
    return found == m_all.end() ? nullptr : &*found;
}

void AlarmList::tell(Alarm alarm)
{
    if (Alarm *known = holding(alarm.kind, alarm.place))
        *known = std::move(alarm);
    else
        m_all.push_back(std::move(alarm));
}

void AlarmList::end(AlarmKind kind, const std::string &place, Moment at, std::int64_t lastStep)
{
    if (Alarm *known = holding(kind, place)) {
        known->until = std::max<Moment>(1, at); // 0 would be an alarm that holds
        known->lastStep = std::max(known->firstStep, lastStep);
    }
}

void AlarmList::forget(AlarmKind kind, std::int64_t firstStep)
{
    std::erase_if(
        m_all, [&](const Alarm &one) { return one.kind == kind && (!one.isOver() || one.firstStep >= firstStep); });
}

void AlarmList::sort()
{
    std::ranges::stable_sort(m_all, {}, [](const Alarm &one) {
        return one.isOver() ? std::tuple(1, 0.0, -one.until) : std::tuple(0, -one.secondsPerStep, one.since);
    });
    if (m_all.size() > kMostAlarms)
        m_all.resize(kMostAlarms);
}

} // namespace trainyard::watch

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/desk/alarm_states.h"

#include <algorithm>
#include <tuple>

namespace trainyard::desk {

namespace {

constexpr std::size_t kMostOver = 1000;

} // namespace

void AlarmStates::apply(const AlarmEntry &entry)
{
    if (entry.act == AlarmAct::Raised) {
        m_latest = std::max(m_latest, entry.number);
        m_all[entry.number] = { .number = entry.number,
            .rule = entry.rule,
            .place = entry.place,
            .sentence = entry.sentence,
            .raised = entry.at,
            .since = entry.since };
        return;
    }
    if (entry.number == 0) { // of a rule
        if (entry.act == AlarmAct::Muted)
            m_mutes[entry.rule] = { entry.rule, entry.by, entry.note, entry.until };
        else if (entry.act == AlarmAct::Unmuted)
            m_mutes.erase(entry.rule);
        return;
    }
    const auto found = m_all.find(entry.number);
    if (found == m_all.end())
        return;
    AlarmState &alarm = found->second;
    switch (entry.act) {
    case AlarmAct::Raised:
        break;
    case AlarmAct::Cleared:
        m_over += alarm.holds();
        alarm.cleared = std::max<Moment>(1, entry.at);
        alarm.until = entry.until;
        break;
    case AlarmAct::Acknowledged:
        alarm.acknowledged = entry.at;
        alarm.acknowledgedBy = entry.by;
        alarm.note = entry.note;
        break;
    case AlarmAct::Muted:
        alarm.mutedUntil = entry.until;
        alarm.mutedBy = entry.by;
        break;
    case AlarmAct::Unmuted:
        alarm.mutedUntil = 0;
        alarm.mutedBy.clear();
        break;
    case AlarmAct::Undelivered:
        alarm.undelivered = entry.note;
        break;
    }
    for (auto old = m_all.begin(); m_over > kMostOver && old != m_all.end();)
        if (old->second.holds()) {
            ++old;
        } else {
            old = m_all.erase(old);
            --m_over;
        }
}

const AlarmState *AlarmStates::of(std::int64_t number) const
{
    const auto found = m_all.find(number);
    return found == m_all.end() ? nullptr : &found->second;
}

std::vector<AlarmState> AlarmStates::listed() const
{
    std::vector<AlarmState> list;
    for (const auto &[number, alarm] : m_all)
        list.push_back(alarm);
    std::ranges::sort(list, {}, [](const AlarmState &one) { return std::tuple(!one.holds(), -one.number); });
    return list;
}

bool AlarmStates::isMuted(const AlarmState &alarm, Moment now) const
{
    const auto rule = m_mutes.find(alarm.rule);
    return alarm.mutedUntil > now || (rule != m_mutes.end() && rule->second.until > now);
}

} // namespace trainyard::desk

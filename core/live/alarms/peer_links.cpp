// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/alarms/peer_links.h"

#include <algorithm>
#include <cctype>

namespace trainyard::watch {

void PeerLinks::look(const RunOverlay &overlay, int newSteps, const Sentences &say, AlarmList &book)
{
    const Run &run = *overlay.run;
    const auto hasSpans = [](const RunStep &step) { return step.hasSpans() && !step.isWarmUp; };
    const auto first = std::ranges::find_if(run.steps, hasSpans);
    if (first == run.steps.end())
        return;
    const auto last = std::ranges::find_if(run.steps.rbegin(), run.steps.rend(), hasSpans);
    const auto window = std::ranges::count_if(run.steps, hasSpans);
    std::map<std::string, Seen> still;
    for (const SlowLink &link : overlay.suspects.links) {
        if (link.from >= 0 || link.sentence.empty())
            continue;
        const auto [entry, isNew] = still.try_emplace(link.between);
        if (!isNew)
            continue;
        Seen &seen = entry->second;
        if (const auto known = m_seen.find(link.between); known != m_seen.end())
            seen = known->second;
        else
            seen = { 0, first->number, momentOf(run, *first) };
        seen.steps += newSteps;
        // Windows of a live run overlap: only once nothing is left of the first that showed it, a second one does.
        if (seen.steps < std::max(m_leastSteps, static_cast<int>(window))
            || book.holding(AlarmKind::SlowLink, link.between))
            continue;
        Alarm alarm { .kind = AlarmKind::SlowLink, .place = link.between, .firstStep = seen.first, .since = seen.at };
        alarm.share = link.expected > 0 ? link.busBytesPerSecond / link.expected : 0;
        std::string sentence = link.sentence;
        sentence.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(sentence.front())));
        alarm.sentence = say.atStep(seen.first) + sentence + say.since(seen.at);
        book.tell(std::move(alarm));
    }
    for (const auto &[place, seen] : m_seen)
        if (!still.contains(place))
            book.end(AlarmKind::SlowLink, place, momentOf(run, *last), last->number - 1);
    m_seen = std::move(still);
}

} // namespace trainyard::watch

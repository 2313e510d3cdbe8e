// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/alarms/silence_watch.h"

#include "core/base/number_text.h"

#include <algorithm>
#include <set>

namespace trainyard::watch {

namespace {

constexpr std::size_t kMostVoices = 65'536;
constexpr const char *kAllRanks = "all ranks";
constexpr double kLeastSeconds = 2, kUnknownStep = 10; // of silence; of a step nobody tells the time of

} // namespace

bool SilenceWatch::isSilent(int rank) const
{
    return std::ranges::any_of(
        m_voices, [&](const auto &entry) { return entry.first.first == rank && entry.second.isSilent; });
}

void SilenceWatch::look(
    const std::vector<Heard> &heard, Moment now, double stepSeconds, const Sentences &say, AlarmList &book)
{
    Moment latest = 0;
    for (const Heard &one : heard) {
        const auto known = m_voices.find({ one.rank, one.host });
        if (known == m_voices.end() && m_voices.size() >= kMostVoices)
            continue;
        Voice &voice = known != m_voices.end() ? known->second : m_voices[{ one.rank, one.host }];
        voice.host = one.host;
        voice.step = one.step; // lower than before where the job began anew
        latest = std::max(latest, one.at);
        if (one.at <= voice.at)
            continue;
        if (voice.times > 0 && !voice.isSilent)
            voice.longest = std::max(voice.longest, one.at - voice.at);
        voice.at = one.at;
        ++voice.times;
    }
    const double step = stepSeconds > 0 ? stepSeconds : kUnknownStep;
    const double least = std::max(kLeastSeconds, silentSteps() * step) * 1e9;
    lookAtAll(now, least, say, book);
    std::map<std::string, std::pair<std::vector<int>, std::vector<int>>> byHost; // silent, heard
    bool hasChanged = false;
    for (auto &[key, voice] : m_voices) {
        const double limit = std::max(least, silentSteps() * static_cast<double>(voice.longest));
        // Against the latest that anybody was heard: where all are silent, none is missed among others.
        const bool isSilent = voice.times > 1 && static_cast<double>(std::min(now, latest) - voice.at) > limit;
        hasChanged |= isSilent != voice.isSilent;
        voice.isSilent = isSilent;
        auto &[silent, others] = byHost[voice.host];
        (isSilent ? silent : others).push_back(key.first);
    }
    if (!hasChanged)
        return;
    std::set<std::string> places;
    for (const auto &[host, ranks] : byHost) {
        const auto &[silent, others] = ranks;
        const bool isWhole = !host.empty() && others.empty() && silent.size() > 1;
        if (isWhole)
            places.insert("host " + host);
        for (const int rank : silent)
            if (!isWhole)
                places.insert(rank >= 0 ? "rank " + std::to_string(rank) : "host " + host);
        if (!silent.empty())
            tell(host, silent, isWhole, say, book);
    }
    for (Alarm &one : book.all())
        if (one.kind == AlarmKind::Silent && one.place != kAllRanks && !one.isOver() && !places.contains(one.place))
            one.until = std::max<Moment>(1, now);
}

void SilenceWatch::lookAtAll(Moment now, double least, const Sentences &say, AlarmList &book)
{
    const std::pair<const std::pair<int, std::string>, Voice> *first = nullptr;
    Moment latest = 0;
    std::int64_t step = -1;
    std::vector<int> ranks;
    bool areSilent = true;
    for (const auto &entry : m_voices) {
        const Voice &voice = entry.second;
        if (voice.times < 2 || entry.first.first < 0)
            continue;
        const double limit = std::max(least, silentSteps() * static_cast<double>(voice.longest));
        areSilent &= static_cast<double>(now - voice.at) > limit;
        first = first && first->second.at <= voice.at ? first : &entry;
        latest = std::max(latest, voice.at);
        step = std::max(step, voice.step);
        ranks.push_back(entry.first.first);
    }
    if (!areSilent || ranks.size() < 2) {
        for (Alarm &one : book.all())
            if (one.place == kAllRanks && !one.isOver())
                one.until = std::max<Moment>(1, now);
        return;
    }
    if (book.holding(AlarmKind::Silent, kAllRanks))
        return;
    Alarm alarm { .kind = AlarmKind::Silent, .place = kAllRanks };
    alarm.firstStep = alarm.lastStep = step;
    alarm.since = latest;
    alarm.sentence = "No rank is heard of" + say.since(latest);
    if (step >= 0)
        alarm.sentence += ", the last in step " + wholeText(static_cast<double>(step));
    // Others fall silent while they wait for the one that did first.
    if (latest - first->second.at > 1'000'000'000)
        alarm.sentence += "; " + say.rank(first->first.first) + " fell silent first";
    alarm.ranks = std::move(ranks);
    book.tell(std::move(alarm));
}

void SilenceWatch::tell(
    const std::string &host, const std::vector<int> &silent, bool isWholeHost, const Sentences &say, AlarmList &book)
{
    const auto add = [&](const std::string &place, std::string subject, std::vector<int> ranks) {
        if (book.holding(AlarmKind::Silent, place))
            return;
        const Voice &voice = m_voices.at({ ranks.front(), host });
        Alarm alarm { .kind = AlarmKind::Silent, .place = place };
        alarm.firstStep = alarm.lastStep = voice.step;
        alarm.since = voice.at;
        alarm.ranks = std::move(ranks);
        subject.front() = subject.front() == 'r' ? 'R' : subject.front();
        alarm.sentence = subject + (isWholeHost ? " are" : " is") + " silent" + say.since(alarm.since);
        if (voice.step >= 0)
            alarm.sentence += ": last heard of in step " + wholeText(static_cast<double>(voice.step));
        book.tell(std::move(alarm));
    };
    if (isWholeHost)
        return add("host " + host, rankList(silent) + " of " + host, silent);
    for (const int rank : silent)
        if (rank >= 0)
            add("rank " + std::to_string(rank), say.rank(rank), { rank });
        else // metrics of a host that names no rank
            add("host " + host, host.empty() ? "a host" : host, { rank });
}

} // namespace trainyard::watch

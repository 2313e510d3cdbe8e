// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/alarms/hardware_watch.h"

#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <cmath>

namespace trainyard::watch {

namespace {

using Kind = HardwareSign::Kind;

constexpr std::size_t kMostHardwareTracks = 20'000;
constexpr std::size_t kLeastPeers = 3; // a clock is judged by
constexpr double kIdleShare = 0.3; // of the time that some kernel runs: less, and clocks go down by themselves
constexpr double kFastestClock = 1e10; // Hz; exporters write larger figures where there is none
constexpr double kLargestNumber = 100'000; // of XIDs, SXIDs and field identifiers
constexpr Moment kTogether = Moment(180) * 1'000'000'000; // samples of peers are of one time

std::uint64_t bitsOf(double value)
{
    return value >= 0 && value < 9e15 ? static_cast<std::uint64_t>(value) : std::uint64_t(0);
}

} // namespace

void HardwareWatch::look(const Recording &recording, const Sentences &say, AlarmList &book)
{
    m_zero = recording.zero;
    const std::vector<Track *> news = take(recording);
    for (Track *track : news)
        judge(*track, say, book);
    if (!news.empty())
        judgeClocks(say, book);
}

std::vector<HardwareWatch::Track *> HardwareWatch::take(const Recording &recording)
{
    std::vector<Track *> news;
    for (const SampleSeries &series : recording.series) {
        const HardwareSign sign = hardwareSignOf(series);
        if (sign.kind == Kind::None || series.at.empty() || series.at.size() != series.value.size())
            continue;
        const Key key(series.name, series.rank, series.where);
        auto known = m_tracks.find(key);
        if (known == m_tracks.end()) {
            if (m_tracks.size() >= kMostHardwareTracks)
                continue;
            known = m_tracks.try_emplace(key, Track { sign, series.name, series.where, series.rank }).first;
        }
        takeSamples(known->second, series, news);
    }
    return news;
}

void HardwareWatch::takeSamples(Track &track, const SampleSeries &series, std::vector<Track *> &news)
{
    track.grown = 0;
    track.renewed = kNoMoment;
    track.isFresh = track.last.at == kNoMoment;
    // Times of a session may be told from another zero on by the next look
    const auto seen =
        track.last.at == kNoMoment ? series.at.begin() : std::ranges::upper_bound(series.at, track.last.at - m_zero);
    for (auto i = static_cast<std::size_t>(seen - series.at.begin()); i < series.at.size(); ++i) {
        const double value = series.value[i];
        const bool isClock = track.sign.kind == Kind::Clock;
        if (!std::isfinite(value) || (isClock && !(value > 0 && value < kFastestClock)))
            continue;
        const Moment at = m_zero + series.at[i];
        if (track.last.at == kNoMoment) {
            track.first = at;
            Moment &first = m_firsts.try_emplace({ track.rank, std::string(gpuOf(track.where)) }, at).first->second;
            first = std::min(first, at);
        } else {
            track.grown += std::max(0.0, value - track.last.value);
            if (value != track.last.value)
                track.renewed = at;
        }
        track.before = track.last;
        track.last = { at, value };
        m_newest = std::max(m_newest, at);
        if (news.empty() || news.back() != &track)
            news.push_back(&track);
    }
}

void HardwareWatch::judge(Track &track, const Sentences &say, AlarmList &book)
{
    switch (track.sign.kind) {
    case Kind::None:
    case Kind::Use:
    case Kind::Clock: // together, behind the others
        break;
    case Kind::Reasons:
        return judgeReasons(track, say, book);
    case Kind::Share:
        return judgeShare(track, say, book);
    case Kind::Heat:
        return judgeHeat(track, say, book);
    case Kind::Number:
        return judgeNumber(track, say, book);
    case Kind::Counter:
        return judgeCounter(track, say, book);
    case Kind::BadFlag:
        return hold(track, track.last.value > 0, 0, track.sign.what, say, book);
    case Kind::GoodFlag:
        return hold(track, track.last.value == 0, 0, track.sign.what, say, book);
    }
}

bool HardwareWatch::isIdle(const Track &track) const
{
    const Key own(SharedText(samples::kGpuUtilization), track.rank, SharedText(std::string(gpuOf(track.where))));
    const auto use = m_tracks.find(own);
    return use != m_tracks.end() && use->second.last.at != kNoMoment && use->second.last.value < kIdleShare;
}

/// Of a node's GPUs, which are alike; where a node has few, of all that tell their clock, if those are alike. A GPU
/// with several clocks (one of each of its dies) is as slow as the slowest.
void HardwareWatch::judgeClocks(const Sentences &say, AlarmList &book)
{
    constexpr double kAlike = 0.1; // of their clocks
    Moment newest = kNoMoment;
    for (const auto &[key, track] : m_tracks)
        if (track.sign.kind == Kind::Clock && track.last.at != kNoMoment)
            newest = std::max(newest, track.last.at);
    std::map<std::pair<int, std::string_view>, Track *> gpus;
    for (auto &[key, track] : m_tracks) {
        if (track.sign.kind != Kind::Clock || track.before.at == kNoMoment)
            continue;
        Track *&own = gpus.try_emplace({ track.rank, gpuOf(track.where) }, &track).first->second;
        if (own == &track)
            continue;
        Track &slower = track.last.value < own->last.value ? track : *own;
        Track &faster = &slower == own ? track : *own;
        if (faster.holds) // what was told of the GPU goes on with the slower one
            slower.since = slower.holds ? std::min(slower.since, faster.since) : faster.since;
        slower.holds = slower.holds || std::exchange(faster.holds, false);
        own = &slower;
    }
    std::map<std::string_view, std::vector<Track *>> nodes;
    for (const auto &[place, track] : gpus)
        if (newest - track->last.at <= kTogether && !isIdle(*track))
            nodes[nodeOf(track->where)].push_back(track);
        else
            hold(*track, false, 0, {}, say, book);
    std::vector<Track *> few;
    for (const auto &[node, clocks] : nodes)
        if (clocks.size() > kLeastPeers)
            judgeClocksOf(clocks, "its node", say, book);
        else
            few.insert(few.end(), clocks.begin(), clocks.end());
    std::vector<double> all;
    for (const Track *track : few)
        all.push_back(track->last.value);
    std::ranges::sort(all);
    // one of them may be slow: the others have to be alike
    const bool areAlike = all.size() > kLeastPeers && all.back() <= (1 + kAlike) * all[1];
    if (areAlike)
        return judgeClocksOf(few, "other nodes", say, book);
    for (Track *track : few)
        hold(*track, false, 0, {}, say, book);
}

void HardwareWatch::judgeClocksOf(
    const std::vector<Track *> &clocks, const char *whose, const Sentences &say, AlarmList &book)
{
    std::vector<double> now;
    for (const Track *track : clocks)
        now.push_back(track->last.value);
    const double usual = medianOf(now), least = m_options.rules.threshold(RuleId::Clock);
    for (Track *track : clocks) {
        const double share = track->last.value / usual, before = track->before.value / usual;
        const bool isLow = share < least && before < least;
        const bool isBack = share >= least && before >= least;
        if (isLow || (isBack && track->holds))
            hold(*track, isLow, share,
                "runs at " + wholePercent(share) + " of the clock of the " + wholeText(double(clocks.size() - 1))
                    + " others of " + whose + " (" + wholeText(track->last.value / 1e6) + " MHz, they "
                    + wholeText(usual / 1e6) + ")",
                say, book);
    }
}

void HardwareWatch::judgeReasons(Track &track, const Sentences &say, AlarmList &book)
{
    if (track.before.at == kNoMoment)
        return;
    const char *reason = throttleReasonOf(bitsOf(track.last.value) & bitsOf(track.before.value));
    hold(track, reason != nullptr, 0, std::string("is slowed down by ") + (reason ? reason : ""), say, book);
}

void HardwareWatch::judgeShare(Track &track, const Sentences &say, AlarmList &book)
{
    const double limit = m_options.rules.threshold(RuleId::Throttled);
    const bool isBad = track.before.at != kNoMoment && track.before.value > limit && track.last.value > limit;
    if (isBad || track.last.value <= limit)
        hold(track, isBad, track.last.value,
            std::string("is slowed down by ") + track.sign.what + " in " + wholePercent(track.last.value)
                + " of the time",
            say, book);
}

void HardwareWatch::judgeHeat(Track &track, const Sentences &say, AlarmList &book)
{
    const double limit = m_options.rules.threshold(track.sign.rule);
    const bool isHot = track.before.at != kNoMoment && track.last.value > limit && track.before.value > limit;
    const char *has = track.sign.rule == RuleId::MemoryTemperature ? "has memory of " : "is at ";
    if (isHot || track.last.value <= limit)
        hold(track, isHot, 0, has + wholeText(track.last.value) + " °C, above " + wholeText(limit), say, book);
}

bool HardwareWatch::isLater(const Track &track) const
{
    const auto gpu = m_firsts.find({ track.rank, std::string(gpuOf(track.where)) });
    return gpu != m_firsts.end() && gpu->second < track.first;
}

/// The latest of a GPU stands until the driver is loaded again. An exporter that tells it only once there is one has
/// told others of that GPU before.
void HardwareWatch::judgeNumber(Track &track, const Sentences &say, AlarmList &book)
{
    if (track.last.value == 0)
        return hold(track, false, 0, {}, say, book);
    const bool isNew = track.renewed != kNoMoment || (track.isFresh && isLater(track));
    if (!isNew || track.last.value < 0 || track.last.value > kLargestNumber)
        return;
    const int number = static_cast<int>(track.last.value);
    const bool isXid = track.sign.rule == RuleId::Xid && std::string_view(track.sign.what) == "XID";
    if (isXid && std::ranges::find(m_options.rules.ignoredXids, number) != m_options.rules.ignoredXids.end())
        return hold(track, false, 0, {}, say, book);
    if (track.holds) // another one is another alarm
        hold(track, false, 0, {}, say, book);
    const std::string what = std::string("tells ") + track.sign.what + " " + std::to_string(number);
    hold(track, true, 0, isXid ? what + xidWords(number) : what, say, book);
}

void HardwareWatch::judgeCounter(Track &track, const Sentences &say, AlarmList &book)
{
    if (track.grown >= m_options.rules.threshold(track.sign.rule))
        hold(track, true, 0,
            "tells " + wholeText(track.grown) + " more " + track.sign.what + ", " + wholeText(track.last.value)
                + " in all",
            say, book);
    else if (track.holds)
        hold(track, false, 0, {}, say, book);
}

void HardwareWatch::hold(
    Track &track, bool isBad, double share, const std::string &sentence, const Sentences &say, AlarmList &book)
{
    const bool isClock = track.sign.kind == Kind::Clock; // of a GPU, whichever of its clocks is the slowest
    const std::string whose = track.rank >= 0 ? say.rank(track.rank)
        : track.where.empty()                 ? std::string("A GPU")
        : isClock                             ? std::string(gpuOf(track.where))
                                              : track.where.text();
    const std::string place = whose + " " + track.name.text();
    if (!isBad) {
        if (track.holds)
            book.end(AlarmKind::Hardware, place, track.last.at, -1);
        track.holds = false;
        return;
    }
    if (!track.holds)
        track.since = track.sign.isOfTwo()    ? track.before.at
            : track.renewed != kNoMoment      ? track.renewed
            : track.sign.kind == Kind::Number ? track.first
                                              : track.last.at;
    track.holds = true;
    Alarm alarm;
    alarm.kind = AlarmKind::Hardware;
    alarm.told = track.sign.rule;
    alarm.place = place;
    alarm.since = track.since;
    alarm.share = share;
    if (track.rank >= 0)
        alarm.ranks = { track.rank };
    alarm.sentence = whose + " " + sentence + say.since(track.since);
    book.tell(std::move(alarm));
}

} // namespace trainyard::watch

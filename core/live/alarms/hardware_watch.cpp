// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/alarms/hardware_watch.h"

#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard::watch {

namespace {

constexpr std::size_t kMostHardwareTracks = 20'000;
constexpr std::size_t kLeastPeers = 3; // a clock is judged by
constexpr double kIdleShare = 0.3; // of the time that some kernel runs: less, and clocks go down by themselves
constexpr Moment kTogether = Moment(180) * 1'000'000'000; // samples of peers are of one time

/// Reasons for a low clock that NVML tells, those that are a fault of cooling or of power.
struct ThrottleReason {
    std::uint64_t bit;
    const char *what;
};
constexpr std::array<ThrottleReason, 4> kThrottleReasons { { { 0x40, "heat (hardware slowdown)" },
    { 0x20, "heat (software slowdown)" }, { 0x80, "the power brake" }, { 0x08, "a hardware slowdown" } } };

/// NVIDIA's numbers of errors that end or endanger a job.
struct Xid {
    int number;
    const char *what;
};
constexpr std::array<Xid, 12> kXids { { { 13, "an exception of a kernel" }, { 31, "a fault of the GPU's memory pages" },
    { 48, "an uncorrectable error of memory" }, { 63, "a row of memory that is remapped" },
    { 64, "a row of memory that could not be remapped" }, { 74, "an error of NVLink" },
    { 79, "the GPU has fallen off the bus" }, { 92, "many corrected errors of memory" },
    { 94, "a contained error of memory" }, { 95, "an uncontained error of memory" },
    { 119, "the GPU's system processor does not answer" }, { 120, "an error of the GPU's system processor" } } };

bool endsWithOneOf(std::string_view name, std::initializer_list<std::string_view> ends)
{
    return std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); });
}

bool isThrottling(std::string_view name)
{
    return endsWithOneOf(name, { "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "DCGM_FI_DEV_CLOCKS_EVENT_REASONS" });
}

bool isXid(std::string_view name)
{
    return name.ends_with("DCGM_FI_DEV_XID_ERRORS");
}

bool isRemapFailure(std::string_view name)
{
    return name.ends_with("DCGM_FI_DEV_ROW_REMAP_FAILURE");
}

/// "n1" of "n1/gpu3".
std::string_view nodeOf(std::string_view where)
{
    const std::size_t gpu = where.rfind("/gpu");
    return gpu == where.npos ? std::string_view() : where.substr(0, gpu);
}

bool isMemoryHeat(std::string_view name)
{
    return endsWithOneOf(name, { "DCGM_FI_DEV_MEMORY_TEMP", "gpu_memory_temperature" });
}

/// What a counter counts; empty: nothing that is an alarm.
std::string_view faultCounted(std::string_view name)
{
    if (endsWithOneOf(name,
            { "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", "gpu_ecc_uncorrect_total",
                "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS" }))
        return "uncorrectable errors of memory";
    const bool isOfLinks = name.find("NVLINK") != name.npos && name.ends_with("_TOTAL");
    if (isOfLinks
        && (name.find("ERROR") != name.npos || name.find("REPLAY") != name.npos || name.find("RECOVERY") != name.npos))
        return "errors of NVLink";
    return {};
}

/// Two samples in a row tell of it.
bool isOfTwo(std::string_view name)
{
    return faultCounted(name).empty() && !isXid(name) && !isRemapFailure(name);
}

bool isHardware(const SampleSeries &series)
{
    const std::string_view name = series.name;
    return !series.isByStep
        && (name == samples::kSmClock || name == samples::kTemperature || name == samples::kGpuUtilization
            || isThrottling(name) || isXid(name) || isRemapFailure(name) || isMemoryHeat(name)
            || !faultCounted(name).empty());
}

} // namespace

void HardwareWatch::look(const Recording &recording, const Sentences &say, AlarmList &book)
{
    m_zero = recording.zero;
    std::vector<Track *> news;
    for (const SampleSeries &series : recording.series) {
        if (!isHardware(series) || series.at.empty() || series.at.size() != series.value.size())
            continue;
        const Key key(series.name, series.rank, series.where);
        auto known = m_tracks.find(key);
        if (known == m_tracks.end()) {
            if (m_tracks.size() >= kMostHardwareTracks)
                continue;
            known = m_tracks.try_emplace(key).first;
            known->second.name = series.name;
            known->second.where = series.where;
            known->second.rank = series.rank;
        }
        Track &track = known->second;
        track.grown = 0;
        // Times of a session may be told from another zero on by the next look
        const auto seen = track.last.at == kNoMoment ? series.at.begin()
                                                     : std::ranges::upper_bound(series.at, track.last.at - m_zero);
        for (auto i = static_cast<std::size_t>(seen - series.at.begin()); i < series.at.size(); ++i) {
            if (!std::isfinite(series.value[i]))
                continue;
            if (track.last.at != kNoMoment)
                track.grown += std::max(0.0, series.value[i] - track.last.value);
            track.before = track.last;
            track.last = { m_zero + series.at[i], series.value[i] };
            if (news.empty() || news.back() != &track)
                news.push_back(&track);
        }
    }
    for (Track *track : news)
        if (!faultCounted(track->name).empty())
            judgeCounter(*track, say, book);
        else if (track->name != samples::kSmClock && track->name != samples::kGpuUtilization)
            judgeLevel(*track, say, book);
    if (!news.empty())
        judgeClocks(say, book);
}

bool HardwareWatch::isIdle(const Track &track) const
{
    const auto use = m_tracks.find(Key(SharedText(samples::kGpuUtilization), track.rank, track.where));
    return use != m_tracks.end() && use->second.last.at != kNoMoment && use->second.last.value < kIdleShare;
}

/// Of a node's GPUs, which are alike; where a node has few, of all that tell their clock, if those are alike.
void HardwareWatch::judgeClocks(const Sentences &say, AlarmList &book)
{
    constexpr double kAlike = 0.1; // of their clocks
    Moment newest = kNoMoment;
    for (const auto &[key, track] : m_tracks)
        if (track.name == samples::kSmClock && track.last.at != kNoMoment)
            newest = std::max(newest, track.last.at);
    std::map<std::string_view, std::vector<Track *>> nodes;
    for (auto &[key, track] : m_tracks) {
        if (track.name != samples::kSmClock || track.before.at == kNoMoment)
            continue;
        if (newest - track.last.at <= kTogether && !isIdle(track))
            nodes[nodeOf(track.where)].push_back(&track);
        else
            hold(track, false, 0, {}, say, book);
    }
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
    const double usual = medianOf(now);
    for (Track *track : clocks) {
        const double share = track->last.value / usual, before = track->before.value / usual;
        const bool isLow = share < m_options.leastClock && before < m_options.leastClock;
        const bool isBack = share >= m_options.leastClock && before >= m_options.leastClock;
        if (isLow || (isBack && track->holds))
            hold(*track, isLow, share,
                "runs at " + wholePercent(share) + " of the clock of the " + wholeText(double(clocks.size() - 1))
                    + " others of " + whose + " (" + wholeText(track->last.value / 1e6) + " MHz, they "
                    + wholeText(usual / 1e6) + ")",
                say, book);
    }
}

void HardwareWatch::judgeLevel(Track &track, const Sentences &say, AlarmList &book)
{
    if (isXid(track.name)) { // the latest of a GPU stands until the driver is loaded again
        constexpr double kMostXid = 10'000;
        const bool isNew = track.before.at != kNoMoment && track.last.value != track.before.value;
        if (track.last.value == 0)
            return hold(track, false, 0, {}, say, book);
        if (!isNew || track.last.value < 0 || track.last.value > kMostXid)
            return;
        const int number = static_cast<int>(track.last.value);
        const auto known = std::ranges::find(kXids, number, &Xid::number);
        const std::string what = known == kXids.end() ? "" : std::string(": ") + known->what;
        return hold(track, true, 0, "tells XID " + std::to_string(number) + what, say, book);
    }
    if (isRemapFailure(track.name))
        return hold(track, track.last.value > 0, 0, "tells that a row of its memory could not be remapped", say, book);
    if (track.before.at == kNoMoment)
        return;
    if (isThrottling(track.name)) {
        const auto bitsOf = [](double value) {
            return value >= 0 && value < 9e15 ? static_cast<std::uint64_t>(value) : std::uint64_t(0);
        };
        const std::uint64_t both = bitsOf(track.last.value) & bitsOf(track.before.value);
        const auto reason =
            std::ranges::find_if(kThrottleReasons, [&](const ThrottleReason &one) { return (both & one.bit) != 0; });
        const bool isBad = reason != kThrottleReasons.end();
        return hold(track, isBad, 0, std::string("is slowed down by ") + (isBad ? reason->what : ""), say, book);
    }
    const double limit = isMemoryHeat(track.name) ? m_options.hottestMemory : m_options.hottest;
    const bool isHot = track.last.value > limit && track.before.value > limit;
    if (isHot || track.last.value <= limit)
        hold(track, isHot, 0,
            std::string(isMemoryHeat(track.name) ? "has memory of " : "is at ") + wholeText(track.last.value)
                + " °C, above " + wholeText(limit),
            say, book);
}

void HardwareWatch::judgeCounter(Track &track, const Sentences &say, AlarmList &book)
{
    if (track.grown > 0)
        hold(track, true, 0,
            "tells " + wholeText(track.grown) + " more " + std::string(faultCounted(track.name)) + ", "
                + wholeText(track.last.value) + " in all",
            say, book);
    else if (track.holds)
        hold(track, false, 0, {}, say, book);
}

void HardwareWatch::hold(
    Track &track, bool isBad, double share, const std::string &sentence, const Sentences &say, AlarmList &book)
{
    const std::string whose = track.rank >= 0 ? say.rank(track.rank)
        : track.where.empty()                 ? std::string("A GPU")
                                              : track.where.text();
    const std::string place = whose + " " + track.name.text();
    if (!isBad) {
        if (track.holds)
            book.end(AlarmKind::Hardware, place, track.last.at, -1);
        track.holds = false;
        return;
    }
    if (!track.holds)
        track.since = isOfTwo(track.name) ? track.before.at : track.last.at;
    track.holds = true;
    Alarm alarm;
    alarm.kind = AlarmKind::Hardware;
    alarm.place = place;
    alarm.since = track.since;
    alarm.share = share;
    if (track.rank >= 0)
        alarm.ranks = { track.rank };
    alarm.sentence = whose + " " + sentence + say.since(track.since);
    book.tell(std::move(alarm));
}

} // namespace trainyard::watch

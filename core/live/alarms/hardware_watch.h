#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// GPUs as their exporters tell of them: one that runs at a lower clock than those like it, that says it is throttled,
// that is too hot, that tells an XID, an uncorrectable error of memory or errors of its links. Two samples in a row
// tell of a level, one of a counter that grew or of a number that is new. Looks at samples that it has not seen alone,
// of 20,000 series at most.

#include "core/live/alarms/alarm_list.h"
#include "core/live/alarms/hardware_signs.h"
#include "core/live/alarms/sentences.h"

#include <map>
#include <tuple>

namespace trainyard::watch {

class HardwareWatch {
public:
    explicit HardwareWatch(const WatchOptions &options)
        : m_options(options)
    {
    }
    void look(const Recording &recording, const Sentences &say, AlarmList &book);
    /// The newest sample seen, Unix ns; 0: none yet.
    [[nodiscard]] Moment newest() const { return m_newest; }

private:
    struct Sample {
        Moment at = kNoMoment;
        double value = 0;
    };
    struct Track {
        HardwareSign sign;
        SharedText name, where;
        int rank = -1;
        /// ever seen
        Moment first = kNoMoment;
        /// the one before the newest, and that one
        Sample before, last;
        /// of the samples since the last look: what a counter grew by; when a number was told that was not before
        double grown = 0;
        Moment renewed = kNoMoment;
        /// it was not there at the look before
        bool isFresh = false;
        bool holds = false;
        /// of the state that holds: the first sample that showed it
        Moment since = 0;
    };
    using Key = std::tuple<SharedText, int, SharedText>;

    /// Those with samples that were not seen before.
    [[nodiscard]] std::vector<Track *> take(const Recording &recording);
    void takeSamples(Track &track, const SampleSeries &series, std::vector<Track *> &news);
    void judge(Track &track, const Sentences &say, AlarmList &book);
    void judgeClocks(const Sentences &say, AlarmList &book);
    void judgeClocksOf(const std::vector<Track *> &clocks, const char *whose, const Sentences &say, AlarmList &book);
    void judgeReasons(Track &track, const Sentences &say, AlarmList &book);
    void judgeShare(Track &track, const Sentences &say, AlarmList &book);
    void judgeHeat(Track &track, const Sentences &say, AlarmList &book);
    void judgeNumber(Track &track, const Sentences &say, AlarmList &book);
    void judgeCounter(Track &track, const Sentences &say, AlarmList &book);
    void hold(
        Track &track, bool isBad, double share, const std::string &sentence, const Sentences &say, AlarmList &book);
    [[nodiscard]] bool isIdle(const Track &track) const;
    /// Others of its GPU were sampled before it told anything.
    [[nodiscard]] bool isLater(const Track &track) const;

    const WatchOptions &m_options;
    Moment m_zero = 0; // of the recording
    Moment m_newest = 0;
    std::map<Key, Track> m_tracks;
    /// of each GPU, the first sample of any series
    std::map<std::pair<int, std::string>, Moment> m_firsts;
};

} // namespace trainyard::watch

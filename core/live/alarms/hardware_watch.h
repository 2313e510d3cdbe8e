#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// GPUs as their exporters tell of them: one that runs at a lower clock than those like it, that says it is throttled,
// that is too hot, that tells an XID, an uncorrectable error of memory or errors of NVLink. Two samples in a row tell
// of a level, one of a counter that grew. Looks at samples that it has not seen alone, of 20,000 series at most.

#include "core/live/alarms/alarm_list.h"
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

private:
    struct Sample {
        Moment at = kNoMoment;
        double value = 0;
    };
    struct Track {
        SharedText name, where;
        int rank = -1;
        /// the one before the newest, and that one
        Sample before, last;
        /// of the samples since the last look: what a counter grew by
        double grown = 0;
        bool holds = false;
        /// of the state that holds: the first sample that showed it
        Moment since = 0;
    };
    using Key = std::tuple<SharedText, int, SharedText>;

    void judgeClocks(const Sentences &say, AlarmList &book);
    void judgeClocksOf(const std::vector<Track *> &clocks, const char *whose, const Sentences &say, AlarmList &book);
    void judgeLevel(Track &track, const Sentences &say, AlarmList &book);
    void judgeCounter(Track &track, const Sentences &say, AlarmList &book);
    void hold(
        Track &track, bool isBad, double share, const std::string &sentence, const Sentences &say, AlarmList &book);
    [[nodiscard]] bool isIdle(const Track &track) const;

    WatchOptions m_options;
    Moment m_zero = 0; // of the recording
    std::map<Key, Track> m_tracks;
};

} // namespace trainyard::watch

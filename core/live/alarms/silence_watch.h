#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Who of a live session nobody hears any more: longer than some step times, and than it ever was silent before, while
// others are heard. All ranks of a host at once are its silence. Where nobody is heard any more, which is how a run
// looks whose ranks wait in a collective for one that died, that is told once, with who was the first. Ranks that were
// heard only once are not missed.

#include "core/live/alarms/alarm_list.h"
#include "core/live/alarms/sentences.h"

#include <map>

namespace trainyard::watch {

class SilenceWatch {
public:
    explicit SilenceWatch(const WatchOptions &options)
        : m_options(options)
    {
    }
    /// `stepSeconds`: of the latest steps; 0: not known.
    void look(const std::vector<Heard> &heard, Moment now, double stepSeconds, const Sentences &say, AlarmList &book);
    /// while others are heard
    [[nodiscard]] bool isSilent(int rank) const;

private:
    struct Voice {
        std::string host;
        /// ns between two times that it was heard
        Moment at = 0, longest = 0;
        std::int64_t step = -1;
        int times = 0;
        bool isSilent = false;
    };
    void lookAtAll(Moment now, double least, const Sentences &say, AlarmList &book);
    void tell(const std::string &host, const std::vector<int> &silent, bool isWholeHost, const Sentences &say,
        AlarmList &book);

    /// step times without a word
    [[nodiscard]] double silentSteps() const { return m_options.rules.threshold(RuleId::Silent); }

    const WatchOptions &m_options;
    /// by rank and host
    std::map<std::pair<int, std::string>, Voice> m_voices;
};

} // namespace trainyard::watch

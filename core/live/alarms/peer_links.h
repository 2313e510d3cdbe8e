#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Slow links inside a datacenter, which the overlay finds by comparing groups that are alike: told once they were found
// over enough steps, taken back once they are found no more. Links between datacenters are StepAlarms's.

#include "core/live/alarms/alarm_list.h"
#include "core/live/alarms/sentences.h"

#include <map>

namespace trainyard::watch {

class PeerLinks {
public:
    explicit PeerLinks(int leastSteps)
        : m_leastSteps(leastSteps)
    {
    }
    /// `newSteps`: since the look before.
    void look(const RunOverlay &overlay, int newSteps, const Sentences &say, AlarmList &book);

private:
    struct Seen {
        int steps = 0;
        std::int64_t first = -1;
        Moment at = 0;
    };
    int m_leastSteps = 3;
    /// by place
    std::map<std::string, Seen> m_seen;
};

} // namespace trainyard::watch

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the reader thread keeps of a Prometheus source from answer to answer: where its series stop, and which targets
// are down. One thread.

#include "core/live/batch.h"
#include "core/live/decoders/series_gaps.h"

#include <map>
#include <string>
#include <vector>

namespace trainyard::live {

class PrometheusReading {
public:
    struct Seen {
        /// of targets, a sentence each
        std::vector<std::string> changes;
        int down = 0;
        /// sample, Unix ns; 0: none yet
        Moment newest = 0;
    };
    /// Marks the gaps of the batch.
    Seen look(Batch &batch);

private:
    SeriesGaps m_gaps;
    /// target → its latest `up`
    std::map<std::string, bool> m_isUp;
};

} // namespace trainyard::live

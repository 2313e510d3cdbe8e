#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The words of alarms: places, times of day, and one sentence each, with what is known and nothing else. Stages and
// pipelines count from 1.

#include "core/live/alarms/step_facts.h"

namespace trainyard::watch {

class Sentences {
public:
    Sentences(const WatchedPlan &watched, int utcOffsetSeconds)
        : m_watched(watched)
        , m_utcOffset(utcOffsetSeconds)
    {
    }

    /// "rank 12 (stage 3, pipeline 2)"
    [[nodiscard]] std::string rank(int rank) const;
    /// "Oregon"
    [[nodiscard]] std::string datacenter(int index) const;
    /// "link oregon–ohio", in the order of the cluster
    [[nodiscard]] std::string linkPlace(int a, int b) const;
    /// " since 14:02"; empty for 0
    [[nodiscard]] std::string since(Moment at) const;

    struct Wait { // for another datacenter
        int stage = -1, from = -1;
        /// seconds a step; 0: not known by how much more than before
        double more = 0;
    };
    [[nodiscard]] std::string slowLink(const Alarm &alarm, const LinkRate &rate, const std::optional<Wait> &wait) const;
    [[nodiscard]] std::string straggler(const Alarm &alarm, int others) const;
    [[nodiscard]] std::string lateHost(const Alarm &alarm) const;
    [[nodiscard]] std::string waiting(const Alarm &alarm, int stage, double more) const;
    [[nodiscard]] std::string stepTime(const Alarm &alarm, double before, double after) const;
    [[nodiscard]] std::string beyondRange(const Alarm &alarm, double level) const;
    /// "Step 1,240: "; empty for -1
    [[nodiscard]] std::string atStep(std::int64_t step) const;

private:
    const WatchedPlan &m_watched;
    int m_utcOffset = 0;
};

/// "61 %"
[[nodiscard]] std::string wholePercent(double share);
/// "14:02"
[[nodiscard]] std::string timeOfDay(Moment at, int utcOffsetSeconds);
/// "ranks 8 to 15", "ranks 3, 7 and 9"
[[nodiscard]] std::string rankList(const std::vector<int> &ranks);

} // namespace trainyard::watch

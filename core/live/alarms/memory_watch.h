#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of GPUs over the steps: what grows from step to step (so often later above earlier that chance would not do
// it: Mann and Kendall's test), and what is near its GPU's capacity. Looks at samples that it has not seen alone, and
// keeps 64 values of each of 20,000 series at most.

#include "core/live/alarms/alarm_list.h"
#include "core/live/alarms/sentences.h"

#include <map>
#include <tuple>

namespace trainyard::watch {

class MemoryWatch {
public:
    explicit MemoryWatch(const WatchOptions &options)
        : m_options(options)
    {
    }
    struct Seen { // steps of this look, in order
        std::int64_t number = 0;
        /// since Recording::zero; kNoMoment: not told
        Moment start = 0;
        /// Unix ns
        Moment at = 0;
    };
    /// `capacity`: bytes of a GPU; 0: not known.
    void look(const Recording &recording, const std::vector<Seen> &steps, double capacity, const Sentences &say,
        AlarmList &book);
    /// The run began anew: what was told of steps behind this one was told of another attempt.
    void forgetBehind(std::int64_t step);
    /// bytes, of the fullest; NaN: not told
    [[nodiscard]] double peakOf(std::int64_t step) const;

private:
    struct Point {
        std::int64_t step = -1;
        Moment at = 0;
        double bytes = 0;
    };
    struct Track {
        /// of the series
        std::string name, where;
        int rank = -1;
        bool isByStep = false;
        /// that was looked at
        Moment last = kNoMoment;
        /// by step, of each the most
        std::vector<Point> points;
        bool isGrowing = false, isNear = false;
    };
    void take(Track &track, const SampleSeries &series);
    /// It has stopped growing.
    [[nodiscard]] static bool isStill(const Track &track);
    void judge(Track &track, double capacity, const Sentences &say, AlarmList &book);
    /// Index of the first point of what grows to the last one; empty: nothing does, surely.
    [[nodiscard]] std::optional<std::size_t> growthOf(const Track &track) const;

    const WatchOptions &m_options;
    std::map<std::tuple<std::string, int, std::string>, Track> m_tracks;
    /// by step, of the latest steps
    std::map<std::int64_t, double> m_peaks;
    /// the latest
    std::vector<Seen> m_steps;
};

} // namespace trainyard::watch

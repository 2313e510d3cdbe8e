#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Times of steps from the moments at which a log tells of them, where it prints none: differences of neighbours. One of
// more than a day, or of a hundred times the usual step, has another attempt before it, and is none. What is usual is
// the median of the latest differences, of three at least: until then they are held back. One thread.

#include "core/runs/telemetry/recording.h"

#include <deque>
#include <functional>
#include <optional>
#include <vector>

namespace trainyard::readers {

class StampedTimes {
public:
    struct Stamp {
        std::int64_t step = 0;
        Moment at = 0;
    };

    void add(std::int64_t step, Moment at);
    [[nodiscard]] bool isEmpty() const { return m_stamps.empty(); }
    [[nodiscard]] const Stamp &last() const { return m_stamps.back(); }
    /// When the step was told among the latest lines.
    [[nodiscard]] std::optional<Moment> lately(std::int64_t step) const;

    /// Gives the seconds of each step that can be told by now; all that are held where it is the last time.
    void give(bool isLast, const std::function<void(std::int64_t step, double seconds)> &out);
    [[nodiscard]] std::int64_t gaps() const { return m_gaps; }
    [[nodiscard]] bool hasGiven() const { return m_hasGiven; }

private:
    struct Difference {
        std::int64_t step = 0, steps = 0;
        Moment time = 0;
    };
    [[nodiscard]] double usual() const; // nanoseconds a step

    std::deque<Stamp> m_stamps; // the latest
    std::vector<Difference> m_held;
    std::deque<double> m_latest; // nanoseconds a step
    std::int64_t m_gaps = 0;
    bool m_hasGiven = false;
};

} // namespace trainyard::readers

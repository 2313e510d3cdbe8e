#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The free time of one GPU over successive iterations, while slots are taken from it. Each iteration has the same
// windows; it has gaps of its own from its first slot on, and shares those of an untouched one until then.

#include "core/iteration/prefill/gap_tree.h"

#include <limits>
#include <memory>

namespace trainyard {

/// An iteration in which nothing is taken: the same for all GPUs with equal windows.
struct UntouchedIteration {
    /// of its windows
    std::shared_ptr<const GapTree> gaps;
    Nanoseconds period = 0;
    /// where the last window ends in the next iteration, from its start
    Nanoseconds wrappedUntil = 0;
    /// a run has no other iteration
    bool isOnly = false;
};

/// `shortest`: no slot will be shorter.
[[nodiscard]] UntouchedIteration untouchedIteration(
    const std::vector<FreeWindow> &windows, Nanoseconds period, Nanoseconds shortest, bool isOnly);

class GpuCalendar {
public:
    struct Fit {
        static constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();
        /// from the start of iteration 0; kNever where no gap is that long. Later than asked for: a lower bound.
        Nanoseconds start = kNever;
        /// in which its window starts
        std::int64_t iteration = 0;
    };

    /// All is taken before `takenUntil`, at least 0.
    explicit GpuCalendar(UntouchedIteration untouched, Nanoseconds takenUntil = 0);

    /// The earliest start from `from` on of a place that holds `length`. After `latest` it may be any bound.
    [[nodiscard]] Fit firstFit(Nanoseconds from, Nanoseconds length, Nanoseconds latest = Fit::kNever) const;
    /// Takes a place that firstFit found. Nobody will ask for a time before `now` again.
    void take(Fit fit, Nanoseconds length, Nanoseconds now);

private:
    [[nodiscard]] std::int64_t iterationOf(Nanoseconds time) const;

    UntouchedIteration m_untouched;
    /// of m_first and those after it; null where nothing is taken yet
    std::vector<std::unique_ptr<GapTree>> m_touched;
    /// nothing is free in earlier ones
    std::int64_t m_first;
    Nanoseconds m_takenUntil;
};

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which step a moment belongs to, by the spans of profilers or by the moments at which a log's steps ended, and samples
// over time as means of steps.

#include "core/runs/overlay/run_steps.h"

#include <map>
#include <utility>

namespace trainyard {

struct SampleCurve {
    std::vector<double> step, value;
    /// `step` is seconds since the first sample
    bool isOverTime = false;
};

class SampleSteps {
public:
    explicit SampleSteps(const Run &run);
    /// nullptr where it is between steps.
    [[nodiscard]] const RunStep *stepAt(Moment moment) const;
    /// Means over the steps; over time where no step has a sample.
    [[nodiscard]] SampleCurve curveOf(const SampleSeries &series) const;

private:
    struct Interval {
        Moment start = 0, end = 0;
        const RunStep *step = nullptr;
    };
    /// by start
    std::vector<Interval> m_intervals;
    /// rank and its file: Run::clockShift
    std::map<std::pair<int, std::uint32_t>, Moment> m_shiftOf;
};

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/sample_steps.h"

#include "core/runs/overlay/log_steps.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

SampleSteps::SampleSteps(const Run &run)
{
    for (std::size_t r = 0; r < std::min(run.clockShift.size(), run.recording->ranks.size()); ++r)
        if (run.clockShift[r] != 0)
            m_shiftOf[{ run.recording->ranks[r].rank, run.recording->ranks[r].source }] = run.clockShift[r];
    const LogSteps log = logSteps(*run.recording);
    for (const RunStep &step : run.steps) {
        if (step.hasSpans()) {
            m_intervals.push_back({ step.start, step.end, &step });
            continue;
        }
        const auto ended = log.ended.find(step.number);
        if (ended == log.ended.end())
            continue;
        const Moment end = ended->second - run.logOffset.value_or(0);
        const Moment length = static_cast<Moment>(std::min(step.seconds, 1e7) * 1e9);
        m_intervals.push_back({ end - length, end, &step });
    }
    std::ranges::stable_sort(m_intervals, {}, &Interval::start);
}

const RunStep *SampleSteps::stepAt(Moment moment) const
{
    const auto after = std::ranges::upper_bound(m_intervals, moment, {}, &Interval::start);
    return after != m_intervals.begin() && moment < std::prev(after)->end ? std::prev(after)->step : nullptr;
}

SampleCurve SampleSteps::curveOf(const SampleSeries &series) const
{
    std::map<std::int64_t, std::pair<double, int>> sums;
    const auto shifted = series.rank >= 0 ? m_shiftOf.find({ series.rank, series.source }) : m_shiftOf.end();
    const Moment shift = shifted == m_shiftOf.end() ? 0 : shifted->second;
    const std::size_t size = std::min(series.at.size(), series.value.size());
    for (std::size_t i = 0; i < size; ++i)
        if (const RunStep *step = std::isfinite(series.value[i]) ? stepAt(series.at[i] + shift) : nullptr) {
            auto &[sum, count] = sums[step->number];
            sum += series.value[i];
            ++count;
        }
    SampleCurve curve;
    curve.isOverTime = sums.empty();
    for (const auto &[number, sum] : sums) {
        curve.step.push_back(static_cast<double>(number));
        curve.value.push_back(sum.first / sum.second);
    }
    for (std::size_t i = 0; curve.isOverTime && i < size; ++i) {
        curve.step.push_back(static_cast<double>(series.at[i] - series.at.front()) * 1e-9);
        curve.value.push_back(series.value[i]);
    }
    return curve;
}

} // namespace trainyard

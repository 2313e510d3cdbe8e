// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/step_numbers.h"

#include <limits>

namespace trainyard::live {

void StepNumbers::take(const Recording &part)
{
    for (const RankRecording &rank : part.ranks)
        for (const RecordedStep &step : rank.steps)
            take(step.number);
    for (const SampleSeries &series : part.series)
        if (series.isByStep)
            for (const std::int64_t step : series.at)
                if (step > 0)
                    take(step);
}

void StepNumbers::take(std::int64_t step)
{
    if (step == std::numeric_limits<std::int64_t>::max())
        return;
    const auto next = m_ranges.upper_bound(step);
    const auto before = next == m_ranges.begin() ? m_ranges.end() : std::prev(next);
    if (before != m_ranges.end() && step <= before->second)
        return;
    const bool isBehind = before != m_ranges.end() && before->second == step - 1;
    const bool isAhead = next != m_ranges.end() && next->first == step + 1;
    if (!isBehind && !isAhead && m_ranges.size() >= kMostRanges)
        return;
    ++m_count;
    if (isBehind)
        before->second = isAhead ? next->second : step;
    else
        m_ranges[step] = isAhead ? next->second : step;
    if (isAhead)
        m_ranges.erase(next);
}

} // namespace trainyard::live

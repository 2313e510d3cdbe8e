// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/store/step_history.h"

#include <algorithm>

namespace trainyard::live {

StepHistory::Answer StepHistory::add(const RecordedStep &step, std::int64_t reorder)
{
    const auto at = std::ranges::lower_bound(m_steps, step.number, {}, &RecordedStep::number);
    const bool isKnown = at != m_steps.end() && at->number == step.number;
    if (isKnown && (*at == step || (at->start < step.end && step.start < at->end)))
        return { .taken = Taken::Again }; // the same, as another source may tell it
    const bool isBehind = at != m_steps.begin() && (at - 1)->start > step.start;
    if (at != m_steps.end() && (isBehind || (isKnown && at->start > step.start)))
        return { .taken = Taken::Superseded };
    Answer answer;
    if (isBehind) { // nobody has told a larger number: it goes on, and the clock went back
        const std::int64_t by = (at - 1)->start - step.start;
        answer.wentBack = by > reorder ? by : 0;
        m_steps.push_back(step);
        return answer;
    }
    const auto end =
        std::ranges::find_if(at, m_steps.end(), [&](const RecordedStep &one) { return one.start > step.start; });
    if (end != at) {
        ++m_attempts;
        answer.superseded = { at->start, step.start };
    }
    const auto place = m_steps.erase(at, end);
    m_steps.insert(place, step);
    return answer;
}

std::span<const RecordedStep> StepHistory::from(std::int64_t number) const
{
    const auto at = std::ranges::lower_bound(m_steps, number, {}, &RecordedStep::number);
    return { at, m_steps.end() };
}

void StepHistory::keepLatest(std::size_t most)
{
    if (m_steps.size() > most)
        m_steps.erase(m_steps.begin(), m_steps.end() - std::ptrdiff_t(most));
}

} // namespace trainyard::live

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/store/step_history.h"

#include <algorithm>
#include <iterator>

namespace trainyard::live {

StepHistory::Answer StepHistory::add(const RecordedStep &step, std::int64_t reorder)
{
    const auto at = m_steps.lower_bound(step.number);
    const bool isKnown = at != m_steps.end() && at->first == step.number;
    if (isKnown && (at->second == step || (at->second.start < step.end && step.start < at->second.end)))
        return { .taken = Taken::Again }; // the same, as another source may tell it
    const RecordedStep *before = at != m_steps.begin() ? &std::prev(at)->second : nullptr;
    const bool isBehind = before && before->start > step.start;
    if (at != m_steps.end() && (isBehind || (isKnown && at->second.start > step.start)))
        return { .taken = Taken::Superseded };
    Answer answer;
    if (at == m_steps.end()) {
        if (isBehind) { // nobody has told a larger number: it goes on, and the clock went back
            const std::int64_t by = before->start - step.start;
            answer.wentBack = by > reorder ? by : 0;
        }
        m_steps.emplace_hint(at, step.number, step);
        if (m_isLaid)
            m_row.push_back(step);
        return answer;
    }
    const auto end = std::find_if(at, m_steps.end(), [&](const auto &one) { return one.second.start > step.start; });
    if (end != at) {
        ++m_attempts;
        answer.superseded = { at->second.start, step.start };
    }
    m_steps.emplace_hint(m_steps.erase(at, end), step.number, step);
    m_isLaid = false;
    return answer;
}

std::span<const RecordedStep> StepHistory::steps() const
{
    if (!m_isLaid) {
        m_row.clear();
        for (const auto &[number, step] : m_steps)
            m_row.push_back(step);
        m_isLaid = true;
    }
    return m_row;
}

std::span<const RecordedStep> StepHistory::from(std::int64_t number) const
{
    const auto all = steps();
    const auto at = std::ranges::lower_bound(all, number, {}, &RecordedStep::number);
    return { at, all.end() };
}

void StepHistory::keepLatest(std::size_t most)
{
    if (m_steps.size() <= most)
        return;
    m_steps.erase(m_steps.begin(), std::prev(m_steps.end(), std::ptrdiff_t(most)));
    m_isLaid = false;
}

} // namespace trainyard::live

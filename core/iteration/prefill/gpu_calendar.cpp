// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/gpu_calendar.h"

#include <algorithm>

namespace trainyard {

UntouchedIteration untouchedIteration(
    const std::vector<FreeWindow> &windows, Nanoseconds period, Nanoseconds shortest, bool isOnly)
{
    const Nanoseconds wrapped = windows.empty() ? 0 : std::max<Nanoseconds>(0, windows.back().end - period);
    return { std::make_shared<const GapTree>(windows, shortest), period, wrapped, isOnly };
}

GpuCalendar::GpuCalendar(UntouchedIteration untouched, Nanoseconds takenUntil)
    : m_untouched(std::move(untouched))
    , m_first(m_untouched.isOnly ? 0 : iterationOf(takenUntil))
    , m_takenUntil(takenUntil)
{
}

/// The first whose windows may reach that time.
std::int64_t GpuCalendar::iterationOf(Nanoseconds time) const
{
    const std::int64_t iteration = time / m_untouched.period;
    return time - iteration * m_untouched.period < m_untouched.wrappedUntil ? iteration - 1 : iteration;
}

GpuCalendar::Fit GpuCalendar::firstFit(Nanoseconds from, Nanoseconds length, Nanoseconds latest) const
{
    if (m_untouched.gaps->longest() < length)
        return {};
    from = std::max(from, m_takenUntil);
    for (std::int64_t iteration = std::max(m_first, iterationOf(from));; ++iteration) {
        if (m_untouched.isOnly && iteration > 0)
            return {};
        const Nanoseconds begin = iteration * m_untouched.period;
        if (begin > latest)
            return { begin, iteration };
        const auto index = std::size_t(iteration - m_first);
        const bool isTouched = index < m_touched.size() && m_touched[index];
        const GapTree &gaps = isTouched ? *m_touched[index] : *m_untouched.gaps;
        if (const auto place = gaps.firstFit(from - begin, length))
            return { begin + *place, iteration };
    }
}

void GpuCalendar::take(Fit fit, Nanoseconds length, Nanoseconds now)
{
    const auto index = std::size_t(fit.iteration - m_first);
    if (index >= m_touched.size())
        m_touched.resize(index + 1);
    if (!m_touched[index])
        m_touched[index] = std::make_unique<GapTree>(*m_untouched.gaps);
    m_touched[index]->take(fit.start - fit.iteration * m_untouched.period, length);
    std::size_t gone = 0;
    while (gone < m_touched.size() && m_first + std::int64_t(gone) < iterationOf(now))
        ++gone;
    while (gone < m_touched.size() && m_touched[gone] && m_touched[gone]->isFull())
        ++gone;
    m_touched.erase(m_touched.begin(), m_touched.begin() + std::ptrdiff_t(gone));
    m_first += std::int64_t(gone);
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/sources/prometheus_reading.h"

#include "core/live/sources/prometheus_answers.h"

#include <algorithm>

namespace trainyard::live {

namespace {

/// The first of the samples at its end that say the same.
std::size_t firstOf(const SampleSeries &series, bool isUp)
{
    std::size_t at = series.value.size() - 1;
    while (at > 0 && (series.value[at - 1] > 0.5) == isUp)
        --at;
    return at;
}

} // namespace

PrometheusReading::Seen PrometheusReading::look(Batch &batch)
{
    m_gaps.mark(batch.part);
    Seen seen;
    for (const SampleSeries &series : batch.part.series) {
        if (series.name != "prometheus.up" || series.value.empty())
            continue;
        const bool isUp = series.value.back() > 0.5;
        const auto known = m_isUp.find(series.where);
        const bool wasUp = known == m_isUp.end() || known->second;
        m_isUp[series.where] = isUp;
        if (isUp != wasUp)
            seen.changes.push_back((series.where.empty() ? std::string("A target") : series.where.text())
                + (isUp ? " is back since " : " is down since ")
                + prometheus::clockText(batch.part.zero + series.at[firstOf(series, isUp)]));
    }
    seen.down = int(std::ranges::count_if(m_isUp, [](const auto &target) { return !target.second; }));
    seen.newest = m_gaps.newest();
    return seen;
}

} // namespace trainyard::live

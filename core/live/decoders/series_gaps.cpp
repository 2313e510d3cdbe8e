// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/decoders/series_gaps.h"

#include <cstdlib>
#include <limits>

namespace trainyard::live {

namespace {

constexpr std::size_t kMostSeries = 100'000; // further ones have their gaps unmarked

} // namespace

void SeriesGaps::mark(Recording &part)
{
    for (SampleSeries &series : part.series) {
        if (series.isByStep || series.at.empty())
            continue;
        auto found = m_known.find(soughtOf(series));
        if (found == m_known.end()) {
            if (m_known.size() >= kMostSeries)
                continue;
            found = m_known.emplace(SeriesKey(series), Known {}).first;
        }
        Known &known = found->second;
        std::vector<Moment> at;
        std::vector<double> value;
        for (std::size_t i = 0; i < series.at.size(); ++i) {
            const Moment now = part.zero + series.at[i];
            if (now > known.last) {
                const Moment apart = known.last > 0 ? now - known.last : 0;
                if (known.usual > 0 && static_cast<double>(apart) > kApart * static_cast<double>(known.usual)) {
                    const bool isAgain = std::abs(apart - known.wide) <= known.wide / 4;
                    known.wides = isAgain ? known.wides + 1 : 1;
                    known.wide = apart;
                    if (known.wides >= kSameAgain) {
                        known.usual = apart;
                    } else {
                        at.push_back(known.last + known.usual - part.zero);
                        value.push_back(std::numeric_limits<double>::quiet_NaN());
                        ++m_gaps;
                    }
                } else if (apart > 0) {
                    known.wides = 0;
                    if (known.usual == 0 || apart < known.usual)
                        known.usual = apart;
                }
                known.last = now;
            }
            at.push_back(series.at[i]);
            value.push_back(series.value[i]);
        }
        series.at = std::move(at);
        series.value = std::move(value);
        if (series.name != "prometheus.up")
            m_newest = std::max(m_newest, known.last);
    }
}

} // namespace trainyard::live

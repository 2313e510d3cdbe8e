// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/plots/axis_tickers.h"

#include "views/timeline/time_axis.h"

#include <cmath>

namespace trainyard {

double TimeTicker::getTickStep(const QCPRange &range)
{
    m_step = tickStep({ std::llround(range.lower * 1e9), std::llround(range.upper * 1e9) },
        m_axis.axisRect()->width(), kTickDistance);
    return double(m_step) * 1e-9;
}

QString TimeTicker::getTickLabel(double tick, const QLocale &, QChar, int)
{
    return tickLabel(std::llround(tick * 1e9), m_step, std::llround(m_largest * 1e9));
}

} // namespace trainyard

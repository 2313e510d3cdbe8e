// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/plots/axis_tickers.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

double TimeTicker::getTickStep(const QCPRange &range)
{
    const double step = QCPAxisTicker::getTickStep(range);
    const double largest = std::max(std::abs(range.upper), std::abs(range.lower));
    m_factor = largest >= 1 ? 1 : largest >= 1e-3 ? 1e3 : 1e6;
    m_unit = largest >= 1 ? QStringLiteral(" s") : largest >= 1e-3 ? QStringLiteral(" ms") : QStringLiteral(" µs");
    m_decimals = 0;
    for (double shown = step * m_factor; m_decimals < 6 && std::abs(shown - std::round(shown)) > 1e-6; shown *= 10)
        ++m_decimals;
    return step;
}

QString TimeTicker::getTickLabel(double tick, const QLocale &, QChar, int)
{
    const double value = tick * m_factor;
    return QString::number(std::abs(value) < 1e-12 ? 0 : value, 'f', m_decimals) + m_unit;
}

} // namespace trainyard

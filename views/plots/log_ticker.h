#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Ticks of a logarithmic axis that shows few decades: 1, 2, 5 of each where there is room, with labels by a function.

#include "views/plots/log_ticks.h"
#include "views/plots/qcustomplot_gateway.h"

#include <functional>

namespace trainyard {

class LogTicker : public QCPAxisTicker {
public:
    explicit LogTicker(std::function<QString(double)> text)
        : m_text(std::move(text))
    {
    }

protected:
    QVector<double> createTickVector(double, const QCPRange &range) override
    {
        return logTicks(range.lower, range.upper);
    }
    QVector<double> createSubTickVector(int, const QVector<double> &) override { return {}; }
    QString getTickLabel(double tick, const QLocale &, QChar, int) override { return m_text(tick); }

private:
    std::function<QString(double)> m_text;
};

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Tick labels as people read them: one unit along a time axis, percent, GB, whole stages.

#include "views/plots/qcustomplot_gateway.h"

#include <functional>

namespace trainyard {

/// Seconds on the axis; s, ms or µs on the labels, whichever suits the range, with the decimals that the step needs.
class TimeTicker : public QCPAxisTicker {
protected:
    double getTickStep(const QCPRange &range) override;
    QString getTickLabel(double tick, const QLocale &locale, QChar formatChar, int precision) override;

private:
    double m_factor = 1;
    int m_decimals = 0;
    QString m_unit;
};

/// Labels by a function; a fixed step where one is given.
class TextTicker : public QCPAxisTicker {
public:
    explicit TextTicker(std::function<QString(double)> text, double step = 0)
        : m_text(std::move(text))
        , m_step(step)
    {
    }

protected:
    double getTickStep(const QCPRange &range) override
    {
        return m_step > 0 ? m_step : QCPAxisTicker::getTickStep(range);
    }
    QString getTickLabel(double tick, const QLocale &, QChar, int) override { return m_text(tick); }

private:
    std::function<QString(double)> m_text;
    double m_step;
};

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Tick labels as people read them: one unit along a time axis, percent, GB, whole stages.

#include "core/base/units.h"
#include "views/plots/qcustomplot_gateway.h"

#include <functional>

namespace trainyard {

/// Seconds on the axis, with the ticks and labels of the timeline's ruler above it (views/timeline/time_axis.h).
class TimeTicker : public QCPAxisTicker {
public:
    /// Of `axis`, which outlives it; `largest`: seconds of the whole iteration, by which the unit is chosen.
    TimeTicker(const QCPAxis &axis, double largest)
        : m_axis(axis)
        , m_largest(largest)
    {
    }

protected:
    double getTickStep(const QCPRange &range) override;
    QString getTickLabel(double tick, const QLocale &locale, QChar formatChar, int precision) override;

private:
    const QCPAxis &m_axis;
    double m_largest;
    Nanoseconds m_step = 0;
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

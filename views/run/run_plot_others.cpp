// SPDX-License-Identifier: GPL-3.0-or-later
// Several runs in one chart.
#include "views/run/run_plot.h"

#include "views/plots/vector_plot.h"
#include "views/run/curve_points.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trainyard {

namespace {

constexpr int kDotEachBelow = 60; // steps

} // namespace

RunCurve stepTimesOf(const Run &run)
{
    RunCurve curve { .name = "step_time", .title = "Step time", .unit = "s" };
    for (const RunStep &step : run.steps) {
        curve.step.push_back(double(step.number));
        curve.value.push_back(step.seconds);
    }
    return curve;
}

void RunPlot::setOthers(std::vector<PlottedRun> others, const QString &name, const QColor &color)
{
    m_others = std::move(others);
    m_ownName = name;
    m_ownColor = color;
    draw();
}

void RunPlot::addGraph(const RunCurve &curve, const QPen &pen, bool hasDots)
{
    QCPGraph *graph = m_plot->addGraph();
    const CurvePoints points = curvePoints(curve);
    graph->setData(points.x, points.y, true);
    graph->setPen(pen);
    if (hasDots)
        graph->setScatterStyle({ QCPScatterStyle::ssDisc, pen.color(), pen.color(), 4 });
}

double RunPlot::drawOthers()
{
    double high = 0;
    for (const PlottedRun &other : m_others) {
        addGraph(other.curve, QPen(other.color, 1.4), int(other.curve.step.size()) <= kDotEachBelow);
        for (const double value : other.curve.value)
            high = std::max(high, std::isnan(value) ? 0 : value);
    }
    return high;
}

std::optional<double> RunPlot::nearestOfAll(double x) const
{
    std::optional<double> nearest = nearestStep(x);
    for (const PlottedRun &other : m_others)
        for (const double step : other.curve.step)
            if (!nearest || std::abs(step - x) < std::abs(*nearest - x))
                nearest = step;
    return nearest;
}

} // namespace trainyard

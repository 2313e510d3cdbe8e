// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/plots/pair_plot.h"

#include "models/job_spans.h"

#include <QPen>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

constexpr double kWideLine = 2.6, kThinLine = 1.3; // pixels
constexpr float kWideAlpha = 0.55F;

} // namespace

void PairPlot::setPair(PairSide before, PairSide after)
{
    m_sides = { std::move(before), std::move(after) };
    takeSides();
    const EvaluationPtr &first = m_sides[0].evaluation, &second = m_sides[1].evaluation;
    const bool isSecondLonger = !first || (second && second->timeline.duration > first->timeline.duration);
    setEvaluation(isSecondLonger ? second : first);
}

std::vector<CurvePlot::LegendEntry> PairPlot::legend() const
{
    std::vector<LegendEntry> entries;
    for (const PairSide &side : m_sides)
        if (side.evaluation)
            entries.push_back({ side.name, side.color });
    return entries;
}

QString PairPlot::emptyText() const
{
    return evaluation() ? whyEmpty() : tr("Not evaluated yet");
}

QPen PairPlot::penOf(std::size_t side) const
{
    QColor color = m_sides[side].color;
    const bool isWide = side == 0;
    if (isWide)
        color.setAlphaF(kWideAlpha);
    QPen pen(color, isWide ? kWideLine : kThinLine);
    pen.setCapStyle(Qt::FlatCap);
    return pen;
}

QString PairPlot::placeName(int stage) const
{
    return evaluation() && isOfJobs(*evaluation()) ? tr("GPU %1").arg(stage) : tr("Stage %1").arg(stage + 1);
}

int PairPlot::mostStages() const
{
    int most = 0;
    for (const PairSide &side : m_sides)
        if (side.evaluation)
            most = std::max(most, stageCount(*side.evaluation));
    return most;
}

double PairPlot::lengthOf(const Evaluation &evaluation)
{
    return double(evaluation.timeline.duration) * 1e-9;
}

} // namespace trainyard

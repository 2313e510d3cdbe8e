// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/offered_rate.h"

#include <cmath>

namespace trainyard {

namespace {

double roundedDown(double rate)
{
    const double unit = std::pow(10, std::floor(std::log10(rate)) - 1);
    return std::floor(rate / unit + 1e-9) * unit;
}

} // namespace

PlanPtr withOfferedRate(const Evaluation &evaluation)
{
    const auto &filled = evaluation.metrics.bubbleFill;
    const Metric room = filled ? filled->saturationRequestsPerSecond : std::nullopt;
    if (!evaluation.plan || !room || !(*room > 0))
        return nullptr;
    const BubbleFill &fill = evaluation.plan->bubbleFill;
    if (fill.arrivals == Arrivals::Trace || !fill.served.empty())
        return nullptr;
    Plan next = *evaluation.plan;
    next.bubbleFill.requestsPerSecond = roundedDown(kOfferedShare * *room);
    return std::make_shared<const Plan>(std::move(next));
}

} // namespace trainyard

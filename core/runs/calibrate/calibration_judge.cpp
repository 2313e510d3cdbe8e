// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/calibrate/calibration_judge_internal.h"

#include <algorithm>

namespace trainyard {

double Judge::seconds(const std::vector<const FittedFactor *> &factors)
{
    Plan plan = m_plan;
    if (!plan.parallelism.data && m_case.workload.layout.data > 0)
        plan.parallelism.data = m_case.workload.layout.data; // as it ran, whatever were faster with these
    for (const FittedFactor *fitted : factors)
        accept(plan, fitted->id, fitted->factor);
    const auto answer = run(std::make_shared<const Plan>(std::move(plan)), Depth::Score,
        { .catalogue = m_catalogue, .workspace = m_workspace, .stop = m_case.options.stop });
    return answer && *answer ? (*answer)->metrics.iterationTime.value_or(0) : 0;
}

double Judge::secondsBeside(const FittedFactor &fitted)
{
    std::vector<const FittedFactor *> all;
    for (const FittedFactor &other : m_case.proposal.factors)
        if (other.refused.empty())
            all.push_back(&other);
    all.push_back(&fitted); // takes the place of what was proposed of the same
    return seconds(all);
}

std::optional<double> Judge::errorOf(double predicted) const
{
    return heldOutError(m_case.proposal, predicted);
}

bool areOfSame(const CalibrationFactor &a, const CalibrationFactor &b)
{
    const auto meet = [](const std::string &one, const std::string &other) {
        return one.empty() || other.empty() || one == other;
    };
    return a.what == b.what && meet(a.gpu, b.gpu) && meet(a.datacenter, b.datacenter)
        && (a.between.empty() || b.between.empty() || std::ranges::is_permutation(a.between, b.between));
}

void accept(Plan &plan, const std::string &id, const CalibrationFactor &factor)
{
    std::erase_if(plan.calibration, [&](const auto &entry) {
        const auto known = parseCalibrationFactor(entry.second, "calibration/" + entry.first);
        return known && known->isAccepted && areOfSame(*known, factor);
    });
    plan.calibration[id] = formatCalibrationFactor(factor);
}

} // namespace trainyard

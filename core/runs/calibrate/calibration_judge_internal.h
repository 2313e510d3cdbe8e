#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the plan predicts with factors, as it would be with them accepted: what it has learnt before and they do not
// replace stays. For the .cpp files of this folder.

#include "core/evaluation/evaluate/run.h"
#include "core/runs/calibrate/calibration_case_internal.h"

namespace trainyard {

class Judge {
public:
    Judge(const CalibrationCase &of, const Plan &plan, const Catalogue &catalogue)
        : m_case(of)
        , m_plan(plan)
        , m_catalogue(catalogue)
    {
    }

    /// Of the plan that has accepted these; 0 where it has no iteration.
    [[nodiscard]] double seconds(const std::vector<const FittedFactor *> &factors);
    /// And all that was proposed so far.
    [[nodiscard]] double secondsBeside(const FittedFactor &fitted);
    /// Median of |predicted / measured - 1| of the steps that were held out; empty: there are none.
    [[nodiscard]] std::optional<double> errorOf(double predicted) const;

private:
    const CalibrationCase &m_case;
    const Plan &m_plan;
    const Catalogue &m_catalogue;
    EvaluationWorkspace m_workspace;
};

/// Puts it in the place of what the plan knows of the same.
void accept(Plan &plan, const std::string &id, const CalibrationFactor &factor);
/// Both are of one part, and of places that meet: they cannot be accepted side by side.
[[nodiscard]] bool areOfSame(const CalibrationFactor &a, const CalibrationFactor &b);

} // namespace trainyard

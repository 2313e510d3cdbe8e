#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The plans of a sweep's rows. Setting a key reads and writes a whole plan as JSON, which takes longer than evaluating
// it; so each value is read once, and what it sets is copied from then on wherever it is a plain number, flag or choice
// and sets nothing else. Other keys (a model, a list, a text) are set the long way, and the plans that they give are
// kept. One a thread.

#include "core/planner/sweep/sweep.h"

#include <any>
#include <map>

namespace trainyard {

class RowPlans {
public:
    explicit RowPlans(SweepSpec spec);
    [[nodiscard]] const SweepSpec &spec() const { return m_spec; }
    /// The same plan as withKeySet() for each key in turn. Errors: as it.
    [[nodiscard]] ExpectedAll<PlanPtr> plan(const std::vector<std::size_t> &choices);

private:
    struct Axis {
        bool isCopied = false;
        /// [value]; empty: not yet read
        std::vector<std::any> with;
    };
    [[nodiscard]] ExpectedAll<PlanPtr> longWay(const std::vector<std::size_t> &choices);

    SweepSpec m_spec;
    std::vector<Axis> m_axes;
    /// by the choices that are not copied
    std::map<std::vector<std::size_t>, ExpectedAll<PlanPtr>> m_kept;
};

} // namespace trainyard

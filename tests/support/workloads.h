#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plans of tests, resolved and placed. A plan that cannot be resolved ends the test.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/placement/resolve.h"

#include <QtGlobal>

namespace trainyard::test {

inline Requested requested(PlanPtr plan)
{
    auto asked = resolve(std::move(plan), builtinCatalogue());
    if (!asked)
        qFatal("%s", toString(asked.error().front()).c_str());
    return *std::move(asked);
}

inline Requested requested(Plan plan)
{
    return requested(std::make_shared<const Plan>(std::move(plan)));
}

/// At its least bound.
inline Workload placedWorkload(Plan plan, PlacementMode mode = PlacementMode::PipelineAcross)
{
    return place(requested(std::move(plan)), mode);
}

/// With its shares dealt, as the first that is simulated.
inline Workload dealtWorkload(Plan plan)
{
    Requested asked = requested(std::move(plan));
    Layout layout = placements(asked).found.front().layout;
    return { std::move(asked), std::move(layout) };
}

/// Where its evaluation lies.
inline Workload workloadOf(const Evaluation &evaluation)
{
    return { requested(evaluation.plan), evaluation.layout };
}

} // namespace trainyard::test

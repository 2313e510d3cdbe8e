// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/model_change.h"

namespace trainyard {

bool forgetModel(Plan &plan)
{
    const bool hadTimes = plan.profile.has_value() || plan.layerProfiles.has_value();
    plan.profile.reset();
    plan.layerProfiles.reset();
    plan.jobs.clear();
    plan.jobGrid.reset();
    plan.placement.layers.clear();
    return hadTimes;
}

bool lacksModel(const Plan &plan)
{
    return plan.workload.model.empty() && !plan.workload.inlineModel && !plan.profile && plan.jobs.empty()
        && !plan.jobGrid;
}

} // namespace trainyard

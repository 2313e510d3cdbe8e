// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/measured_speed.h"

namespace trainyard {

void speedUpStages(Plan &plan, double times)
{
    if (!plan.profile)
        return;
    for (PerStage MeasuredStageTimes::*list : { &MeasuredStageTimes::forwardMs, &MeasuredStageTimes::backwardMs,
             &MeasuredStageTimes::recomputeMs, &MeasuredStageTimes::weightGradMs, &MeasuredStageTimes::pairedMs })
        for (double &time : (*plan.profile).*list)
            time /= times;
}

bool speedUpLayers(Plan &plan, const std::string &gpu, double times)
{
    if (!plan.layerProfiles || !plan.layerProfiles->gpus.contains(gpu))
        return false;
    GpuLayerTimes &own = plan.layerProfiles->gpus.at(gpu);
    for (TimeByMicroBatch *line : { &own.forwardMs, &own.backwardMs }) {
        for (auto &[size, ms] : line->measured)
            ms /= times;
        line->slope /= times;
        line->intercept /= times;
    }
    return true;
}

} // namespace trainyard

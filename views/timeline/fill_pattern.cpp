// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/fill_pattern.h"

namespace trainyard {

FillPattern fillPattern(WorkKind kind)
{
    switch (kind) {
    case WorkKind::Recompute:
        return FillPattern::Hatch;
    case WorkKind::OffloadStore:
    case WorkKind::OffloadLoad:
    case WorkKind::GradientsToHost:
    case WorkKind::StatesToHost:
    case WorkKind::StatesToGpu:
    case WorkKind::WeightsToGpu:
        return FillPattern::BackHatch;
    case WorkKind::DriveWrite:
        return FillPattern::Hatch;
    case WorkKind::PipelineTransfer:
    case WorkKind::WanTransfer:
        return FillPattern::Dots;
    case WorkKind::GradientReduce:
    case WorkKind::ParameterGather:
    case WorkKind::Collective:
        return FillPattern::Lines;
    default:
        return FillPattern::Plain;
    }
}

bool patternInks(FillPattern pattern, int x, int y)
{
    switch (pattern) {
    case FillPattern::Hatch:
        return (x + y) % 6 < 2;
    case FillPattern::BackHatch:
        return (x - y + 6000) % 6 < 2;
    case FillPattern::Dots:
        return x % 4 == 1 && y % 4 == (x % 8 < 4 ? 1 : 3);
    case FillPattern::Lines:
        return y % 4 == 1;
    case FillPattern::Plain:
        break;
    }
    return false;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/timeline/timeline.h"

namespace trainyard {

const char *toString(WorkKind kind)
{
    switch (kind) {
    case WorkKind::Forward: return "forward";
    case WorkKind::Backward: return "backward";
    case WorkKind::InputGrad: return "input gradient";
    case WorkKind::WeightGrad: return "weight gradient";
    case WorkKind::Recompute: return "recompute";
    case WorkKind::ForwardBackward: return "forward and backward";
    case WorkKind::PipelineTransfer: return "pipeline transfer";
    case WorkKind::WanTransfer: return "WAN transfer";
    case WorkKind::Collective: return "collective";
    case WorkKind::GradientReduce: return "gradient reduce";
    case WorkKind::ParameterGather: return "parameter gather";
    case WorkKind::Optimizer: return "optimizer";
    case WorkKind::OffloadStore: return "offload store";
    case WorkKind::OffloadLoad: return "offload load";
    case WorkKind::Prefill: return "prefill";
    case WorkKind::Overhead: return "overhead";
    }
    return "";
}

bool isTrainingCompute(WorkKind kind)
{
    return kind <= WorkKind::ForwardBackward;
}

} // namespace trainyard

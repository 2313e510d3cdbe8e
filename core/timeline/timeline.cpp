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
    case WorkKind::GradientReduce: return "gradient sync";
    case WorkKind::ParameterGather: return "parameter gather";
    case WorkKind::Optimizer: return "optimizer";
    case WorkKind::OffloadStore: return "offload store";
    case WorkKind::OffloadLoad: return "offload load";
    case WorkKind::Prefill: return "prefill";
    case WorkKind::Overhead: return "overhead";
    case WorkKind::GradientsToHost: return "gradients to host";
    case WorkKind::StatesToHost: return "states to host";
    case WorkKind::DriveRead: return "drive read";
    case WorkKind::DriveWrite: return "drive write";
    case WorkKind::CpuOptimizer: return "CPU optimizer";
    case WorkKind::GpuOptimizer: return "GPU optimizer";
    case WorkKind::StatesToGpu: return "states to GPU";
    case WorkKind::WeightsToGpu: return "weights to GPU";
    }
    return "";
}

bool isTrainingCompute(WorkKind kind)
{
    return kind <= WorkKind::ForwardBackward;
}

} // namespace trainyard

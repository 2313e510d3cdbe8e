#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a pool's GPUs are called where there is little room. Pure functions, any thread.

#include "core/evaluation/evaluate/evaluation.h"

#include <QString>

namespace trainyard {

/// "A100 SXM" for "NVIDIA A100 SXM 80 GB": without the vendor and the memory.
[[nodiscard]] QString shortGpuName(const Pool &pool);
/// Of the GPUs that serve a stage of a class of pipelines; empty where nothing is known.
[[nodiscard]] QString gpuNameAt(const Evaluation &evaluation, int pipelineClass, int stage);

} // namespace trainyard

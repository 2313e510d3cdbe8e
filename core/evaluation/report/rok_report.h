#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Recompute, offload or keep, as `trainyard-cli rok` prints it: the points that the window draws.

#include "core/evaluation/advice/rok.h"

#include <string>

namespace trainyard {

[[nodiscard]] std::string rokTable(const RokCurve &curve);
/// {"points": [{"way", "micro_batch", "current", "activations_bytes", "model_tflops_per_gpu", "iteration_time_s",
/// "stall_s", "device_bytes", "capacity_bytes", "fits"}], "left_out": [{"way", "micro_batch", "why"}]}
[[nodiscard]] std::string rokJson(const RokCurve &curve);
/// One line a point, with the keys of JSON as columns.
[[nodiscard]] std::string rokCsv(const RokCurve &curve);

} // namespace trainyard

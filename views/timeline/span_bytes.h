#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How many bytes one store or load of activation offload moves, read off the two memory curves of its stage: what lies
// outside the GPU is the curve with everything kept less the one with offload, and only stores and loads change it.
// Pure function.

#include "core/evaluate/evaluation.h"

#include <cstdint>
#include <optional>

namespace trainyard {

/// Bytes of one GPU; empty where the span moves none or the curves do not tell: of other pipelines than those of the curves.
[[nodiscard]] std::optional<std::int64_t> bytesMoved(const Evaluation &evaluation, std::uint32_t span);

} // namespace trainyard

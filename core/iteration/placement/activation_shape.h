#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan makes of the activations of its model, resolved once: cost and memory count by it.

#include "core/facts/workload/model_math.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// The shape of one micro-batch of a plan on one GPU, with its recomputation.
[[nodiscard]] ActivationShape activationShape(const Requested &asked);

/// Bytes of a saved activation that is kept in `bits` with two 32-bit figures (scale, offset) a group of 256 elements,
/// as a share of what it was: bits / (8 e) + 8 / (256 e), e bytes an element (Mesa, arXiv 2111.11124; ActNN,
/// 2104.14129).
[[nodiscard]] double compressedShare(double bits, double elementBytes);

} // namespace trainyard

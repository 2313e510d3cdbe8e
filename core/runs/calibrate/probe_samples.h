#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a probe's file (docs/probe.md) teaches about a plan: kernels that it timed alone over what the kernel models say
// of the same shapes, and α-β fits of its copies and collectives in the form that the plan's collectives have. Pure
// functions; recordings without a probe give nothing.

#include "core/runs/calibrate/calibrate.h"

namespace trainyard {

/// Products, attention and memory by GPU type; nvlink, fabric, PCIe and drives. Of hardware that the plan does not
/// have, of too few points or too uneven ones: with a reason in `refused`. Kernels are held to the same models that the
/// plan is made of, before any calibration.
[[nodiscard]] std::vector<FittedFactor> factorsOfProbe(
    const Recording &recording, const Evaluation &evaluation, const Catalogue &catalogue);

/// What a probe measured that no factor takes, beside what the plan has of it, and why it is not taken: grouped
/// products, kernels under load. A sentence each.
[[nodiscard]] std::vector<std::string> notesOfProbe(
    const Recording &recording, const Evaluation &evaluation, const Catalogue &catalogue);

} // namespace trainyard

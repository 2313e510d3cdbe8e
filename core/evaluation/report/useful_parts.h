#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What better parts would buy, evaluated for a report: those of core/evaluation/advice/alternatives.h that make an
// iteration shorter. Deterministic.

#include "core/evaluation/report/explanation.h"

#include <stop_token>
#include <vector>

namespace trainyard {

class Catalogue;

/// Of several sizes of a part the one that gains most per piece; the largest gain first. Empty of a plan without an
/// iteration, of one that is not compared (core/evaluation/evaluate/comparable.h), and where none helps.
[[nodiscard]] std::vector<PartEffect> usefulParts(
    const Evaluation &evaluation, const Catalogue &catalogue, std::stop_token stop = {});

} // namespace trainyard

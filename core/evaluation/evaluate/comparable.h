#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Whether figures of evaluations may be set against each other: what is not understood of a model, or of what a plan is
// made of, may weigh more than any difference. Whoever ranks, advises or shows effects asks here first. Pure functions.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/workload/doubt.h"

#include <string>

namespace trainyard {

/// "not compared: --frobnicate 3: is not understood …"; empty where figures with such doubts may be compared.
[[nodiscard]] std::string whyNotCompared(const Doubts &doubts);
[[nodiscard]] std::string whyNotCompared(const Evaluation &one);
/// The same of either of the two, of the first before the second.
[[nodiscard]] std::string whyNotCompared(const Evaluation &one, const Evaluation &other);

} // namespace trainyard

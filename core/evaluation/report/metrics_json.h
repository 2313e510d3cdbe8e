#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// An evaluation as JSON with the fixed names of docs/metrics.md: what `trainyard-cli evaluate --format json` prints.
// A metric that does not apply is null. Numbers are always finite.

#include "core/evaluation/evaluate/evaluation.h"

#include <string>

namespace trainyard {

/// Two-space indented, ending in a newline.
[[nodiscard]] std::string metricsJson(const Evaluation &evaluation);
/// JSON Schema (draft-07) of it.
[[nodiscard]] std::string metricsSchema();

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Why an iteration takes as long as it does: the breakdown, every stage's own seconds, and the critical path.

#include "core/evaluate/evaluation.h"

#include <string>

namespace trainyard {

[[nodiscard]] std::string explanationTable(const Evaluation &evaluation);
[[nodiscard]] std::string explanationJson(const Evaluation &evaluation);

} // namespace trainyard

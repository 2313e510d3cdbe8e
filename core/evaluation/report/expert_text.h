#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What layers of experts take, in sentences that the table and the reports share. Plain text.

#include "core/evaluation/evaluate/evaluation.h"

#include <string>
#include <vector>

namespace trainyard {

/// "One expert layer takes 4.20 ms forward, of which nothing computes for 1.10 ms", and what travels. Empty where there
/// are no experts.
[[nodiscard]] std::vector<std::string> expertSentences(const Evaluation &evaluation);

} // namespace trainyard

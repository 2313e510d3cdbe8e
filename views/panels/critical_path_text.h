#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The critical path in one sentence: which work and which waits the end of the iteration hangs on. Pure function.

#include "core/evaluation/evaluate/evaluation.h"

#include <QString>

namespace trainyard {

/// Empty where the evaluation keeps no timeline.
[[nodiscard]] QString criticalPathSentence(const Evaluation &evaluation);

} // namespace trainyard

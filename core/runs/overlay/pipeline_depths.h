#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which ranks of a recording lie behind which in their pipelines, where no plan tells it.

#include "core/runs/overlay/run_steps.h"

namespace trainyard {

/// How far down the pipeline each recorded rank is, by who sends first to whom in what was
/// recorded, which begins with a step: who is sent to before it has
/// sent anything there lies behind. 0 for all where nobody sends.
[[nodiscard]] std::vector<int> pipelineDepths(const Run &run);

} // namespace trainyard

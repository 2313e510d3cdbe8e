#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which type of GPU a run had, of all that names one: traces and logs of its ranks, arguments of its launcher, the
// constraint that a scheduler is given ("#SBATCH --constraint=a100"). The first that tells one counts; what others
// name instead goes with the plan. One thread.

#include "core/runs/imports/draft.h"

#include <optional>
#include <string>

namespace trainyard::imports {

struct ToldGpu {
    /// "NVIDIA A100-SXM4-80GB", "a100"
    std::string name;
    /// "--constraint (run.sh)"
    std::string from;
};
/// Where no topology names it; empty where nothing does. A constraint that allows several types names none of them.
[[nodiscard]] std::optional<ToldGpu> toldGpu(const Draft &draft);

/// Of a plan whose pools are made: whoever names a GPU that none of them has.
void tellOtherGpus(Draft &draft);

} // namespace trainyard::imports

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which GPUs serve together: groups of p GPUs of one datacenter, first of those whose bubbles are aligned (the same
// stage of equal pipelines), then, where chaining is allowed, of what is left over. Pure functions of values.

#include "core/iteration/prefill/free_windows.h"

#include <vector>

namespace trainyard {

struct GroupMember {
    /// index into FreeWindows::locations
    int location = 0;
    /// of that location; 0: of the first pipeline
    int gpu = 0;
};

struct InferenceGroup {
    std::vector<GroupMember> members;
    bool isAligned = true;
};

/// Groups of `size` GPUs. Aligned: one pool, equal windows. Chained: one datacenter, in order of stage.
[[nodiscard]] std::vector<InferenceGroup> formGroups(const FreeWindows &free, int size, bool chaining);

} // namespace trainyard

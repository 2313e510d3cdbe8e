#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the shortest prompt of an iteration takes where nothing else runs: why bubbles stay empty that could be filled.

#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/placement/resolve.h"
#include "core/iteration/prefill/served_model.h"

#include <limits>
#include <optional>

namespace trainyard {

/// The shortest prompt of the iteration on the idle GPUs that serve it first.
struct IdlePrompt {
    int tokens = 0;
    Nanoseconds firstToken =
        std::numeric_limits<Nanoseconds>::max(); // p d + (p - 1) hop (+ the last move of keys and values)
    /// of those GPUs
    SliceTime slice;
};

/// Nothing where no model is served, or no request arrives in `period`.
[[nodiscard]] std::optional<IdlePrompt> shortestPrompt(
    const Workload &workload, const Catalogue &catalogue, Nanoseconds period);

} // namespace trainyard

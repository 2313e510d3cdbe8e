#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Length of sequences and number of GPUs that follow from what a log says with its steps: tokens / sequences that were
// consumed, and sequences per second × length / tokens per second of a GPU. Derived, never told: an argument goes
// before. Pure functions.

#include "core/runs/imports/megatron_theory.h"

#include <cstdint>

namespace trainyard::imports {

/// of a run
inline constexpr std::int64_t kMostGpus = 10'000'000;

/// Of the first source that has them; empty where none does, or where they come out at no whole number.
struct LoggedJob {
    std::vector<DerivedArgument> arguments;
    std::uint32_t source = kNoIndex;
};
[[nodiscard]] LoggedJob loggedJob(const Recording &recording);

} // namespace trainyard::imports

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The line that PyTorch dies with where a GPU's memory does not suffice, of 2022 and since, CUDA's and HIP's: what was
// asked for, what the GPU has, and what the allocator held. Pure functions, any thread.

#include "core/runs/telemetry/readers/text_lines.h"

namespace trainyard::readers {

/// Bytes; 0: not told.
struct OutOfMemory {
    /// the launcher's process, else the GPU's index; -1: neither is told
    int rank = -1;
    double asked = 0, capacity = 0;
    double allocated = 0;
    /// by the allocator, allocated or not
    double reserved = 0;
};
[[nodiscard]] std::optional<OutOfMemory> outOfMemoryIn(const TextLine &line);

} // namespace trainyard::readers

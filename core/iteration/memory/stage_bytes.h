#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What fills one GPU of a stage, in whole bytes: the answer of this room. Plain value.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace trainyard {

struct StageMemory { // bytes on one GPU of the stage, of the fullest set of its ranks
    int stage = 0;
    std::int64_t weights = 0, gradients = 0, optimizer = 0, activations = 0, buffers = 0, offloaded = 0;
    /// allocated by the framework: the sum of the above but offloaded
    std::int64_t peak = 0;
    /// by its allocator
    std::int64_t reserved = 0;
    /// reserved + context + communication buffers
    std::int64_t device = 0;
    std::int64_t capacity = 0;
    /// of `offloaded`, at the moment when most are
    std::int64_t activationsOffloaded = 0;
    /// micro-batches alive at the peak
    double inFlight = 0;
    std::int64_t activationPerMicroBatch = 0;
    /// what fills this GPU, largest first
    std::vector<std::pair<std::string, std::int64_t>> parts;
    [[nodiscard]] bool fits() const { return device <= capacity; }
};

} // namespace trainyard

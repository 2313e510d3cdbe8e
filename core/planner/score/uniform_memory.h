#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Memory and verdict of uniform plans (uniform_plan.h): the walk over a stage's order of work, the states and the sum
// of both, by the functions that run() calls, once for each kind of stage. What micro-batches hold depends on the order
// and on the bytes of a chunk alone, so it is remembered by those.

#include "core/iteration/memory/op_memory.h"
#include "core/planner/score/part_table.h"
#include "core/planner/score/uniform_topology.h"

#include <vector>

namespace trainyard {

struct UniformFill {
    /// false: run() has to say
    bool isKnown = false;
    bool fits = false;
    /// of the fullest GPU
    double fill = 0;
};

/// But for what memory has no say in.
[[nodiscard]] bool isPlainFeasible(const Workload &workload);

/// One a thread.
class UniformMemory {
public:
    /// Of a workload with its layout.
    [[nodiscard]] UniformFill fill(const Workload &workload, const UniformFrame &frame, const PlainWork &work);

private:
    struct Held { // at the fullest moment of a stage that may be the fullest of its kind
        std::uint16_t kind = 0;
        LiveBytes live;
    };
    [[nodiscard]] std::vector<Held> walk(const UniformFrame &frame, const PlainWork &work, bool isRecomputing) const;

    /// [kind], of the plan at hand
    std::vector<std::vector<ChunkMemory>> m_chunks;
    PartTable<std::vector<Held>> m_held;
    /// entries of all
    std::size_t m_kept = 0;
};

} // namespace trainyard

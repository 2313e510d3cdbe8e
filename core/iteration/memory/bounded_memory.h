#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The memory that a plan may take, before there is an order of work to count.

#include "core/iteration/memory/stage_bytes.h"
#include "core/iteration/placement/resolve.h"

#include <vector>

namespace trainyard {

/// Of a workload with a layout, the most that any order of its schedule makes every stage hold, as if all activations
/// stayed on the GPU: never less than stageMemory() of a plan whose activations do, and the same for one chunk a stage
/// under 1f1b and gpipe. Without names.
[[nodiscard]] std::vector<StageMemory> boundedStageMemory(const Workload &workload);

/// Of a GPU whose framework has allocated `peak` bytes, with `beside` them what no allocator holds (context,
/// communication buffers).
[[nodiscard]] inline std::int64_t deviceBytes(std::int64_t peak, std::int64_t beside, const StackSpec &stack)
{
    return peak + wholeBytes(double(peak) * (stack.fragmentation - 1)) + beside;
}

/// The same of one class alone, on each of its stages, with its own micro-batches.
[[nodiscard]] std::vector<StageMemory> boundedMemory(const Workload &workload, const PipelineClass &pipelines);

} // namespace trainyard

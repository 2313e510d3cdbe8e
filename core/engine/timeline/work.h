#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Kinds of work, and what the tasks of one class do. A graph has few classes and many tasks, so a task names its class
// and the class says the rest: how long, how many bytes it moves, what it takes of memory and gives back. The engine
// reads times and flows only; metrics, memory, views and exports read the rest.

#include "core/base/units.h"

#include <array>
#include <cstdint>

namespace trainyard {

enum class WorkKind : std::uint8_t {
    Forward,
    Backward,
    InputGrad,
    WeightGrad,
    /// on a compute stream; Backward = input and weight gradients
    Recompute,
    /// of two micro-batches at once, the communication of each under the other
    ForwardBackward,
    PipelineTransfer,
    /// a stage boundary, inside and between datacenters
    WanTransfer,
    /// tensor, context or expert parallel, where drawn on its own
    Collective,
    GradientReduce,
    ParameterGather,
    Optimizer,
    OffloadStore,
    OffloadLoad,
    Prefill,
    Overhead,
    // States off the GPU (ZeRO-Offload, ZeRO-Infinity, Deep Optimizer States), beside or below a stage's own work
    GradientsToHost,
    StatesToHost,
    DriveRead,
    DriveWrite,
    CpuOptimizer,
    GpuOptimizer,
    StatesToGpu,
    WeightsToGpu,
};
inline constexpr int kWorkKindCount = 24;

/// What a stage's seconds are attributed to. None: on rows of their own, for which nothing waits.
enum class TimeUse : std::uint8_t { Compute, Bubble, Wan, Pipeline, Reduce, Optimizer, Overhead, Offload, None };
inline constexpr int kTimeUseCount = 9;

/// Since when a stage waits for work of a kind on another row: since the result that it carries was there, since it
/// began, since it ended (the lag of a local boundary), or for what it waited for itself.
enum class WaitsSince : std::uint8_t { Origin, Start, End, Cause };

struct WorkTraits {
    /// that tables, legends and exports show
    const char *name;
    TimeUse use;
    WaitsSince waitsSince;
};
extern const std::array<WorkTraits, kWorkKindCount> kWorkTraits;
[[nodiscard]] inline const WorkTraits &traitsOf(WorkKind kind)
{
    return kWorkTraits[static_cast<std::size_t>(kind)];
}
/// "forward", "gradient sync" …
[[nodiscard]] inline const char *toString(WorkKind kind)
{
    return traitsOf(kind).name;
}
/// Work that keeps the GPU's compute units busy for training (recompute included, prefill not).
[[nodiscard]] constexpr bool isTrainingCompute(WorkKind kind)
{
    return kind <= WorkKind::ForwardBackward;
}

inline constexpr std::uint32_t kNoSpan = 0xffffffffu;

/// Bytes on the GPU, outside it (in host memory or on drives), and discarded until they are recomputed. What would be
/// on the GPU if everything stayed is the sum of the three.
struct PoolBytes {
    double gpu = 0, offloaded = 0, discarded = 0;
    PoolBytes &operator+=(const PoolBytes &other)
    {
        gpu += other.gpu;
        offloaded += other.offloaded;
        discarded += other.discarded;
        return *this;
    }
    [[nodiscard]] double whole() const { return gpu + offloaded + discarded; }
    bool operator==(const PoolBytes &) const = default;
};

/// What a task takes of memory, or gives back (negative). While it runs it also holds `running` bytes on the GPU.
struct MemoryChange {
    PoolBytes atStart, atEnd;
    double running = 0;
    bool operator==(const MemoryChange &) const = default;
};

/// Of a curve: from then on so many bytes.
struct MemoryStep {
    Nanoseconds time;
    std::int64_t bytes;
};

/// Seconds of one task in which its stage does not compute but exchanges, apart by what: tensor, context, expert and
/// data parallelism, and copies to and from host memory or drives. The rest of its time is computation.
struct ExposedSeconds {
    double tensor = 0, context = 0, expert = 0, data = 0, copies = 0;
    [[nodiscard]] double total() const { return tensor + context + expert + data + copies; }
    ExposedSeconds &operator+=(const ExposedSeconds &o)
    {
        tensor += o.tensor;
        context += o.context;
        expert += o.expert;
        data += o.data;
        copies += o.copies;
        return *this;
    }
    friend ExposedSeconds operator*(ExposedSeconds e, double f)
    {
        return { e.tensor * f, e.context * f, e.expert * f, e.data * f, e.copies * f };
    }
    bool operator==(const ExposedSeconds &) const = default;
};

struct TaskClass {
    WorkKind kind = WorkKind::Forward;
    /// where the stage's memory says what the bytes are; kNoSpan: it says nothing
    std::uint32_t memoryParts = kNoSpan;
    /// that one task moves
    double bytes = 0;
    /// of one GPU of its stage
    MemoryChange memory;
    /// inside it
    ExposedSeconds exposed;
    /// that it belongs to, where several share the resources
    std::uint32_t job = kNoSpan;
};

} // namespace trainyard

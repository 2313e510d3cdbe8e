#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The board on which list schedulers lay operations: for each device when it is free, how long it has waited and what
// it holds, and for each next operation when its input arrives. Operations of one kind and chunk go in micro-batch
// order. Internal to core/engine/schedule.

#include "core/engine/schedule/program.h"

#include <array>
#include <queue>

namespace trainyard::schedules {

/// Three digits of the longest operation are kept, so that close times give the same order; empty times become equal
/// ones.
[[nodiscard]] ScheduleTimes roundedTimes(const ScheduleShape &shape, const ScheduleTimes &times);

/// A kind of operation of one chunk; micro-batches go in order.
struct ChunkStep {
    OpKind kind;
    int chunk;
};

class ListBoard {
public:
    static constexpr std::int64_t kUnknown = std::int64_t { 1 } << 60;

    /// Keeps a reference to the times, which must have an entry for each virtual stage.
    ListBoard(const ScheduleShape &shape, ChunkPlacement placement, const ScheduleTimes &times);

    [[nodiscard]] int done(OpKind kind, int device, int chunk = 0) const { return at(device, chunk).done[index(kind)]; }
    [[nodiscard]] bool hasMore(OpKind kind, int device, int chunk = 0) const
    {
        return done(kind, device, chunk) < m_shape.microBatches;
    }
    /// Of the next operation; kUnknown while what it waits for is not laid yet, or where there is no next.
    [[nodiscard]] std::int64_t arrival(OpKind kind, int device, int chunk = 0) const;
    [[nodiscard]] std::int64_t duration(OpKind kind, int device, int chunk = 0) const;
    /// From the virtual stage before it; 0 where that is on the same device.
    [[nodiscard]] std::int64_t boundaryBefore(int device, int chunk = 0) const { return at(device, chunk).before; }
    [[nodiscard]] std::int64_t freeAt(int device) const { return m_devices[static_cast<std::size_t>(device)].freeAt; }
    /// Waited since its first operation, and the longest of all devices.
    [[nodiscard]] std::int64_t idle(int device) const { return m_devices[static_cast<std::size_t>(device)].idle; }
    [[nodiscard]] std::int64_t worstIdle() const { return m_worstIdle; }
    /// Activations, kChunk for each whole chunk and less between its input and its weight gradient.
    static constexpr int kChunk = 1000;
    [[nodiscard]] int live(int device) const { return m_devices[static_cast<std::size_t>(device)].live; }
    /// Lays weight gradients until one more forward stays within `limit`; false where there are not enough of them.
    bool makeRoom(int device, int limit);
    [[nodiscard]] bool hasPendingWeightGrad(int device) const;
    /// of the oldest pending
    [[nodiscard]] std::int64_t weightGradDuration(int device) const;

    void lay(OpKind kind, int device, int chunk = 0);
    /// the oldest pending
    void layWeightGrad(int device);
    void layPendingWeightGrads();
    /// Weight gradients as long as a whole one fits before `arrival`.
    void fillWith(int device, std::int64_t arrival);

    /// What a whole program does, for comparing; false where it cannot be run.
    [[nodiscard]] bool lay(const Program &program);

    [[nodiscard]] bool isComplete() const;
    [[nodiscard]] Program program() &&;
    /// From first operation to the end of the tail: of the device where that is longest, and of all together.
    [[nodiscard]] std::int64_t longestSpan() const;
    [[nodiscard]] std::int64_t makespan() const;

private:
    struct Device {
        std::int64_t firstStart = 0, freeAt = 0, idle = 0;
        int live = 0;
        /// into inputGrads
        std::size_t nextWeightGrad = 0;
        /// chunk and micro-batch, in the order laid
        std::vector<std::pair<int, int>> inputGrads;
        std::vector<Op> order;
    };
    struct Chunk {
        int virtualStage = 0;
        /// on the way from the virtual stage before it, and from the one after it
        std::int64_t before = 0, after = 0;
        std::array<int, 3> done {};
    };

    [[nodiscard]] static std::size_t index(OpKind kind)
    {
        return kind == OpKind::Forward ? 0 : kind == OpKind::InputGrad ? 1 : 2;
    }
    [[nodiscard]] const Chunk &at(int device, int chunk) const
    {
        return m_chunks[static_cast<std::size_t>(device * m_shape.chunks + chunk)];
    }
    [[nodiscard]] std::int64_t endAt(std::size_t kind, int virtualStage, int k) const
    {
        return m_ends[kind][static_cast<std::size_t>(virtualStage) * static_cast<std::size_t>(m_shape.microBatches)
            + static_cast<std::size_t>(k)];
    }
    [[nodiscard]] std::int64_t endOf(int device) const;
    void append(Op op, int device, std::int64_t start, std::int64_t length);

    ScheduleShape m_shape;
    ChunkPlacement m_placement;
    const ScheduleTimes &m_times;
    /// [device * chunks + chunk]
    std::vector<Chunk> m_chunks;
    std::vector<std::int64_t>
        m_ends[2]; // of forwards and input gradients, [virtual stage * micro-batches + micro-batch]
    std::vector<Device> m_devices;
    std::int64_t m_worstIdle = 0;
    /// of kChunk, for the weight gradient
    int m_kept;
};

/// How many of `all` choices a search may try, so that a plan of any size answers while someone waits.
[[nodiscard]] int choicesToTry(const ScheduleShape &shape, int all);

/// Devices by the time at which each could start what it does next. A device has one entry; setting it again replaces
/// it.
class StartQueue {
public:
    explicit StartQueue(int devices)
        : m_starts(static_cast<std::size_t>(devices), ListBoard::kUnknown)
    {
    }
    void set(int device, std::int64_t start);
    /// The earliest, of several the first; -1 where none can start.
    [[nodiscard]] int earliest();

private:
    std::vector<std::int64_t> m_starts;
    std::priority_queue<std::pair<std::int64_t, int>, std::vector<std::pair<std::int64_t, int>>, std::greater<>>
        m_queue;
};

/// Keeps the best of the programs offered by the times as they are, not rounded: the shortest iteration, which without
/// a common end is the longest span of a device, with one the makespan; the other decides where these are equal.
class BestProgram {
public:
    BestProgram(const ScheduleShape &shape, const ScheduleTimes &times);
    void offer(Program program);
    [[nodiscard]] bool isEmpty() const { return m_best.order.empty(); }
    [[nodiscard]] Program take() { return std::move(m_best); }

private:
    ScheduleTimes m_times;
    std::pair<std::int64_t, std::int64_t> m_score;
    Program m_best;
};

} // namespace trainyard::schedules

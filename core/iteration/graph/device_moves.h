#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What leaves one device between forward and backward, and when each load is asked for, from the operations of the
// device in their order. The graph of an iteration takes it from its program, a rehearsal from what the device did.
// Pure functions.

#include "core/iteration/graph/pipeline_graph.h"

#include <span>
#include <utility>

namespace trainyard {

/// The tasks of an operation; of a pair's forward the one that it shares.
struct PlacedOp {
    const Op *op;
    std::size_t slot;
    std::uint32_t task, last;
    bool isCut;
};

/// The start or the end of a task.
struct TaskEvent {
    std::uint32_t task = kNoSpan;
    bool isStart = false;
};
/// Of an operation that is not cut, its end.
[[nodiscard]] inline TaskEvent beginOf(const PlacedOp &op)
{
    return op.isCut ? TaskEvent { op.task, true } : TaskEvent { op.last, false };
}

[[nodiscard]] constexpr bool isRecomputation(SegmentWork work)
{
    return work >= SegmentWork::RecomputeWithin;
}
[[nodiscard]] inline Nanoseconds timeOf(const OffloadSegment &segment, SegmentWork work)
{
    return work <= SegmentWork::ForwardWhole ? segment.forward
        : isRecomputation(work)              ? segment.recompute
                                             : segment.backward;
}

/// Input gradients are cut where the program has them, whole backwards beside them are not.
[[nodiscard]] constexpr bool mayBeCut(OpKind kind, bool splitsBackward)
{
    return kind == OpKind::Forward || kind == OpKind::InputGrad || kind == OpKind::Recompute
        || (kind == OpKind::Backward && !splitsBackward);
}

/// Calls visit(segment, work) for each task of an operation that is cut. A recomputation of its own goes from the last
/// segment to the first, as backwards do: it is in this order that loads come. `recomputes`: it begins with its own
/// recomputation.
template <class Visit>
void eachSegment(const Op &op, const std::vector<OffloadSegment> &segments, bool recomputes, bool isWhole, Visit visit)
{
    for (std::size_t k = 0; op.kind == OpKind::Forward && k < segments.size(); ++k)
        visit(k, isWhole ? SegmentWork::ForwardWhole : SegmentWork::Forward);
    bool begins = !isWhole;
    for (std::size_t k = segments.size(); op.kind != OpKind::Forward && k-- > 0;) {
        const bool makesAnew = segments[k].recompute > 0;
        if (op.kind == OpKind::Recompute && makesAnew)
            visit(k, std::exchange(begins, false) ? SegmentWork::Recompute : SegmentWork::RecomputeRest);
        if (op.kind == OpKind::Recompute)
            continue;
        if (recomputes && makesAnew)
            visit(k, SegmentWork::RecomputeWithin);
        visit(k,
            isWhole                       ? SegmentWork::BackwardWhole
                : recomputes && makesAnew ? SegmentWork::BackwardAnew
                                          : SegmentWork::Backward);
    }
}

struct DeviceOps {
    std::span<const PlacedOp> ops;
    /// [chunk]
    std::span<const OpTimes> times;
    /// [chunk]
    std::span<const std::vector<OffloadSegment>> segments;
    int microBatches = 1;
    /// as OffloadTimes::ahead
    int ahead = 1;
    /// which operation comes next is known beforehand
    bool isOrderKnown = true;
};

struct DeviceMoves {
    /// What one segment of one micro-batch keeps: of which operation (an index), and the task that makes it.
    struct Store {
        std::uint32_t segment, forward, made;
    };
    /// `user`: the task that first needs it. Asked for at `turn`; by a device that decides while it runs not before the
    /// next virtual stage begins its backward of the same micro-batch.
    struct Load {
        std::uint32_t store, backward, user;
        TaskEvent turn;
    };
    /// in the order of the forwards
    std::vector<Store> stores;
    /// in the order in which they are asked for
    std::vector<Load> loads;
};

[[nodiscard]] DeviceMoves movesOf(const DeviceOps &device);

} // namespace trainyard

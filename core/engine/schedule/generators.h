#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The schedules behind traits.h, one file each: a generator and the row that says what there is to know of it. A
// generator may rely on a shape that keeps the row's rules and whose inFlightLimit is empty or has one entry a device;
// it fills the order.

#include "core/engine/schedule/traits.h"

namespace trainyard::schedules {

extern const ScheduleTraits gpipe, oneFOneB, interleaved, breadthFirst, zbH1, zbH2, zbV, zbAuto, vHalf, vMin, dualPipe,
    dualPipeV, chimera, hanayo, varuna, teraPipe, atlas, layered, pairedOneFOneB, pairedInterleaved;

inline constexpr CountRule kTwoChunks {
    .least = 2, .most = 2, .why = "which has two chunks per stage", .right = "1, the default, or 2"
};

inline constexpr CountRule kInterleavedChunks {
    .least = 2, .why = "which deals micro-batches to several chunks", .right = "2 or more, or schedule 1f1b"
};
inline constexpr CountRule kInterleavedMicroBatches {
    .leastPerStage = 1, .stepPerStage = 1, .why = "deals them in groups of that many"
};
/// Micro-batches on each device of an interleaved order, which goes on with one forward and one backward in turn, and
/// has `more` chunks at once than that.
[[nodiscard]] std::vector<int> interleavedInFlight(const ScheduleShape &shape, int more);

/// ZB-V's order that needs no search; its end is laid by `times`, which must not be empty.
[[nodiscard]] Program zbVByHand(const ScheduleShape &shape, const ScheduleTimes &times);

[[nodiscard]] inline std::vector<int> everyMicroBatch(const ScheduleShape &shape)
{
    return std::vector<int>(std::size_t(shape.devices), shape.microBatches);
}
[[nodiscard]] inline std::vector<int> asManyAsStages(const ScheduleShape &shape)
{
    return std::vector<int>(std::size_t(shape.devices), std::min(shape.devices, shape.microBatches));
}
/// Every chunk of every micro-batch, then all of them back.
void layForwardsFirst(Program &program);
/// BadValue where a stage may hold fewer micro-batches than the schedule has in flight there.
[[nodiscard]] Expected<void> checkInFlight(const ScheduleTraits &schedule, const ScheduleShape &shape);

[[nodiscard]] inline Op forward(int chunk, int microBatch)
{
    return { OpKind::Forward, false, static_cast<std::int16_t>(chunk), microBatch };
}
[[nodiscard]] inline Op pairedForward(int chunk, int microBatch)
{
    return { OpKind::PairedForward, false, static_cast<std::int16_t>(chunk), microBatch };
}
[[nodiscard]] inline Op backward(int chunk, int microBatch)
{
    return { OpKind::Backward, true, static_cast<std::int16_t>(chunk), microBatch };
}
[[nodiscard]] inline Op inputGrad(int chunk, int microBatch)
{
    return { OpKind::InputGrad, true, static_cast<std::int16_t>(chunk), microBatch };
}
[[nodiscard]] inline Op weightGrad(int chunk, int microBatch)
{
    return { OpKind::WeightGrad, false, static_cast<std::int16_t>(chunk), microBatch };
}

} // namespace trainyard::schedules

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The schedule generators behind makeProgram, one file each. A generator may rely on a shape whose numbers are positive
// and whose inFlightLimit is empty or has one entry a device; it fills the order and reports what the shape breaks.

#include "core/schedule/program.h"

namespace trainyard::schedules {

[[nodiscard]] Expected<Program> gpipe(const ScheduleShape &shape);
[[nodiscard]] Expected<Program> oneFOneB(const ScheduleShape &shape);
[[nodiscard]] Expected<Program> interleaved(const ScheduleShape &shape);
[[nodiscard]] Expected<Program> breadthFirst(const ScheduleShape &shape);
[[nodiscard]] Expected<Program> zbH1(const ScheduleShape &shape);
[[nodiscard]] Expected<Program> zbH2(const ScheduleShape &shape);
[[nodiscard]] Expected<Program> zbAuto(const ScheduleShape &shape, const ScheduleTimes &times);
[[nodiscard]] Expected<Program> zbV(const ScheduleShape &shape, const ScheduleTimes &times);
[[nodiscard]] Expected<Program> vHalf(const ScheduleShape &shape, const ScheduleTimes &times);
[[nodiscard]] Expected<Program> vMin(const ScheduleShape &shape, const ScheduleTimes &times);
/// ZB-V's order that needs no search; its end is laid by `times`, which must not be empty.
[[nodiscard]] Program zbVByHand(const ScheduleShape &shape, const ScheduleTimes &times);

[[nodiscard]] Expected<Program> dualPipe(const ScheduleShape &shape);
[[nodiscard]] Expected<Program> dualPipeV(const ScheduleShape &shape);
/// Doubles forwards where that is shorter and `inFlightLimit` has room for it; without times or limits it does not.
[[nodiscard]] Expected<Program> chimera(const ScheduleShape &shape, const ScheduleTimes &times);
[[nodiscard]] Expected<Program> hanayo(const ScheduleShape &shape);
[[nodiscard]] Expected<Program> varuna(const ScheduleShape &shape);
[[nodiscard]] Expected<Program> teraPipe(const ScheduleShape &shape);
[[nodiscard]] Expected<Program> atlas(const ScheduleShape &shape);

/// BadValue where a stage may hold fewer micro-batches than `needed[device]`.
[[nodiscard]] Expected<void> checkInFlight(const ScheduleShape &shape, const std::vector<int> &needed, const char *schedule);
/// BadValue where a schedule of one chunk a stage is asked for several.
[[nodiscard]] Expected<void> checkOneChunk(const ScheduleShape &shape, const char *schedule);

/// BadValue where a schedule of two chunks a stage is asked for another number.
[[nodiscard]] Expected<void> checkTwoChunks(const ScheduleShape &shape, const char *schedule);

[[nodiscard]] inline Op forward(int chunk, int microBatch)
{
    return {OpKind::Forward, false, static_cast<std::int16_t>(chunk), microBatch};
}
[[nodiscard]] inline Op pairedForward(int chunk, int microBatch)
{
    return {OpKind::PairedForward, false, static_cast<std::int16_t>(chunk), microBatch};
}
[[nodiscard]] inline Op backward(int chunk, int microBatch)
{
    return {OpKind::Backward, true, static_cast<std::int16_t>(chunk), microBatch};
}
[[nodiscard]] inline Op inputGrad(int chunk, int microBatch)
{
    return {OpKind::InputGrad, true, static_cast<std::int16_t>(chunk), microBatch};
}
[[nodiscard]] inline Op weightGrad(int chunk, int microBatch)
{
    return {OpKind::WeightGrad, false, static_cast<std::int16_t>(chunk), microBatch};
}

} // namespace trainyard::schedules

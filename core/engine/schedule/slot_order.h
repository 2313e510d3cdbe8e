#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// List scheduling in slots: every operation takes one slot, a free device takes the backward of the oldest micro-batch
// that is ready, else the oldest forward that its virtual stage has room for; of equally old ones the later virtual
// stage's. Chimera and Hanayo are what this gives on their placements. Two forwards may share a slot: then a slot is a
// backward twice as long as a forward, or two forwards.

#include "core/engine/schedule/program.h"

namespace trainyard::schedules {

struct SlotChain { // virtual stages first .. first + length - 1, for micro-batches of its own
    int firstStage = 0, firstMicroBatch = 0, microBatches = 0;
    /// per stage of the chain: most micro-batches in flight
    std::vector<int> room;
};

/// Fills the order of a program that has shape and placement.
void orderInSlots(Program &program, const std::vector<SlotChain> &chains, int forwardsInSlot = 1);

/// When the last tail ends if every device follows its order, whole backwards only, in the unit of the times, which
/// must not be empty. For comparing orders: transfers take as long as they take alone, in either direction.
[[nodiscard]] std::int64_t lengthInOrder(const Program &program, const ScheduleTimes &times);

} // namespace trainyard::schedules

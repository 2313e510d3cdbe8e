#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a plan divides its work: the degrees of parallelism with what the schedule makes of them, resolved once. Rooms
// behind placement ask these, and the ranks that they lead to (ranks.h), never the plan's keys.

#include "core/facts/plan/plan.h"

namespace trainyard {

struct Degrees {
    int tensor = 1, context = 1, expert = 1, expertTensor = 1, pipeline = 1;
    /// as asked for; what was reached is the layout's
    Auto<int> data;
    /// of layers, of each stage
    int chunks = 1;
    /// of a sequence's tokens, one behind the other
    int slices = 1;
    /// of the model, in one pipeline
    int copies = 1;
    int zeroStage = 1;
    bool isSequenceParallel = false;
    bool operator==(const Degrees &) const = default;

    /// GPUs of one replica of a stage.
    [[nodiscard]] int gpusOfStage() const { return tensor * context; }
    /// Ranks that hold every expert of a layer once.
    [[nodiscard]] int expertRanks() const { return expert * expertTensor; }
    /// Chunks of a device in the program: of its layers, or of the tokens.
    [[nodiscard]] int programChunks() const { return chunks * slices; }
    /// The stage with the same layers in the other copy of the model; the stage itself where there is one copy.
    [[nodiscard]] int mirrorOf(int stage) const { return copies == 2 ? pipeline - 1 - stage : stage; }
};

[[nodiscard]] Degrees degreesOf(const Plan &plan);

} // namespace trainyard

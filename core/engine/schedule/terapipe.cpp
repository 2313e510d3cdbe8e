// SPDX-License-Identifier: GPL-3.0-or-later
// TeraPipe (Li et al. 2021, arXiv 2102.07988): the tokens of a sequence in slices, which follow each other down the
// pipeline like small micro-batches. A slice attends to those before it, so forwards go from the first slice to the
// last and gradients back: the order of gpipe, a chunk of the program being a slice.
#include "core/engine/schedule/generators.h"

namespace trainyard::schedules {

constinit const ScheduleTraits teraPipe {
    .kind = ScheduleKind::TeraPipe,
    .label = "TeraPipe",
    .text = "slices of each sequence (parallelism.token_slices) follow each other; all forwards, then all backwards",
    .holds = "all",
    .bubble = "(p - 1)(f + b + w)/v",
    .lay = layForwardsFirst,
    .inFlight = everyMicroBatch,
    .placement = ChunkPlacement::Slices,
    .chunks = { .most = 1, .why = "which has one chunk of layers per stage", .right = "1" },
    .forwardsFirst = true,
};

} // namespace trainyard::schedules

// SPDX-License-Identifier: GPL-3.0-or-later
// TeraPipe (Li et al. 2021, arXiv 2102.07988): the tokens of a sequence in slices, which follow each other down the pipeline
// like small micro-batches. A slice attends to those before it, so forwards go from the first slice to the last and
// gradients back. A chunk of the program is a slice.
#include "core/schedule/generators.h"

namespace trainyard::schedules {

namespace {

void lay(Program &program)
{
    const ScheduleShape &shape = program.shape;
    std::vector<Op> order;
    order.reserve(2 * std::size_t(shape.microBatches) * std::size_t(shape.chunks));
    for (int k = 0; k < shape.microBatches; ++k)
        for (int slice = 0; slice < shape.chunks; ++slice)
            order.push_back(forward(slice, k));
    for (int k = shape.microBatches - 1; k >= 0; --k)
        for (int slice = shape.chunks - 1; slice >= 0; --slice)
            order.push_back(backward(slice, k));
    program.order.assign(std::size_t(shape.devices), order);
}

} // namespace

constinit const ScheduleTraits teraPipe{
    .kind = ScheduleKind::TeraPipe,
    .label = "TeraPipe",
    .text = "slices of each sequence (`parallelism.token_slices`) follow each other; all forwards, then all backwards",
    .holds = "all",
    .bubble = "(p - 1)(f + b + w)/v",
    .lay = lay,
    .inFlight = everyMicroBatch,
    .placement = ChunkPlacement::Slices,
    .chunks = {.most = 1, .why = "which has one chunk of layers per stage", .right = "1"},
    .forwardsFirst = true,
};

} // namespace trainyard::schedules

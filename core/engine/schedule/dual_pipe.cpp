// SPDX-License-Identifier: GPL-3.0-or-later
// DualPipe and DualPipe-V (DeepSeek-AI 2024, arXiv 2412.19437, §3.2.1; the eight steps as in the repository
// deepseek-ai/DualPipe). DualPipe: two copies of the model, half of the micro-batches from each end, and forwards
// paired with backwards so that the communication of one hides under the other. DualPipe-V cuts it in half: one copy,
// folded to a V.
#include "core/engine/schedule/generators.h"

#include <algorithm>

namespace trainyard::schedules {

namespace {

struct Steps {
    int fill, mixed, split, pairs, drain;
}; // how often each of the steps 1 to 5 goes round

/// One device's order. Phase 0 is the direction (or the leg of the V) that this device begins with.
class DeviceOrder {
public:
    DeviceOrder(const int (&chunk)[2], const int (&firstMicroBatch)[2])
        : m_chunk { chunk[0], chunk[1] }
        , m_first { firstMicroBatch[0], firstMicroBatch[1] }
    {
    }

    void forward(int phase) { m_order.push_back(schedules::forward(m_chunk[phase], next(m_forwards, phase))); }
    void backward(int phase) { m_order.push_back(schedules::backward(m_chunk[phase], next(m_backwards, phase))); }
    void inputGrad(int phase)
    {
        const Op op = schedules::inputGrad(m_chunk[phase], next(m_backwards, phase));
        m_order.push_back(op);
        m_owed.push_back(schedules::weightGrad(op.chunk, op.microBatch));
    }
    void weightGrad() { m_order.push_back(m_owed[m_paid++]); }
    void pair(int forwardPhase)
    {
        m_order.push_back(pairedForward(m_chunk[forwardPhase], next(m_forwards, forwardPhase)));
        backward(1 - forwardPhase);
    }
    [[nodiscard]] std::vector<Op> take() { return std::move(m_order); }

private:
    [[nodiscard]] int next(int (&count)[2], int phase) const { return m_first[phase] + count[phase]++; }

    int m_chunk[2], m_first[2];
    int m_forwards[2] = { 0, 0 }, m_backwards[2] = { 0, 0 };
    std::vector<Op> m_order, m_owed; // owed: weight gradients not yet emitted, from m_paid on
    std::size_t m_paid = 0;
};

/// `rank`: distance from the ends where the phases begin.
std::vector<Op> eightSteps(DeviceOrder order, const Steps &steps, int rank, bool isMiddle)
{
    for (int i = 0; i < steps.fill; ++i)
        order.forward(0);
    for (int i = 0; i < steps.mixed; ++i) {
        order.forward(0);
        order.forward(1);
    }
    for (int i = 0; i < steps.split; ++i) {
        order.inputGrad(1);
        order.weightGrad();
        order.forward(1);
    }
    for (int i = 0; i < steps.pairs; ++i) {
        if (i == 0 && isMiddle) { // its neighbour is the other middle: nothing to wait for together
            order.forward(0);
            order.backward(1);
        } else {
            order.pair(0);
        }
        order.pair(1);
    }
    for (int i = 0; i < steps.drain; ++i) {
        order.backward(1);
        order.pair(1);
    }
    // From the middle on the backwards are split, so that the gradients leave early and the weights' fill the drain.
    for (int i = 0; i < steps.mixed; ++i) {
        const bool isSplit1 = i > (rank + 1) / 2 || (i == (rank + 1) / 2 && rank % 2 == 1);
        const bool isSplit0 = i >= (rank + 1) / 2;
        isSplit1 ? order.inputGrad(1) : order.backward(1);
        isSplit0 ? order.inputGrad(0) : order.backward(0);
    }
    for (int i = 0; i < steps.drain; ++i) {
        order.weightGrad();
        order.inputGrad(0);
    }
    for (int i = 0; i < steps.mixed; ++i)
        order.weightGrad();
    return order.take();
}

/// Chunks rounded up to whole micro-batches of two.
std::vector<int> room(const ScheduleShape &shape, int chunksInFlight)
{
    return std::vector<int>(std::size_t(shape.devices), (chunksInFlight + 1) / 2);
}

void layDualPipe(Program &program)
{
    const ScheduleShape &shape = program.shape;
    const int half = shape.devices / 2, each = shape.microBatches / 2;
    for (int device = 0; device < shape.devices; ++device) {
        const bool isUpper = device >= half;
        const int rank = isUpper ? shape.devices - 1 - device : device, left = half - rank - 1;
        const int chunk[2] = { isUpper ? 1 : 0, isUpper ? 0 : 1 };
        const int first[2] = { isUpper ? each : 0, isUpper ? 0 : each };
        program.order.push_back(eightSteps(DeviceOrder(chunk, first),
            { 2 * left, rank + 1, left, each - shape.devices + rank + 1, left }, rank, rank == half - 1));
    }
}

void layDualPipeV(Program &program)
{
    const ScheduleShape &shape = program.shape;
    for (int device = 0; device < shape.devices; ++device) {
        const int left = shape.devices - device - 1;
        const int chunk[2] = { 0, 1 }, first[2] = { 0, 0 };
        program.order.push_back(eightSteps(DeviceOrder(chunk, first),
            { 2 * left, device + 1, left, shape.microBatches - 2 * shape.devices + device + 1, left }, device,
            left == 0));
    }
}

} // namespace

constinit const ScheduleTraits dualPipe {
    .kind = ScheduleKind::DualPipe,
    .label = "DualPipe",
    .text = "two copies of the model, half of the micro-batches from each end, forwards paired with backwards",
    .holds = "half the stages + ½",
    .bubble = "(p/2 - 1)(f + 2b - w)",
    .lay = layDualPipe,
    .inFlight = [](const ScheduleShape &shape) { return room(shape, shape.devices + 1); },
    .placement = ChunkPlacement::Bidirectional,
    .chunks = { .least = 2,
        .most = 2,
        .why = "whose stages hold two chunks, one of each copy of the model",
        .right = "1, the default, or 2" },
    .stages = { .least = 2, .step = 2, .why = "which folds the stages in two" },
    .microBatches = { .least = 2,
        .step = 2,
        .leastPerStage = 2,
        .why = "needs at least two per stage, and an even number" },
    .splitsBackward = true,
    .pairs = true,
};

constinit const ScheduleTraits dualPipeV {
    .kind = ScheduleKind::DualPipeV,
    .label = "DualPipe-V",
    .text = "the same folded to a V with one copy",
    .holds = "stages + ½",
    .bubble = "(p - 1)(f + 2b - w)/v",
    .lay = layDualPipeV,
    .inFlight = [](const ScheduleShape &shape) { return room(shape, 2 * shape.devices + 1); },
    .placement = ChunkPlacement::V,
    .chunks = { .least = 2,
        .most = 2,
        .why = "whose stages hold two chunks, one of each leg of the V",
        .right = "1, the default, or 2" },
    .microBatches = { .leastPerStage = 2, .why = "needs at least two per stage" },
    .splitsBackward = true,
    .pairs = true,
};

} // namespace trainyard::schedules

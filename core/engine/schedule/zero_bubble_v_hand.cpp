// SPDX-License-Identifier: GPL-3.0-or-later
// ZB-V by hand (Qi et al. 2023, arXiv 2401.10241, §6 and Figure 8): without a bubble where F = B = W, and the order
// where nothing is known of the times. The warm-up and the steady state are fixed; at the end the gradient that is
// ready first goes first and weight gradients fill what is left.
#include "core/engine/schedule/earliest_first.h"
#include "core/engine/schedule/generators.h"

namespace trainyard::schedules {

namespace {

/// Everything on a device up to its last forward.
std::vector<ChunkStep> firstPart(int device, int devices, int microBatches)
{
    std::vector<ChunkStep> steps;
    int left[2] = { microBatches, microBatches }; // forwards of each chunk
    const auto forwardOf = [&](int chunk) {
        if (left[chunk] > 0) {
            --left[chunk];
            steps.push_back({ OpKind::Forward, chunk });
        }
    };
    const auto backwardOf = [&](int chunk) {
        steps.push_back({ OpKind::InputGrad, chunk });
        steps.push_back({ OpKind::WeightGrad, chunk });
    };
    for (int n = 2 * (devices - 1 - device) + 1; n > 0; --n)
        forwardOf(0);
    for (int n = device; n > 0; --n) {
        forwardOf(1);
        forwardOf(0);
    }
    for (int n = devices - 1 - device; n > 0 && left[1] > 0; --n) {
        forwardOf(1);
        backwardOf(1);
    }
    for (int chunk = 1; left[0] + left[1] > 0; chunk = 1 - chunk) {
        forwardOf(chunk);
        backwardOf(chunk);
    }
    return steps;
}

class HandSchedule : public EarliestFirst<HandSchedule> {
public:
    HandSchedule(const ScheduleShape &shape, const ScheduleTimes &times)
        : EarliestFirst(shape, ChunkPlacement::V, times)
        , m_next(static_cast<std::size_t>(shape.devices))
    {
        for (int i = 0; i < shape.devices; ++i)
            m_steps.push_back(firstPart(i, shape.devices, shape.microBatches));
    }

private:
    friend EarliestFirst;

    struct Candidate {
        std::int64_t arrival = ListBoard::kUnknown;
        ChunkStep step {};
    };

    Candidate nextOf(int i) const
    {
        const auto at = static_cast<std::size_t>(i);
        if (m_next[at] < m_steps[at].size()) {
            const ChunkStep step = m_steps[at][m_next[at]];
            return { step.kind == OpKind::WeightGrad ? 0 : m_board.arrival(step.kind, i, step.chunk), step };
        }
        const std::int64_t there = m_board.arrival(OpKind::InputGrad, i, 0),
                           back = m_board.arrival(OpKind::InputGrad, i, 1);
        return there <= back ? Candidate { there, { OpKind::InputGrad, 0 } }
                             : Candidate { back, { OpKind::InputGrad, 1 } };
    }

    [[nodiscard]] std::int64_t arrivalOfNext(int i) const { return nextOf(i).arrival; }

    bool layNext(int device)
    {
        const auto at = static_cast<std::size_t>(device);
        const Candidate next = nextOf(device);
        const bool isFixed = m_next[at] < m_steps[at].size();
        m_next[at] += isFixed;
        if (next.step.kind == OpKind::WeightGrad
            || (!isFixed && m_board.hasPendingWeightGrad(device) && m_board.freeAt(device) < next.arrival))
            m_board.layWeightGrad(device);
        else
            m_board.lay(next.step.kind, device, next.step.chunk);
        chooseAround(device);
        return true;
    }

    std::vector<std::vector<ChunkStep>> m_steps;
    std::vector<std::size_t> m_next;
};

} // namespace

Program zbVByHand(const ScheduleShape &shape, const ScheduleTimes &times)
{
    return HandSchedule(shape, times).make();
}

} // namespace trainyard::schedules

// SPDX-License-Identifier: GPL-3.0-or-later
// ZB-1p, ZB-2p and anything between: the automatic zero-bubble schedule for a limit on the micro-batches in flight (Qi
// et al. 2023, arXiv 2401.10241, §4, and the heuristic that its authors published). As many forwards as fit before the
// first gradient arrives, then forward and input gradient by turns, with weight gradients in the gaps and where memory
// is short. Three choices that no rule settles are all tried, and ZB-H1 and ZB-H2 with them where they fit.
#include "core/engine/schedule/generators.h"
#include "core/engine/schedule/list_board.h"

#include <algorithm>

namespace trainyard::schedules {

namespace {

struct AutoChoices {
    bool bubbleBeforeFirstGradient; // a warm-up forward may end after the first gradient has arrived
    bool gradientFirst; // leave a forward out where it would delay the next input gradient
    bool fillsSmallGaps; // a weight gradient also where waiting would not lengthen the longest wait
};

class AutoSchedule {
public:
    AutoSchedule(const ScheduleShape &shape, const ScheduleTimes &times, AutoChoices choices)
        : m_shape(shape)
        , m_choices(choices)
        , m_board(shape, ChunkPlacement::Loop, times)
        , m_wanted(shape.inFlightLimit.size())
    {
    }

    Program make()
    {
        warmUp();
        for (int k = 1; k < m_shape.microBatches; ++k) {
            layForwards();
            layInputGrads();
        }
        m_board.layPendingWeightGrads();
        return std::move(m_board).program();
    }

private:
    /// More room than for every micro-batch is none: limits may be stated in thousands of millions.
    [[nodiscard]] int limit(int i) const
    {
        return ListBoard::kChunk * std::min(m_shape.microBatches, m_shape.inFlightLimit[static_cast<std::size_t>(i)]);
    }
    int &wanted(int i) { return m_wanted[static_cast<std::size_t>(i)]; }
    [[nodiscard]] int inputGrads(int i) const { return m_board.done(OpKind::InputGrad, i); }
    [[nodiscard]] int forwards(int i) const { return m_board.done(OpKind::Forward, i); }

    void warmUp()
    {
        const int p = m_shape.devices, m = m_shape.microBatches;
        for (int i = 0; i < p; ++i)
            m_board.lay(OpKind::Forward, i);
        // Backwards from the last stage: how many forwards fit before the gradient that follows the first micro-batch.
        std::int64_t arrival = 0;
        for (int i = p - 1; i >= 0; --i) {
            const std::int64_t length = m_board.duration(OpKind::Forward, i);
            std::int64_t busyUntil = m_board.freeAt(i);
            wanted(i) = 0;
            while (i < p - 1 && 1 + wanted(i) < std::min(m, m_shape.inFlightLimit[static_cast<std::size_t>(i)])
                && (m_choices.bubbleBeforeFirstGradient ? busyUntil + length <= arrival : busyUntil < arrival)) {
                busyUntil += length;
                ++wanted(i);
            }
            arrival = std::max(busyUntil, arrival) + m_board.duration(OpKind::InputGrad, i) + m_board.boundaryBefore(i);
        }
        // A stage stays a forward ahead of the next one.
        for (int i = 1; i < p; ++i)
            while (wanted(i) > 0 && wanted(i) >= wanted(i - 1) && 1 + wanted(i) < m)
                --wanted(i);
        for (int i = 0; i < p; ++i)
            while (wanted(i)-- > 0 && (i == 0 || forwards(i) < forwards(i - 1)))
                m_board.lay(OpKind::Forward, i);
        for (int i = p - 1; i >= 0; --i)
            m_board.lay(OpKind::InputGrad, i);
    }

    /// Whether the forward on stage i may wait because the next stage needs a gradient back sooner.
    bool mayLeaveOut(int i) const
    {
        if (!m_choices.gradientFirst || i + 1 >= m_shape.devices || forwards(i) < forwards(i + 1) + 2)
            return false;
        const std::int64_t now = m_board.freeAt(i);
        const std::int64_t gradient = m_board.freeAt(i + 1) + m_board.duration(OpKind::Forward, i + 1)
            + m_board.duration(OpKind::InputGrad, i + 1) + m_board.boundaryBefore(i + 1);
        if (now >= gradient)
            return true;
        const std::int64_t room =
            m_board.live(i) + ListBoard::kChunk > limit(i) ? m_board.duration(OpKind::WeightGrad, i) : 0;
        return now + m_board.duration(OpKind::Forward, i) + room > gradient
            && gradient - now <= m_board.worstIdle() - m_board.idle(i);
    }

    void layForwards()
    {
        const int p = m_shape.devices;
        for (int i = 0; i < p; ++i)
            wanted(i) = m_board.hasMore(OpKind::Forward, i) && !mayLeaveOut(i);
        for (int i = p - 2; i >= 0; --i)
            wanted(i) = m_board.hasMore(OpKind::Forward, i + 1) ? std::min(wanted(i), wanted(i + 1)) : wanted(i);
        for (int i = 0; i < p; ++i) {
            const bool isNeeded = forwards(i) <= inputGrads(i) && m_board.hasMore(OpKind::Forward, i);
            if ((wanted(i) || isNeeded) && m_board.makeRoom(i, limit(i))
                && m_board.arrival(OpKind::Forward, i) < ListBoard::kUnknown) {
                fillGap(i, m_board.arrival(OpKind::Forward, i));
                m_board.lay(OpKind::Forward, i);
            }
        }
    }

    void layInputGrads()
    {
        for (int i = m_shape.devices - 1; i >= 0; --i) {
            if (m_board.arrival(OpKind::InputGrad, i) >= ListBoard::kUnknown)
                continue;
            if (i + 1 < m_shape.devices)
                fillGap(i, m_board.arrival(OpKind::InputGrad, i));
            // Nothing comes after stage 0's last gradients but their weight gradients, which may as well go first.
            if (i == 0 && !m_board.hasMore(OpKind::Forward, 0))
                while (m_board.hasPendingWeightGrad(0))
                    m_board.layWeightGrad(0);
            m_board.lay(OpKind::InputGrad, i);
        }
    }

    void fillGap(int i, std::int64_t arrival)
    {
        m_board.fillWith(i, arrival);
        const std::int64_t wait = arrival - m_board.freeAt(i);
        if (wait > 0 && m_board.hasPendingWeightGrad(i)
            && (m_choices.fillsSmallGaps || wait > m_board.worstIdle() - m_board.idle(i)))
            m_board.layWeightGrad(i);
    }

    const ScheduleShape &m_shape;
    AutoChoices m_choices;
    ListBoard m_board;
    std::vector<int> m_wanted;
};

void layAutomatic(Program &program, const ScheduleTimes &times)
{
    const ScheduleShape shape = program.shape;
    ScheduleShape limited = shape;
    if (limited.inFlightLimit.empty())
        limited.inFlightLimit.assign(std::size_t(shape.devices), shape.devices);
    BestProgram best(shape, times);
    const ScheduleTimes rounded = roundedTimes(shape, times);
    for (int i = 0, tries = choicesToTry(shape, 8); i < tries; ++i) {
        Program tried = AutoSchedule(limited, rounded, { (i & 4) == 0, (i & 2) == 0, (i & 1) == 0 }).make();
        tried.shape = shape;
        best.offer(std::move(tried));
    }
    for (const ScheduleTraits *hand : { &zbH1, &zbH2 }) {
        if (!checkInFlight(*hand, limited))
            continue;
        Program made { shape, hand->placement, {} };
        hand->lay(made);
        best.offer(std::move(made));
    }
    program = best.take();
}

} // namespace

constinit const ScheduleTraits zbAuto {
    .kind = ScheduleKind::ZbAuto,
    .label = "ZB automatic",
    .text = "split backward, laid by the times of the stages within the memory of the GPUs",
    .holds = "stages to twice the stages, as fit; profile.in_flight",
    .layByTimes = layAutomatic,
    .splitsBackward = true,
    .room = RoomUse::Order,
};

} // namespace trainyard::schedules

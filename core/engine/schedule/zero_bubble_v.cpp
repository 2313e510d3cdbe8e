// SPDX-License-Identifier: GPL-3.0-or-later
// ZB-V: two chunks per device in V placement, the activations of 1F1B's first stage on every device (Qi et al. 2023,
// arXiv 2401.10241, §6). The list scheduler follows the routine that the authors published with their implementation
// (BSD-style licence), written anew here: rounds of one input gradient and one forward a device, weight gradients in
// the gaps, and a second pass that lets a device wait where another one waits longer anyway.
#include "core/engine/schedule/generators.h"
#include "core/engine/schedule/list_board.h"

#include <algorithm>
#include <optional>

namespace trainyard::schedules {

namespace {

struct FillChoices {
    bool fillsBeforeForward, fillsBeforeSecondGradient;
}; // with a weight gradient that is longer than the gap

class VSchedule {
public:
    VSchedule(const ScheduleShape &shape, const ScheduleTimes &times, FillChoices choices,
        const std::vector<std::int64_t> &allowance)
        : m_devices(shape.devices)
        , m_microBatches(shape.microBatches)
        , m_choices(choices)
        , m_allowance(allowance)
        , m_longestAllowance(allowance.empty() ? 0 : std::ranges::max(allowance))
        , m_board(shape, ChunkPlacement::V, times)
    {
    }

    /// Empty where the greedy choices lead nowhere.
    std::optional<Program> make()
    {
        warmUpThere();
        warmUpBack();
        for (int round = 0; round < 2 * m_microBatches; ++round) {
            layInputGrads();
            for (int i = 0; i < m_devices; ++i)
                layForward(i);
        }
        m_board.layPendingWeightGrads();
        return m_board.isComplete() ? std::optional(std::move(m_board).program()) : std::nullopt;
    }

    [[nodiscard]] std::vector<std::int64_t> idle() const
    {
        std::vector<std::int64_t> idle;
        for (int i = 0; i < m_devices; ++i)
            idle.push_back(m_board.idle(i));
        return idle;
    }
    [[nodiscard]] std::int64_t worstIdle() const { return m_board.worstIdle(); }

private:
    [[nodiscard]] int forwards(int i, int chunk) const { return m_board.done(OpKind::Forward, i, chunk); }
    [[nodiscard]] int forwards(int i) const { return forwards(i, 0) + forwards(i, 1); }
    [[nodiscard]] bool fits(int i, int moreForwards) const
    {
        return m_board.live(i) + moreForwards * ListBoard::kChunk <= limit();
    }
    [[nodiscard]] int limit() const { return 2 * m_devices * ListBoard::kChunk; }

    bool tryLay(OpKind kind, int i, int chunk)
    {
        if (m_board.arrival(kind, i, chunk) >= ListBoard::kUnknown)
            return false;
        m_board.lay(kind, i, chunk);
        return true;
    }

    /// The first micro-batch to the turn and back, with as many more as fit before it returns.
    void warmUpThere()
    {
        const int last = m_devices - 1;
        for (int i = 0; i <= last; ++i)
            m_board.lay(OpKind::Forward, i, 0);
        for (int i = last; i >= 0; --i) {
            while (i < last && fits(i, 2 * (i + 1)) && forwards(i, 0) < m_microBatches
                && m_board.freeAt(i) + m_board.duration(OpKind::Forward, i, 0)
                    <= m_board.arrival(OpKind::Forward, i, 1))
                for (int j = 0; j <= i; ++j)
                    m_board.lay(OpKind::Forward, j, 0);
            m_board.lay(OpKind::Forward, i, 1);
        }
    }

    /// Later devices catch up with the earlier ones, chunk by chunk in turn.
    void warmUpBack()
    {
        for (int i = 1, chunk = 0, idleTurns = 0; i < m_devices;) {
            const bool isBehind = forwards(i) < forwards(i - 1)
                || (forwards(i, 1) <= forwards(i - 1, 1) && forwards(i - 1, 1) < m_microBatches);
            if (!isBehind || idleTurns > 1) {
                ++i;
                idleTurns = 0;
                continue;
            }
            ++idleTurns;
            for (int j = m_devices - 1; j >= i; --j)
                if (fits(j, 1) && tryLay(OpKind::Forward, j, chunk))
                    idleTurns = 0;
            chunk = 1 - chunk;
        }
    }

    /// Chunk 0 where a gradient that comes back is due, chunk 1 where one that goes there is.
    [[nodiscard]] bool returnsGradient(int i) const
    {
        if (m_board.done(OpKind::InputGrad, i, 0) >= m_board.done(OpKind::InputGrad, i, 1))
            return false;
        return i == m_devices - 1 || m_board.arrival(OpKind::InputGrad, i, 0) < ListBoard::kUnknown
            || !m_board.hasMore(OpKind::InputGrad, i, 1);
    }

    void layInputGrads()
    {
        std::vector<bool> returns;
        for (int i = 0; i < m_devices; ++i)
            returns.push_back(returnsGradient(i));
        for (int i = m_devices - 1; i >= 0; --i)
            if (returns[static_cast<std::size_t>(i)])
                layInputGrad(i, 0);
        for (int i = 0; i < m_devices; ++i)
            if (!returns[static_cast<std::size_t>(i)])
                layInputGrad(i, 1);
    }

    void layInputGrad(int i, int chunk)
    {
        if (m_board.arrival(OpKind::InputGrad, i, chunk) >= ListBoard::kUnknown)
            return;
        fillGap(i, m_board.arrival(OpKind::InputGrad, i, chunk), chunk == 0 || m_choices.fillsBeforeSecondGradient);
        m_board.lay(OpKind::InputGrad, i, chunk);
    }

    void layForward(int i)
    {
        if (!m_board.hasMore(OpKind::Forward, i, 1))
            return;
        int chunk = 0;
        if (forwards(i, 1) < forwards(i, 0) && m_board.arrival(OpKind::Forward, i, 1) < ListBoard::kUnknown)
            chunk = 1;
        if (m_board.arrival(OpKind::Forward, i, chunk) >= ListBoard::kUnknown)
            return;
        if (!m_board.makeRoom(i, limit()))
            return;
        fillGap(i, m_board.arrival(OpKind::Forward, i, chunk), m_choices.fillsBeforeForward);
        m_board.lay(OpKind::Forward, i, chunk);
    }

    /// Weight gradients that fit; then one more where the wait would become the longest of all, if `alsoLonger`.
    void fillGap(int i, std::int64_t arrival, bool alsoLonger)
    {
        m_board.fillWith(i, arrival);
        if (alsoLonger && m_board.hasPendingWeightGrad(i)
            && arrival - m_board.freeAt(i) > longestWait(i) - m_board.idle(i))
            m_board.layWeightGrad(i);
    }

    [[nodiscard]] std::int64_t longestWait(int i) const
    {
        if (m_allowance.empty())
            return m_board.worstIdle();
        return std::max(m_board.worstIdle(), m_longestAllowance - m_allowance[static_cast<std::size_t>(i)]);
    }

    int m_devices, m_microBatches;
    FillChoices m_choices;
    const std::vector<std::int64_t> &m_allowance; // what each device waited in the pass before; empty in the first
    std::int64_t m_longestAllowance;
    ListBoard m_board;
};

void offerPasses(BestProgram &best, const ScheduleShape &shape, const ScheduleTimes &times, FillChoices choices)
{
    std::vector<std::int64_t> allowance;
    for (std::int64_t worst = ListBoard::kUnknown;;) { // as long as a pass is better than the one before
        VSchedule pass(shape, times, choices, allowance);
        auto program = pass.make();
        if (!program || pass.worstIdle() >= worst)
            return;
        best.offer(std::move(*program));
        worst = pass.worstIdle();
        allowance = pass.idle();
    }
}

void layZeroBubbleV(Program &program, const ScheduleTimes &times)
{
    const ScheduleShape shape = program.shape;
    const ScheduleTimes rounded = roundedTimes(shape, times);
    program = zbVByHand(shape, rounded);
    if (times.stages.empty())
        return;
    BestProgram best(shape, times);
    best.offer(std::move(program));
    for (int i = 0, tries = choicesToTry(shape, 4); i < tries; ++i)
        offerPasses(best, shape, rounded, { (i & 1) == 0, (i & 2) == 0 });
    program = best.take();
}

} // namespace

constinit const ScheduleTraits zbV {
    .kind = ScheduleKind::ZbV,
    .label = "ZB-V",
    .text = "split backward, two chunks per stage that turn back at the last one",
    .holds = "stages",
    .bubble = "0",
    .layByTimes = layZeroBubbleV,
    .inFlight = asManyAsStages,
    .placement = ChunkPlacement::V,
    .chunks = kTwoChunks,
    .splitsBackward = true,
};

} // namespace trainyard::schedules

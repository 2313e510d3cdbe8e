// SPDX-License-Identifier: GPL-3.0-or-later
// V-Half and V-Min: two chunks per device in V placement with about half and a third of 1F1B's activations (Qi et al.
// 2024, "Pipeline Parallelism with Controllable Memory", arXiv 2405.15362). A building block says when the two forwards
// and the two input gradients of a micro-batch run on each device, in units of equal operations; repeated every six
// units it is the steady state, its lifespans are the memory. Here the block gives the order and the limit on memory;
// weight gradients, and operations that may go before one that waits, are then laid by the times.
#include "core/engine/schedule/earliest_first.h"
#include "core/engine/schedule/generators.h"

#include <algorithm>

namespace trainyard::schedules {

namespace {

constexpr ChunkStep kSteps[] = { { OpKind::Forward, 0 }, { OpKind::Forward, 1 }, { OpKind::InputGrad, 1 },
    { OpKind::InputGrad, 0 } };

using Block = std::array<int, std::size(kSteps)>; // units from a micro-batch's start to each of its steps on one device

/// There and back twice, two units a device on one leg and one on the other. The delay at the turn keeps steps of
/// different micro-batches out of each other's units.
Block halfBlock(int p, int i)
{
    const int turn = p % 2 == 0 ? 3 : 0;
    return { 2 * i, 3 * p - 2 - i, 3 * p - 1 + turn + 2 * i, 6 * p - 2 + turn - i };
}

/// One unit a device on every leg: nothing lives longer than the way takes.
Block minBlock(int p, int i)
{
    const int turn = p % 3 == 0 ? 2 : 0;
    return { i, 2 * p - 1 - i, 2 * p + turn + i, 4 * p - 1 + turn - i };
}

struct Order {
    std::vector<std::vector<ChunkStep>> steps; // per device
    int chunks = 0; // most in flight on any, weight gradients going into free units
};

Order repeat(const ScheduleShape &shape, Block (*block)(int, int))
{
    constexpr int kPeriod = 6;
    Order order;
    for (int i = 0; i < shape.devices; ++i) {
        const Block offsets = block(shape.devices, i);
        std::vector<std::pair<int, std::size_t>> timed;
        for (int k = 0; k < shape.microBatches; ++k)
            for (std::size_t s = 0; s < offsets.size(); ++s)
                timed.emplace_back(offsets[s] + kPeriod * k, s);
        std::ranges::sort(timed);
        std::vector<ChunkStep> &steps = order.steps.emplace_back();
        int live = 0, pending = 0, lastUnit = -1;
        for (const auto &[unit, s] : timed) {
            const int freed = std::min(pending, unit - lastUnit - 1);
            pending -= freed;
            live -= freed;
            lastUnit = unit;
            steps.push_back(kSteps[s]);
            if (kSteps[s].kind == OpKind::Forward)
                order.chunks = std::max(order.chunks, ++live);
            else
                ++pending;
        }
    }
    return order;
}

struct GuideChoices {
    bool fillsSmallGaps; // a weight gradient also where it is longer than the gap
    bool endsFreely; // after a device's last forward, gradients in the order in which they come
    bool looksAhead; // where the next step waits, a later one that can run and leaves it the memory
};

class GuidedList : public EarliestFirst<GuidedList> {
public:
    GuidedList(const ScheduleShape &shape, const ScheduleTimes &times, const Order &order, GuideChoices choices)
        : EarliestFirst(shape, ChunkPlacement::V, times)
        , m_steps(order.steps)
        , m_chunks(order.chunks)
        , m_choices(choices)
        , m_next(order.steps.size())
        , m_forwardsLeft(order.steps.size(), 2 * shape.microBatches)
    {
    }

private:
    friend EarliestFirst;

    struct Candidate {
        std::int64_t arrival = ListBoard::kUnknown;
        ChunkStep step {};
        std::size_t place = 0;
    };

    /// Of what device i does next as far as is known now.
    std::int64_t arrivalOfNext(int i)
    {
        findNext(i);
        return m_next[static_cast<std::size_t>(i)].arrival;
    }

    void findNext(int i)
    {
        const std::vector<ChunkStep> &steps = m_steps[static_cast<std::size_t>(i)];
        Candidate &chosen = m_next[static_cast<std::size_t>(i)] = {};
        if (steps.empty())
            return;
        // Steps are kept last first, so that the next ones are taken from the end.
        const std::size_t next = steps.size() - 1;
        chosen = { m_board.arrival(steps[next].kind, i, steps[next].chunk), steps[next], next };
        if (chosen.arrival <= m_board.freeAt(i))
            return;
        const bool isAtEnd = m_forwardsLeft[static_cast<std::size_t>(i)] == 0;
        if (isAtEnd ? m_choices.endsFreely : m_choices.looksAhead)
            lookAhead(i, chosen);
    }

    void lookAhead(int i, Candidate &chosen) const
    {
        const std::vector<ChunkStep> &steps = m_steps[static_cast<std::size_t>(i)];
        int inFlight = 0; // before each step, its input gradient to come
        for (const int chunk : { 0, 1 })
            inFlight += m_board.done(OpKind::Forward, i, chunk) - m_board.done(OpKind::InputGrad, i, chunk);
        int most = inFlight;
        bool seen[2][2] = {};
        const std::size_t farthest = steps.size() > kLookAhead ? steps.size() - kLookAhead : 0;
        for (std::size_t place = steps.size(); place-- > farthest && chosen.arrival > m_board.freeAt(i);) {
            const ChunkStep step = steps[place];
            const bool isForward = step.kind == OpKind::Forward;
            bool &isKnown = seen[isForward][step.chunk];
            if (!isKnown && (!isForward || most < m_chunks)) {
                if (const std::int64_t arrival = m_board.arrival(step.kind, i, step.chunk); arrival < chosen.arrival)
                    chosen = { arrival, step, place };
            }
            isKnown = true;
            if (seen[0][0] && seen[0][1] && seen[1][0] && seen[1][1])
                break;
            inFlight += isForward ? 1 : -1;
            most = std::max(most, inFlight);
        }
    }

    bool layNext(int device)
    {
        const Candidate next = m_next[static_cast<std::size_t>(device)];
        const std::int64_t freeBefore = m_board.freeAt(device), start = std::max(freeBefore, next.arrival);
        m_board.fillWith(device, next.arrival);
        if (m_choices.fillsSmallGaps && m_board.hasPendingWeightGrad(device) && next.arrival > m_board.freeAt(device))
            m_board.layWeightGrad(device);
        if (next.step.kind == OpKind::Forward && !m_board.makeRoom(device, m_chunks * ListBoard::kChunk))
            return false;
        if (m_board.freeAt(device) <= start)
            lay(device, next);
        else
            choose(device); // the weight gradients ran into the step's time: another device may come first now
        return true;
    }

    void lay(int device, const Candidate &next)
    {
        std::vector<ChunkStep> &steps = m_steps[static_cast<std::size_t>(device)];
        steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(next.place));
        m_forwardsLeft[static_cast<std::size_t>(device)] -= next.step.kind == OpKind::Forward;
        m_board.lay(next.step.kind, device, next.step.chunk);
        chooseAround(device);
    }

    static constexpr std::size_t kLookAhead = 256; // farther steps seldom have their input

    std::vector<std::vector<ChunkStep>> m_steps; // per device, last first
    int m_chunks;
    GuideChoices m_choices;
    std::vector<Candidate> m_next;
    std::vector<int> m_forwardsLeft;
};

template <Block (*block)(int, int)> void layBlocks(Program &program, const ScheduleTimes &times)
{
    const ScheduleShape shape = program.shape;
    Order order = repeat(shape, block);
    for (std::vector<ChunkStep> &steps : order.steps)
        std::ranges::reverse(steps);
    const ScheduleTimes rounded = roundedTimes(shape, times);
    BestProgram best(shape, times);
    for (int i = 0, tries = choicesToTry(shape, 8); i < tries; ++i)
        best.offer(GuidedList(shape, rounded, order, { (i & 4) != 0, (i & 2) == 0, (i & 1) != 0 }).make());
    program = best.take();
}

template <Block (*block)(int, int)> std::vector<int> inFlightOfBlocks(const ScheduleShape &shape)
{
    return std::vector<int>(std::size_t(shape.devices), (repeat(shape, block).chunks + 1) / 2);
}

} // namespace

constinit const ScheduleTraits vHalf {
    .kind = ScheduleKind::VHalf,
    .label = "V-Half",
    .text = "like zb-v with less memory and more waiting",
    .holds = "half the stages + 1",
    .layByTimes = layBlocks<halfBlock>,
    .inFlight = inFlightOfBlocks<halfBlock>,
    .placement = ChunkPlacement::V,
    .chunks = kTwoChunks,
    .splitsBackward = true,
};

constinit const ScheduleTraits vMin {
    .kind = ScheduleKind::VMin,
    .label = "V-Min",
    .text = "like v-half, more so",
    .holds = "a third of the stages + 1⅓",
    .layByTimes = layBlocks<minBlock>,
    .inFlight = inFlightOfBlocks<minBlock>,
    .placement = ChunkPlacement::V,
    .chunks = kTwoChunks,
    .splitsBackward = true,
};

} // namespace trainyard::schedules

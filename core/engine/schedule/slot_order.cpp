// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/schedule/slot_order.h"

#include "core/engine/schedule/generators.h"

#include <algorithm>
#include <tuple>

namespace trainyard::schedules {

namespace {

/// Micro-batches pass a virtual stage in their order, so that four counters say all about it.
struct SlotStage {
    int chunk = 0, position = 0, firstMicroBatch = 0, room = 0;
    bool isLast = false;
    int forwardsReady = 0, forwards = 0, backwardsReady = 0, backwards = 0;

    /// As many of the next forwards as share a slot, fewer only where the micro-batches end.
    [[nodiscard]] int nextForwards(int inSlot) const { return std::min(inSlot, forwardsReady - forwards); }
    [[nodiscard]] bool canForward(int inSlot) const
    {
        return forwards < forwardsReady && forwards - backwards + nextForwards(inSlot) <= room;
    }
    [[nodiscard]] bool canBackward() const { return backwards < backwardsReady; }
};

/// Older first, then further along.
bool isBefore(int age, const SlotStage &stage, int otherAge, const SlotStage &other)
{
    return std::tuple(age, -stage.position, stage.chunk) < std::tuple(otherAge, -other.position, other.chunk);
}

class Slots {
public:
    Slots(Program &program, const std::vector<SlotChain> &chains, int forwardsInSlot)
        : m_program(program)
        , m_stages(static_cast<std::size_t>(program.virtualStages()))
        , m_forwardsInSlot(forwardsInSlot)
    {
        for (const SlotChain &chain : chains) {
            const int length = static_cast<int>(chain.room.size());
            for (int i = 0; i < length; ++i) {
                SlotStage &stage = at(chain.firstStage + i);
                stage = { .chunk = program.chunkOf(chain.firstStage + i),
                    .position = i,
                    .firstMicroBatch = chain.firstMicroBatch,
                    .room = chain.room[static_cast<std::size_t>(i)],
                    .isLast = i + 1 == length };
            }
            at(chain.firstStage).forwardsReady = chain.microBatches;
            m_left += 2 * static_cast<std::int64_t>(length) * chain.microBatches;
        }
        m_program.order.resize(static_cast<std::size_t>(program.shape.devices));
    }

    void run()
    {
        struct Pick {
            int stage = -1;
            bool isBackward = false;
        };
        std::vector<Pick> picks(m_program.order.size());
        while (m_left > 0) {
            for (std::size_t d = 0; d < picks.size(); ++d) {
                const int backward = oldest(static_cast<int>(d), true);
                picks[d] = backward >= 0 ? Pick { backward, true } : Pick { oldest(static_cast<int>(d), false), false };
            }
            for (std::size_t d = 0; d < picks.size(); ++d)
                if (picks[d].stage >= 0) {
                    const int count = picks[d].isBackward ? 1 : at(picks[d].stage).nextForwards(m_forwardsInSlot);
                    for (int i = 0; i < count; ++i)
                        finish(m_program.order[d], picks[d].stage, picks[d].isBackward);
                }
        }
    }

private:
    SlotStage &at(int q) { return m_stages[static_cast<std::size_t>(q)]; }

    int oldest(int device, bool isBackward)
    {
        int found = -1;
        for (int c = 0; c < m_program.shape.chunks; ++c) {
            const int q = m_program.virtualStage(device, c);
            const SlotStage &stage = at(q);
            if (isBackward ? !stage.canBackward() : !stage.canForward(m_forwardsInSlot))
                continue;
            const auto age = [&](const SlotStage &of) { return isBackward ? of.backwards : of.forwards; };
            if (found < 0 || isBefore(age(stage), stage, age(at(found)), at(found)))
                found = q;
        }
        return found;
    }

    void finish(std::vector<Op> &order, int q, bool isBackward)
    {
        --m_left;
        SlotStage &stage = at(q);
        if (isBackward) {
            order.push_back(backward(stage.chunk, stage.firstMicroBatch + stage.backwards++));
            if (stage.position > 0)
                ++at(q - 1).backwardsReady;
            return;
        }
        order.push_back(forward(stage.chunk, stage.firstMicroBatch + stage.forwards++));
        if (stage.isLast)
            ++stage.backwardsReady;
        else
            ++at(q + 1).forwardsReady;
    }

    Program &m_program;
    std::vector<SlotStage> m_stages;
    std::int64_t m_left = 0;
    int m_forwardsInSlot;
};

/// Walks the orders: an operation starts when its device is free and what it needs has come.
class Walk {
public:
    Walk(const Program &program, const ScheduleTimes &times)
        : m_program(program)
        , m_times(times)
        , m_freeAt(program.order.size())
        , m_next(program.order.size())
    {
        const auto cells =
            static_cast<std::size_t>(program.virtualStages()) * static_cast<std::size_t>(program.shape.microBatches);
        for (auto &ends : m_ends)
            ends.assign(cells, kUnknown);
    }

    std::int64_t length()
    {
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t d = 0; d < m_next.size(); ++d)
                while (m_next[d] < m_program.order[d].size() && run(d, m_program.order[d][m_next[d]])) {
                    ++m_next[d];
                    moved = true;
                }
        }
        std::int64_t last = 0;
        for (std::size_t d = 0; d < m_freeAt.size(); ++d)
            last = std::max(last, m_freeAt[d] + (m_times.tails.empty() ? 0 : m_times.tails[d]));
        return last;
    }

private:
    static constexpr std::int64_t kUnknown = -1;

    std::int64_t &end(bool isBackward, int q, int k)
    {
        return m_ends[isBackward ? 1 : 0]
                     [static_cast<std::size_t>(q) * static_cast<std::size_t>(m_program.shape.microBatches)
                         + static_cast<std::size_t>(k)];
    }

    /// Arrival of what virtual stage `from` has made for its neighbour `to`; kUnknown where it has not.
    std::int64_t arrival(bool isBackward, int from, int to, int k)
    {
        const std::int64_t made = end(isBackward, from, k);
        const bool crosses = m_program.deviceOf(from) != m_program.deviceOf(to);
        return made == kUnknown || !crosses ? made
                                            : made + m_times.boundaries[static_cast<std::size_t>(std::min(from, to))];
    }

    bool run(std::size_t d, const Op &op)
    {
        const int q = m_program.virtualStage(static_cast<int>(d), op.chunk), k = op.microBatch;
        const bool isBackward = op.kind == OpKind::Backward;
        std::int64_t ready = 0;
        if (isBackward)
            ready = m_program.endsChain(q) ? end(false, q, k) : arrival(true, q + 1, q, k);
        else if (!m_program.beginsChain(q))
            ready = arrival(false, q - 1, q, k);
        if (ready == kUnknown)
            return false;
        const ScheduleTimes::Stage &times = m_times.stages[static_cast<std::size_t>(q)];
        m_freeAt[d] = std::max(m_freeAt[d], ready) + (isBackward ? times.inputGrad + times.weightGrad : times.forward);
        end(isBackward, q, k) = m_freeAt[d];
        return true;
    }

    const Program &m_program;
    const ScheduleTimes &m_times;
    std::vector<std::int64_t> m_ends[2]; // of forwards and backwards, [virtual stage * micro-batches + micro-batch]
    std::vector<std::int64_t> m_freeAt;
    std::vector<std::size_t> m_next;
};

} // namespace

void orderInSlots(Program &program, const std::vector<SlotChain> &chains, int forwardsInSlot)
{
    Slots(program, chains, forwardsInSlot).run();
}

std::int64_t lengthInOrder(const Program &program, const ScheduleTimes &times)
{
    return Walk(program, times).length();
}

} // namespace trainyard::schedules

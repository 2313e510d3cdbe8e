// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/slot_order.h"

#include "core/schedule/generators.h"

#include <tuple>

namespace trainyard::schedules {

namespace {

/// Micro-batches pass a virtual stage in their order, so that four counters say all about it.
struct Stage {
    int chunk = 0, position = 0, firstMicroBatch = 0, room = 0;
    bool isLast = false;
    int forwardsReady = 0, forwards = 0, backwardsReady = 0, backwards = 0;

    [[nodiscard]] bool canForward() const { return forwards < forwardsReady && forwards - backwards < room; }
    [[nodiscard]] bool canBackward() const { return backwards < backwardsReady; }
};

/// Older first, then further along.
bool isBefore(int age, const Stage &stage, int otherAge, const Stage &other)
{
    return std::tuple(age, -stage.position, stage.chunk) < std::tuple(otherAge, -other.position, other.chunk);
}

class Slots {
public:
    Slots(Program &program, const std::vector<SlotChain> &chains)
        : m_program(program), m_stages(static_cast<std::size_t>(program.virtualStages()))
    {
        for (const SlotChain &chain : chains) {
            const int length = static_cast<int>(chain.room.size());
            for (int i = 0; i < length; ++i) {
                Stage &stage = at(chain.firstStage + i);
                stage = {.chunk = program.chunkOf(chain.firstStage + i), .position = i, .firstMicroBatch = chain.firstMicroBatch,
                         .room = chain.room[static_cast<std::size_t>(i)], .isLast = i + 1 == length};
            }
            at(chain.firstStage).forwardsReady = chain.microBatches;
            m_left += 2 * static_cast<std::int64_t>(length) * chain.microBatches;
        }
        m_program.order.resize(static_cast<std::size_t>(program.shape.devices));
    }

    void run()
    {
        struct Pick { int stage = -1; bool isBackward = false; };
        std::vector<Pick> picks(m_program.order.size());
        while (m_left > 0) {
            for (std::size_t d = 0; d < picks.size(); ++d) {
                const int backward = oldest(static_cast<int>(d), true);
                picks[d] = backward >= 0 ? Pick{backward, true} : Pick{oldest(static_cast<int>(d), false), false};
            }
            for (std::size_t d = 0; d < picks.size(); ++d)
                if (picks[d].stage >= 0)
                    finish(m_program.order[d], picks[d].stage, picks[d].isBackward);
        }
    }

private:
    Stage &at(int q) { return m_stages[static_cast<std::size_t>(q)]; }

    int oldest(int device, bool isBackward)
    {
        int found = -1;
        for (int c = 0; c < m_program.shape.chunks; ++c) {
            const int q = m_program.virtualStage(device, c);
            const Stage &stage = at(q);
            if (isBackward ? !stage.canBackward() : !stage.canForward())
                continue;
            const auto age = [&](const Stage &of) { return isBackward ? of.backwards : of.forwards; };
            if (found < 0 || isBefore(age(stage), stage, age(at(found)), at(found)))
                found = q;
        }
        return found;
    }

    void finish(std::vector<Op> &order, int q, bool isBackward)
    {
        --m_left;
        Stage &stage = at(q);
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
    std::vector<Stage> m_stages;
    std::int64_t m_left = 0;
};

} // namespace

void orderInSlots(Program &program, const std::vector<SlotChain> &chains)
{
    Slots(program, chains).run();
}

} // namespace trainyard::schedules
